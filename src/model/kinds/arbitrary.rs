//! Valid authored specs of every kind, for property tests, and what resolving makes of them.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::model::{Digest, Kind};

/// A valid manifest.
#[derive(Debug, Clone)]
pub(crate) struct Authored {
    /// `metadata.name`.
    pub(crate) name: String,
    /// `spec`, as written.
    pub(crate) spec: Value,
    /// `metadata.labels`.
    pub(crate) labels: BTreeMap<String, String>,
}

type Json = BoxedStrategy<Value>;

fn constant(value: Value) -> Json {
    Just(value).boxed()
}

fn words(words: &'static [&'static str]) -> Json {
    select(words).prop_map(Value::from).boxed()
}

/// Texts with all that normalization touches, and more than ASCII.
fn text() -> Json {
    "\u{feff}{0,2}[a-z é世\\r\\n\\t'\":#{}]{0,24}".prop_map(Value::from).boxed()
}

fn line() -> Json {
    "[A-Za-zé世 ]{1,12}".prop_map(Value::from).boxed()
}

fn flag() -> Json {
    any::<bool>().prop_map(Value::from).boxed()
}

fn number() -> Json {
    (1_u64..2000).prop_map(Value::from).boxed()
}

fn digest() -> Json {
    (0_u8..4).prop_map(|n| json!(Digest::of(&[n]))).boxed()
}

fn list(item: Json, most: usize) -> Json {
    vec(item, 0..=most).prop_map(Value::Array).boxed()
}

/// An object; a `?` after a key makes it optional.
fn object(fields: Vec<(&'static str, Json)>) -> Json {
    let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = fields
        .into_iter()
        .map(|(key, value)| match key.strip_suffix('?') {
            Some(key) => prop::option::of(value).prop_map(move |v| v.map(|v| (key.to_owned(), v))).boxed(),
            None => value.prop_map(move |v| Some((key.to_owned(), v))).boxed(),
        })
        .collect();
    fields.prop_map(|pairs| Value::Object(pairs.into_iter().flatten().collect())).boxed()
}

fn reference(kind: Kind) -> Json {
    prop_oneof![
        select(&["alpha", "beta-2", "gamma"][..]).prop_map(Value::from),
        select(&["tone", "law"][..]).prop_map(move |n| json!(format!("acme/legal:{kind}/{n}"))),
        select(&["live_1", "live_2"][..]).prop_map(|id| json!({ "id": id })),
    ]
    .boxed()
}

fn domains() -> Json {
    vec(select(&["a.example", "b.example", "c.example"][..]), 1..3)
        .prop_map(|mut d| {
            d.sort_unstable_by(|a, b| b.cmp(a));
            d.dedup();
            json!(d)
        })
        .boxed()
}

/// Drops later items with a key that an earlier one has.
fn distinct(list: Json, key: fn(&Value) -> Value) -> Json {
    list.prop_map(move |v| {
        let mut seen = Vec::new();
        let items = v.as_array().cloned().unwrap_or_default();
        let kept = items.into_iter().filter(|i| {
            let k = key(i);
            let new = !seen.contains(&k);
            seen.push(k);
            new
        });
        Value::Array(kept.collect())
    })
    .boxed()
}

fn policy() -> Json {
    object(vec![("type", words(&["always_allow", "always_ask", "auto"]))])
}

fn defaults() -> Json {
    object(vec![("enabled?", flag()), ("permission_policy?", policy())])
}

fn built_in() -> Json {
    let plain = object(vec![
        ("name", words(&["bash", "read", "grep"])),
        ("enabled?", flag()),
        ("permission_policy?", policy()),
    ]);
    let fetch = object(vec![
        ("name", constant(json!("web_fetch"))),
        ("type?", constant(json!("web_fetch"))),
        ("enabled?", flag()),
        ("allowed_domains?", domains()),
        ("max_content_tokens?", number()),
        ("url_sources?", constant(json!({ "any": true }))),
    ]);
    let search = object(vec![
        ("name", constant(json!("web_search"))),
        ("permission_policy?", policy()),
        ("blocked_domains?", domains()),
        ("user_location?", constant(json!({ "country": "FR" }))),
    ]);
    prop_oneof![plain, fetch, search].boxed()
}

fn tools() -> Json {
    let name = |v: &Value| v["name"].clone();
    let toolset = object(vec![
        ("type", constant(json!("agent_toolset_20260401"))),
        ("default_config?", defaults()),
        ("configs?", distinct(list(built_in(), 4), name)),
    ]);
    let config =
        object(vec![("name", words(&["find", "get"])), ("enabled?", flag()), ("permission_policy?", policy())]);
    let mcp = object(vec![
        ("type", constant(json!("mcp_toolset"))),
        ("mcp_server_name", words(&["crm", "wiki"])),
        ("default_config?", defaults()),
        ("configs?", distinct(list(config, 3), name)),
    ]);
    let custom = object(vec![
        ("type", constant(json!("custom"))),
        ("name", words(&["look_up", "send-mail"])),
        ("description", line()),
        ("input_schema", constant(json!({ "type": "object", "properties": { "q": { "type": "string" } } }))),
    ]);
    distinct(list(prop_oneof![toolset, mcp, custom].boxed(), 5), |t| {
        if t["type"] == "agent_toolset_20260401" { t["type"].clone() } else { json!([t["name"], t["mcp_server_name"]]) }
    })
}

fn model() -> Json {
    let id = words(&["claude-sonnet-5", "claude-opus-5"]);
    let effort =
        prop_oneof![words(&["low", "high", "max"]), words(&["low", "xhigh"]).prop_map(|w| json!({ "type": w })),];
    prop_oneof![
        id.clone(),
        object(vec![
            ("id", id),
            ("effort?", effort.boxed()),
            ("speed?", words(&["standard", "fast"])),
            ("inference_geo?", words(&["eu", "us"])),
        ]),
    ]
    .boxed()
}

fn skills() -> Json {
    let skill = || reference(Kind::Skill);
    let entry = prop_oneof![
        words(&["alpha", "beta-2", "acme/legal:Skill/tone"]),
        object(vec![("skill", skill())]),
        object(vec![("skill", skill()), ("follow", constant(json!("latest")))]),
        object(vec![("skill", skill()), ("pin", digest())]),
        object(vec![("skill", skill()), ("version", number())]),
        object(vec![("anthropic", words(&["xlsx", "pdf"])), ("version?", words(&["20260101"]))]),
    ];
    distinct(list(entry.boxed(), 5), |e| e.get("skill").or(e.get("anthropic")).unwrap_or(e).clone())
}

fn roster(most: usize) -> Json {
    let entry = prop_oneof![
        reference(Kind::Agent),
        object(vec![("agent", reference(Kind::Agent)), ("version?", number())]),
        constant(json!({ "type": "self" })),
        object(vec![("type", constant(json!("advisor"))), ("model", model())]),
    ];
    let some = vec(entry, 1..=most).prop_map(Value::Array).boxed();
    distinct(some, |e| e.get("agent").or(e.get("type")).unwrap_or(e).clone())
}

fn multiagent() -> Json {
    let switch = || object(vec![("type", words(&["enabled", "disabled"]))]);
    let part = || {
        prop_oneof![
            constant(json!({ "type": "disabled" })),
            object(vec![
                ("type", constant(json!("enabled"))),
                ("predefined_agents?", roster(3)),
                ("inline_agents?", switch()),
            ]),
        ]
        .boxed()
    };
    let advisor = prop_oneof![
        constant(json!({ "type": "disabled" })),
        object(vec![("type", constant(json!("enabled"))), ("model", model())]),
    ];
    prop_oneof![
        object(vec![("type", constant(json!("coordinator"))), ("agents", roster(4))]),
        object(vec![
            ("type", constant(json!("multiagent_20261001"))),
            ("advisor?", advisor.boxed()),
            ("subagents?", part()),
            ("workflows?", part()),
        ]),
    ]
    .boxed()
}

fn selection(number_key: &'static str) -> Json {
    prop_oneof![
        constant(json!("latest")),
        object(vec![("ref", words(&["canonical", "main"]))]),
        object(vec![("content", digest())]),
        object(vec![(number_key, number())]),
    ]
    .boxed()
}

/// Every MCP server that a toolset names, and no other.
fn with_servers(mut spec: Value) -> Value {
    let names: Vec<Value> =
        spec["tools"].as_array().into_iter().flatten().map(|t| t["mcp_server_name"].clone()).collect();
    let servers: Vec<Value> = names
        .into_iter()
        .filter(Value::is_string)
        .map(|n| json!({ "type": "url", "name": n, "url": "https://mcp.example/x" }))
        .collect();
    if !servers.is_empty() {
        spec["mcp_servers"] = Value::Array(servers);
    }
    spec
}

fn agent() -> Json {
    let file = constant(json!({ "file": "prompts/a.md" }));
    let instructions = prop_oneof![text(), file.clone(), list(prop_oneof![text(), file].boxed(), 3)];
    let identity = prop_oneof![
        constant(json!({ "type": "service_account" })),
        constant(json!({ "type": "aws_role", "role_arn": "arn:aws:iam::1:role/x" })),
    ];
    let memory = object(vec![
        ("store", reference(Kind::MemoryStore)),
        ("at", constant(json!("/mnt/memory/a"))),
        ("access?", words(&["read_only", "read_write"])),
        ("selection?", selection("version")),
        ("instructions?", text()),
    ]);
    let files = object(vec![
        ("tree", reference(Kind::FileTree)),
        ("at", constant(json!("/workspace/a"))),
        ("selection?", selection("revision")),
    ]);
    object(vec![
        ("name?", line()),
        ("model", model()),
        ("description?", text()),
        ("preamble?", constant(json!(["shared/safety.md"]))),
        ("instructions?", instructions.boxed()),
        ("tools?", tools()),
        ("skills?", skills()),
        ("multiagent?", multiagent()),
        ("execution_identity?", identity.boxed()),
        ("compaction_policy?", constant(json!({ "type": "auto", "at": 0.8, "keep": null }))),
        ("memory?", list(memory, 1)),
        ("files?", list(files, 1)),
    ])
    .prop_map(with_servers)
    .boxed()
}

fn environment() -> Json {
    let networking = prop_oneof![
        constant(json!({ "type": "unrestricted" })),
        object(vec![
            ("type", constant(json!("limited"))),
            ("allowed_hosts?", domains()),
            ("allow_mcp_servers?", flag()),
            ("allow_package_managers", constant(json!(true))),
        ]),
        object(vec![("type", constant(json!("limited"))), ("allow_package_managers", constant(json!(true)))]),
    ];
    let packages = object(vec![
        ("type?", constant(json!("packages"))),
        ("pip?", constant(json!(["ruff==0.8.0", "black"]))),
        ("apt?", constant(json!(["jq"]))),
        ("npm?", constant(json!([]))),
    ]);
    let config = prop_oneof![
        object(vec![("type", constant(json!("cloud"))), ("networking?", networking.boxed()), ("packages?", packages),]),
        constant(json!({ "type": "self_hosted" })),
    ];
    object(vec![
        ("name?", line()),
        ("description?", text()),
        ("config?", config.boxed()),
        ("scope?", words(&["organization", "account"])),
    ])
}

fn file_tree() -> Json {
    let globs = || constant(json!(["**/*.md"]));
    let upload = object(vec![
        ("name?", line()),
        (
            "source",
            object(vec![
                ("kind", constant(json!("upload"))),
                ("path", constant(json!("docs"))),
                ("include?", globs()),
                ("exclude?", globs()),
                ("symlinks?", words(&["refuse", "keep"])),
            ]),
        ),
    ]);
    let git = object(vec![
        ("name?", line()),
        (
            "source",
            object(vec![
                ("kind", constant(json!("git"))),
                ("provider?", words(&["github"])),
                ("repository", words(&["acme/site", "acme/docs.v2"])),
                ("ref", words(&["main", "refs/tags/v1"])),
                ("connection", constant(json!({ "id": "conn_1" }))),
                ("refresh?", words(&["manual"])),
            ]),
        ),
        ("acted_as", constant(json!("prin_1"))),
    ]);
    prop_oneof![upload, git].boxed()
}

fn memory_store() -> Json {
    let owner = prop_oneof![
        constant(json!("workspace")),
        object(vec![("agent", reference(Kind::Agent))]),
        constant(json!({ "principal": "prin_1" })),
        constant(json!({ "collaboration_space": "space_1" })),
    ];
    let entry = prop_oneof![
        object(vec![
            ("at", words(&["/b", "/a", "/c/d"])),
            ("path", constant(json!("memory"))),
            ("mode?", words(&["enforce", "upkeep", "seed"])),
        ]),
        object(vec![("at", words(&["/a", "/e"])), ("mode", constant(json!("observe")))]),
    ];
    object(vec![
        ("name?", line()),
        ("description?", text()),
        ("owner?", owner.boxed()),
        ("contents?", distinct(list(entry.boxed(), 4), |e| e["at"].clone())),
    ])
}

fn mount(target: (&'static str, Kind), number_key: &'static str, extra: (&'static str, Json)) -> Json {
    object(vec![
        ("agent", reference(Kind::Agent)),
        (target.0, reference(target.1)),
        ("access", words(&["read_only", "read_write"])),
        ("selection?", selection(number_key)),
        ("mount_path", words(&["/mnt/a", "/mnt/b/c"])),
        extra,
    ])
}

/// A writeback stays only where it may be.
fn fitting(mut spec: Value) -> Value {
    if spec["access"] == "read_only"
        && let Some(map) = spec.as_object_mut()
    {
        map.remove("writeback");
    }
    spec
}

fn spec(kind: Kind) -> Json {
    match kind {
        Kind::Agent => agent(),
        Kind::Environment => environment(),
        Kind::FileTree => file_tree(),
        Kind::FileTreeMount => {
            let writeback = object(vec![
                ("kind", constant(json!("pull_request"))),
                ("pull_request_title?", line()),
                ("pull_request_body?", "[a-z]\r\n[a-z]".prop_map(Value::from).boxed()),
            ]);
            mount(("file_tree", Kind::FileTree), "revision", ("writeback?", writeback)).prop_map(fitting).boxed()
        }
        Kind::MemoryMount => mount(("memory_store", Kind::MemoryStore), "version", ("instructions?", text())),
        Kind::MemoryStore => memory_store(),
        Kind::Skill => object(vec![
            ("source", constant(json!({ "path": "skills/a" }))),
            ("display_name?", prop_oneof![line(), constant(json!("alpha"))].boxed()),
        ]),
    }
}

/// Valid manifests of a kind.
pub(crate) fn authored(kind: Kind) -> BoxedStrategy<Authored> {
    let name = select(&["alpha", "beta-2", "x"][..]).prop_map(str::to_owned);
    let labels = btree_map("[a-z./]{1,6}", "[a-z é\\r\\n]{0,6}", 0..4);
    (name, spec(kind), labels).prop_map(|(name, spec, labels)| Authored { name, spec, labels }).boxed()
}

/// What resolving makes of an authored spec: prompts as one text, mounts gone, contents by digest, numbers of
/// skills turned into content.
pub(crate) fn resolved(kind: Kind, spec: &Value) -> Value {
    let content = json!(Digest::of(b"files"));
    let mut out: Map<String, Value> = spec.as_object().cloned().unwrap_or_default();
    match kind {
        Kind::Agent => {
            for key in ["memory", "files", "preamble"] {
                out.remove(key);
            }
            if out.get("instructions").is_some_and(|i| !i.is_string()) {
                out.insert("instructions".to_owned(), json!("joined\r\n\r\ntext"));
            }
            for entry in out.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
                if entry.is_string() {
                    *entry = json!({ "skill": entry, "content": content });
                } else if entry.get("skill").is_some() && entry.get("version").is_some() {
                    *entry = json!({ "skill": entry["skill"], "content": content });
                }
            }
        }
        Kind::FileTree if spec["source"]["kind"] == "upload" => {
            out.insert("content".to_owned(), content);
        }
        Kind::Skill => {
            out.insert("content".to_owned(), content);
        }
        Kind::MemoryStore => {
            if let Some(Value::Array(list)) = out.remove("contents") {
                let files = list.iter().filter(|e| e.get("path").is_some());
                let files = files.map(|e| (format!("{}/x.md", e["at"].as_str().unwrap_or_default()), content.clone()));
                out.insert("contents".to_owned(), Value::Object(files.collect()));
                out.insert("modes".to_owned(), Value::Array(list));
            }
        }
        _ => {}
    }
    Value::Object(out)
}

//! Phantom diffs: what means the same plans to nothing, whoever wrote it and however it is written. The cases of a kind
//! are found by the table of kinds, so a new kind, field or default without a case fails here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::Kind;
use checkfu::model::kinds::{Change, Default_, KINDS, KindDef, List};
use checkfu::model::op::{BlobPut, ContentOf, Context, Create, MemoryCreate, Request, Response};
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Address, Digest};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, config, skill};

/// Texts that a careless comparison takes for one another, or changes.
const TEXTS: [&str; 12] = [
    "a",
    "a\n",
    "a\n\n",
    "\n a\n",
    "a\nb",
    "a\r\nb\r\n",
    "a\rb",
    "\u{feff}a\n",
    // The same letter, composed and not.
    "\u{e9}",
    "e\u{301}",
    "a\u{2028}b",
    "1e3",
];

/// A way to write a resource, and another one that means the same.
#[derive(Clone)]
struct Case {
    what: String,
    one: Value,
    other: Value,
    labels: BTreeMap<String, String>,
}

fn case(what: impl Into<String>, one: Value, other: Value) -> Case {
    Case { what: what.into(), one, other, labels: BTreeMap::new() }
}

/// The fewest fields that a resource has. `N` becomes the number of the case.
fn least(kind: Kind) -> Value {
    match kind {
        Kind::Agent => json!({"model": "claude-sonnet-5"}),
        Kind::Environment | Kind::MemoryStore => json!({}),
        Kind::FileTree => json!({"source": {"kind": "upload", "path": "files/plain"}}),
        Kind::FileTreeMount => json!({"agent": "host-N", "file_tree": "kit", "mount_path": "/files"}),
        Kind::MemoryMount => json!({"agent": "host-N", "memory_store": "notes", "mount_path": "/memory"}),
        Kind::Skill => json!({"source": {"path": "skills/NAME"}}),
    }
}

/// The one file of `files/plain`.
fn plain() -> Entry {
    Entry { path: "a.txt".to_owned(), executable: false, symlink: false, size: 2, sha256: Digest::of(b"a\n") }
}

/// The most fields that it has.
fn most(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Agent => vec![json!({
            "name": "Billing Bot NAME",
            "model": {"id": "claude-sonnet-5", "effort": "high", "speed": "fast", "inference_geo": "eu"},
            "description": "Bills.\nAnd more.",
            "instructions": "Be kind.\n\nAlways.\n",
            "tools": [
                {"type": "agent_toolset_20260401", "default_config": {"enabled": true},
                 "configs": [{"name": "bash", "enabled": false}, {"name": "web_fetch", "allowed_domains": ["b.example", "a.example"], "max_content_tokens": 1000}]},
                {"type": "mcp_toolset", "mcp_server_name": "crm", "configs": [{"name": "find", "enabled": false}, {"name": "buy", "permission_policy": {"type": "always_allow"}}]},
                {"type": "mcp_toolset", "mcp_server_name": "wiki"},
                {"type": "custom", "name": "look_up", "description": "Looks up.",
                 "input_schema": {"type": "object", "properties": {"n": {"type": "number", "minimum": 1, "maximum": 1000, "multipleOf": 0.5}}}},
            ],
            "mcp_servers": [{"name": "wiki", "url": "https://wiki.example.com/mcp"}, {"name": "crm", "url": "https://crm.example.com/mcp"}],
            "skills": ["tone", {"skill": "law", "follow": "latest"}, {"anthropic": "xlsx"}],
            "multiagent": {"type": "coordinator", "agents": ["host-N", {"type": "self"}]},
            "execution_identity": {"type": "service_account"},
            "compaction_policy": {"type": "summary", "at": 1.0},
        })],
        Kind::Environment => vec![json!({
            "name": "Box NAME",
            "description": "For work.",
            "config": {"type": "cloud",
                "networking": {"type": "limited", "allowed_hosts": ["b.example", "a.example"], "allow_package_managers": true},
                "packages": {"pip": ["z", "a"], "npm": ["y", "b"]}},
            "scope": "organization",
        })],
        Kind::FileTree => vec![json!({"name": "Kit NAME", "source": {"kind": "upload", "path": "files/all"}})],
        Kind::FileTreeMount => vec![json!({
            "agent": "host-N", "file_tree": "kit", "access": "read_write", "selection": {"content": FileSet::new(vec![plain()]).digest}, "mount_path": "/site",
        })],
        Kind::MemoryMount => vec![json!({
            "agent": "host-N", "memory_store": "mine", "access": "read_write", "mount_path": "/memory",
            "instructions": "Look first.\n",
        })],
        Kind::MemoryStore => vec![json!({
            "name": "Notes NAME", "description": "What was learned.\n", "owner": {"principal": "principal_1"},
            "contents": [{"path": "memory/b", "at": "/b", "mode": "enforce"}, {"path": "memory/a", "at": "/a"}, {"at": "/learned", "mode": "observe"}],
        })],
        Kind::Skill => vec![json!({"source": {"path": "skills/NAME"}, "display_name": "Tone of voice"})],
    }
}

/// Where a kind has a text, as a spec with that text.
fn texts(kind: Kind, text: &str) -> Vec<Value> {
    let with = |key: &str| {
        let mut spec = least(kind);
        spec[key] = json!(text);
        spec
    };
    match kind {
        Kind::Agent => vec![with("instructions"), with("description")],
        Kind::Environment | Kind::MemoryStore => vec![with("description")],
        Kind::MemoryMount => vec![with("instructions")],
        // Their texts are files, or mean nothing to anybody but another service.
        Kind::FileTree | Kind::Skill | Kind::FileTreeMount => Vec::new(),
    }
}

/// `spec` with other fields.
fn with_fields(kind: Kind, more: &Value) -> Value {
    let mut spec = least(kind);
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

/// Those of an agent.
fn pairs_of_agents() -> Vec<(&'static str, Value, Value)> {
    let plain = least(Kind::Agent);
    let with = |more: Value| with_fields(Kind::Agent, &more);
    let tools = |tool: Value| with(json!({"tools": [tool]}));
    let custom = |n: Value| {
        tools(
            json!({"type": "custom", "name": "t", "description": "d", "input_schema": {"type": "object", "properties": {"n": n}}}),
        )
    };
    let set = |configs: Value| tools(json!({"type": "agent_toolset_20260401", "configs": configs}));
    vec![
        ("a model by its id", plain.clone(), with(json!({"model": {"id": "claude-sonnet-5"}}))),
        (
            "the speed that is the default",
            plain,
            with(json!({"model": {"id": "claude-sonnet-5", "speed": "standard"}})),
        ),
        ("no config of a toolset", tools(json!({"type": "agent_toolset_20260401"})), set(json!([]))),
        (
            "a tool as it is anyway",
            tools(json!({"type": "agent_toolset_20260401"})),
            set(json!([{"name": "bash", "enabled": true}])),
        ),
        (
            "the order of configs",
            set(json!([{"name": "bash", "enabled": false}, {"name": "read", "enabled": false}])),
            set(json!([{"name": "read", "enabled": false}, {"name": "bash", "enabled": false}])),
        ),
        (
            "the order of domains",
            set(json!([{"name": "web_fetch", "allowed_domains": ["a.example", "b.example"]}])),
            set(json!([{"name": "web_fetch", "allowed_domains": ["b.example", "a.example"]}])),
        ),
        (
            "forms of a number",
            custom(json!({"minimum": 1, "maximum": 1000, "multipleOf": 0.5})),
            custom(json!({"minimum": 1.0, "maximum": 1e3, "multipleOf": 5e-1})),
        ),
        (
            "the order of keys",
            custom(json!({"a": 1, "b": {"c": [], "d": null}})),
            custom(json!({"b": {"d": null, "c": []}, "a": 1})),
        ),
    ]
}

/// Other pairs that mean the same: defaults deeper than a field, lists in lists, numbers.
fn pairs(kind: Kind) -> Vec<(&'static str, Value, Value)> {
    let plain = least(kind);
    let with = |more: Value| with_fields(kind, &more);
    match kind {
        Kind::Agent => pairs_of_agents(),
        Kind::Environment => {
            let limited = |more: Value| {
                let mut net = json!({"type": "limited", "allowed_hosts": ["a.example", "b.example"]});
                net.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                with(json!({"config": {"type": "cloud", "networking": net}}))
            };
            vec![
                (
                    "networking that is the default",
                    plain.clone(),
                    with(json!({"config": {"type": "cloud", "networking": {"type": "unrestricted"}}})),
                ),
                (
                    "no package",
                    plain,
                    with(json!({"config": {"type": "cloud", "packages": {"type": "packages", "pip": []}}})),
                ),
                (
                    "the order of hosts",
                    limited(json!({})),
                    limited(json!({"allowed_hosts": ["b.example", "a.example"]})),
                ),
                (
                    "what is false anyway",
                    limited(json!({})),
                    limited(json!({"allow_mcp_servers": false, "allow_package_managers": false})),
                ),
            ]
        }
        Kind::FileTree => {
            let upload = |more: Value| {
                let mut source = json!({"kind": "upload", "path": "files/plain"});
                source.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                json!({"source": source})
            };
            vec![(
                "no globs, no links",
                upload(json!({})),
                upload(json!({"include": [], "exclude": [], "symlinks": "refuse"})),
            )]
        }
        Kind::MemoryStore => {
            let one = |more: Value| {
                let mut entry = json!({"path": "memory/a", "at": "/a"});
                entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                with(json!({"contents": [entry]}))
            };
            vec![
                ("the mode that is the default", one(json!({})), one(json!({"mode": "upkeep"}))),
                ("no contents", plain, with(json!({"contents": []}))),
            ]
        }
        Kind::FileTreeMount | Kind::MemoryMount | Kind::Skill => Vec::new(),
    }
}

/// All cases of a kind.
fn cases(def: &KindDef) -> Vec<Case> {
    let kind = def.kind;
    let plain = least(kind);
    let mut out = vec![case("least", plain.clone(), plain.clone())];
    for (i, full) in most(kind).into_iter().enumerate() {
        // A list that is a set has no order.
        let mut turned = full.clone();
        for field in def.fields.iter().filter(|f| matches!(f.list, List::SetBy(_))) {
            let key = if field.name == "modes" { "contents" } else { field.name };
            let list =
                turned[key].as_array_mut().unwrap_or_else(|| panic!("{kind}: no case has a list {}", field.name));
            assert!(list.len() > 1, "{kind}: {}", field.name);
            list.reverse();
        }
        let labels = [("team", "a"), ("empty", ""), ("composed", "\u{e9}"), ("not", "e\u{301}")];
        let labels = labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        out.push(Case { labels, ..case(format!("most {i}"), full, turned) });
    }
    for field in def.fields {
        if let Default_::Json(text) = field.default {
            let mut said = plain.clone();
            said[field.name] = serde_json::from_str(text).unwrap();
            out.push(case(format!("{} absent and as its default", field.name), plain.clone(), said.clone()));
            out.push(case(format!("{} as its default and absent", field.name), said, plain.clone()));
        }
    }
    out.extend(pairs(kind).into_iter().map(|(what, one, other)| case(what, one, other)));
    for text in TEXTS {
        out.extend(texts(kind, text).into_iter().map(|spec| case(format!("{text:?}"), spec.clone(), spec)));
    }
    out
}

/// A resource with its name, of one of the ways to write it.
fn document(kind: Kind, name: &str, i: usize, spec: &Value, labels: &BTreeMap<String, String>) -> String {
    let text = json!({"apiVersion": "checkfu.com/v1", "kind": kind, "metadata": {"name": name, "labels": labels}, "spec": spec});
    format!("{}\n---\n", text.to_string().replace("NAME", name).replace("host-N", &format!("host-{i}")))
}

/// A project with what the cases refer to, and files whose bytes are to stay as they are.
fn project() -> Sandbox {
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/phantom")),
        (".gitattributes", "* -text\n"),
        ("skills/tone/SKILL.md", &skill("tone", "Be kind.")),
        ("skills/law/SKILL.md", &skill("law", "Be just.")),
        ("files/plain/a.txt", "a\n"),
        ("memory/b/b.md", "b"),
    ]);
    for (i, text) in TEXTS.iter().enumerate() {
        s.write(&format!("files/all/{i}.txt"), text);
        s.write(&format!("memory/a/{i}.md"), text);
    }
    s
}

/// What the cases refer to.
fn beside(hosts: usize) -> String {
    let labels = BTreeMap::new();
    let mut out = String::new();
    out += &document(Kind::FileTree, "kit", 0, &least(Kind::FileTree), &labels);
    out += &document(Kind::MemoryStore, "notes", 0, &json!({}), &labels);
    out += &document(Kind::MemoryStore, "mine", 0, &json!({"owner": {"principal": "principal_1"}}), &labels);
    (0..hosts).for_each(|i| out += &document(Kind::Agent, &format!("host-{i}"), i, &least(Kind::Agent), &labels));
    out
}

fn name(kind: Kind, i: usize) -> String {
    format!("{}-{i}", kind.as_str().to_lowercase())
}

/// Writes every case, one way or the other, and says which is which.
fn write(s: &Sandbox, way: fn(&Case) -> &Value) -> BTreeMap<String, String> {
    let (mut text, mut what, mut hosts) = (String::new(), BTreeMap::new(), 0);
    for def in KINDS {
        for (i, case) in cases(def).iter().enumerate() {
            let name = name(def.kind, i);
            text += &document(def.kind, &name, i, way(case), &case.labels);
            what.insert(format!("{}/{name}", def.kind), case.what.clone());
            hosts = hosts.max(i + 1);
            if def.kind == Kind::Skill {
                s.write(&format!("skills/{name}/SKILL.md"), &skill(&name, TEXTS[i % TEXTS.len()]));
                TEXTS.iter().enumerate().for_each(|(n, t)| s.write(&format!("skills/{name}/{n}.txt"), t));
            }
        }
    }
    s.write("all.yaml", &(beside(hosts) + &text));
    what
}

/// There is nothing to do, nothing is held, and nobody moved anything.
#[track_caller]
fn is_empty(s: &Sandbox, what: &BTreeMap<String, String>) {
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]);
    let json = plan.json();
    let mut told = String::new();
    for action in json["actions"].as_array().unwrap() {
        let case = what.get(action["address"].as_str().unwrap_or_default());
        let _ = writeln!(told, "{} ({case:?}): {}", action["id"], action["about"]["changes"]);
    }
    assert_eq!((told.as_str(), plan.code), ("", 0), "{json:#}");
    assert_eq!(json["held"], json!([]));
    s.run(&["drift"]).code(0);
}

#[test]
fn every_kind_and_field_has_a_case() {
    for def in KINDS {
        let most = most(def.kind);
        for field in def.fields {
            // Names of skills are those of their folders, content is files, and labels are in no spec.
            let elsewhere = matches!(field.change, Change::Publish) || matches!(field.name, "labels" | "modes");
            let is_name = def.kind == Kind::Skill && field.name == "name";
            let said =
                matches!(field.default, Default_::Json(_)) || most.iter().any(|spec| spec.get(field.name).is_some());
            // No workspace of ours takes trees from Git yet.
            let of_git = matches!(field.name, "acted_as" | "writeback");
            assert!(said || elsewhere || is_name || of_git, "{}: no case with {}", def.kind, field.name);
        }
    }
}

#[test]
fn what_means_the_same_plans_to_nothing() {
    let s = project();
    let what = write(&s, |case| &case.one);
    s.run(&["apply", "--yes"]).code(0);
    is_empty(&s, &what);
    write(&s, |case| &case.other);
    is_empty(&s, &what);
    // What is composed otherwise is another text: it is sent, and kept as it is.
    write(&s, |case| &case.one);
    let all = s.read("all.yaml");
    s.write(
        "all.yaml",
        &all.replace("\"\u{e9}\"", "\"\u{e8}\"")
            .replace("\"e\u{301}\"", "\"\u{e9}\"")
            .replace("\"\u{e8}\"", "\"e\u{301}\""),
    );
    s.write("files/all/8.txt", TEXTS[9]);
    s.write("files/all/9.txt", TEXTS[8]);
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]).code(2).json();
    let moved: Vec<&str> = plan["actions"].as_array().unwrap().iter().filter_map(|a| a["address"].as_str()).collect();
    for kind in ["Agent/", "Environment/", "FileTree/", "MemoryMount/", "MemoryStore/", "Skill/"] {
        assert!(moved.iter().any(|a| a.starts_with(kind)), "{kind} {moved:?}");
    }
    s.run(&["apply", "--yes"]).code(0);
    is_empty(&s, &what);
    let first = s.files();
    s.run(&["pull"]).code(0);
    let unlike =
        |f: &Vec<(String, Vec<u8>)>| f.iter().filter(|(p, _)| !p.starts_with(".checkfu")).cloned().collect::<Vec<_>>();
    assert_eq!(unlike(&s.files()), unlike(&first), "the files say what is live, byte for byte");
}

/// Bodies of a client that says much or little, and how a file says the same. `ids` are those of what is referred to.
fn raw(kind: Kind, ids: &BTreeMap<&str, String>) -> Vec<(Value, Value)> {
    let of = |name: &str| json!(ids[name]);
    match kind {
        Kind::Agent => {
            let schema = |n: Value| json!({"type": "object", "properties": {"n": {"type": "number", "minimum": n}}});
            let custom =
                |n: Value| json!([{"type": "custom", "name": "t", "description": "d", "input_schema": schema(n)}]);
            vec![
                (json!({"name": "NAME", "model": "claude-sonnet-5"}), least(kind)),
                (
                    json!({"name": "NAME", "model": {"id": "claude-sonnet-5", "speed": "standard"}, "description": null, "system": "a\r\ne\u{301}\r\n",
                        "tools": custom(json!(1.0)), "skills": [], "mcp_servers": [], "multiagent": null, "metadata": {}}),
                    json!({"model": "claude-sonnet-5", "instructions": "a\ne\u{301}\n", "tools": custom(json!(1))}),
                ),
                (
                    json!({"name": "NAME", "model": "claude-sonnet-5", "system": "\u{feff}a", "tools": [{"type": "agent_toolset_20260401",
                        "default_config": {"enabled": true, "permission_policy": {"type": "always_allow"}}, "configs": [
                            {"name": "read", "enabled": false}, {"name": "bash", "enabled": false, "permission_policy": {"type": "always_allow"}}]}]}),
                    json!({"model": "claude-sonnet-5", "instructions": "a", "tools": [{"type": "agent_toolset_20260401", "configs": [
                        {"name": "bash", "enabled": false}, {"name": "read", "enabled": false}]}]}),
                ),
            ]
        }
        Kind::Environment => vec![
            (json!({"name": "NAME"}), least(kind)),
            (
                json!({"name": "NAME", "description": "e\u{301}\n", "metadata": {}, "config": {"type": "cloud", "networking": {"type": "unrestricted"},
                "packages": {"type": "packages", "apt": [], "cargo": [], "gem": [], "go": [], "npm": [], "pip": ["b", "a"]}}}),
                json!({"description": "e\u{301}\n", "config": {"type": "cloud", "packages": {"pip": ["a", "b"]}}}),
            ),
        ],
        Kind::FileTree => vec![(
            json!({"name": "NAME", "source": {"kind": "upload"}}),
            json!({"source": {"kind": "upload", "path": "files/plain"}}),
        )],
        Kind::FileTreeMount => vec![(
            json!({"agent_id": of("Agent/host-0"), "file_tree_id": of("FileTree/kit"), "mount_path": "/files"}),
            least(kind),
        )],
        Kind::MemoryMount => vec![
            (
                json!({"agent_id": of("Agent/host-0"), "memory_store_id": of("MemoryStore/notes"), "mount_path": "/memory"}),
                least(kind),
            ),
            (
                json!({"agent_id": of("Agent/host-1"), "memory_store_id": of("MemoryStore/notes"), "access": "read_only", "selection": {"kind": "latest"},
                "mount_path": "/memory", "instructions": null, "metadata": {}}),
                least(kind),
            ),
        ],
        Kind::MemoryStore => vec![
            (json!({"name": "NAME"}), least(kind)),
            (
                json!({"name": "NAME", "description": "\u{e9}\r\n", "metadata": {}}),
                json!({"description": "\u{e9}\n", "contents": [{"path": "memory/a", "at": "/a"}]}),
            ),
        ],
        Kind::Skill => vec![(
            json!({"name": "NAME", "display_name": "Tone of voice"}),
            json!({"source": {"path": "skills/NAME"}, "display_name": "Tone of voice"}),
        )],
    }
}

/// A client of the workspace that knows nothing of files.
struct Client {
    control: Embedded,
    runtime: tokio::runtime::Runtime,
}

impl Client {
    fn sends(&self, request: Request) -> Response {
        let context = Context { actor: "sdk".into(), admin: true, ..Context::default() };
        self.runtime.block_on(self.control.call(&context, request)).unwrap()
    }

    fn creates(&self, kind: Kind, body: &Value, files: &[(String, Vec<u8>)]) -> String {
        let entry = |(path, bytes): &(String, Vec<u8>)| {
            let (sha256, size) = (Digest::of(bytes), bytes.len() as u64);
            self.sends(Request::BlobPut(BlobPut { digest: sha256, bytes: bytes.clone() }));
            Entry { path: path.clone(), executable: false, symlink: false, size, sha256 }
        };
        let set = FileSet::new(files.iter().map(entry).collect());
        let content = matches!(kind, Kind::FileTree | Kind::Skill)
            .then_some(ContentOf { entries: set.entries, digest: set.digest });
        let body = body.as_object().unwrap().clone();
        let create = Create { kind, body, content, claim: None, absent_since: None, replaces: None };
        let Response::Written(written) = self.sends(Request::Create(create)) else { panic!("{kind}") };
        written.id
    }
}

#[test]
fn what_a_client_made_is_adopted_without_a_change() {
    let s = project();
    s.write("all.yaml", &beside(2));
    s.run(&["apply", "--yes"]).code(0);
    let got = s.run(&["get", "--json"]).json();
    let resources = got["resources"].as_array().unwrap().clone();
    let ids: BTreeMap<&str, String> =
        resources.iter().map(|r| (r["address"].as_str().unwrap(), r["id"].as_str().unwrap().to_owned())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
    let client = Client { control, runtime };
    let (mut text, mut adopt, mut what) = (beside(2), String::from("adopt:\n"), BTreeMap::new());
    for def in KINDS {
        let all = raw(def.kind, &ids);
        assert!(!all.is_empty(), "{}", def.kind);
        for (i, (body, spec)) in all.iter().enumerate() {
            let name = name(def.kind, i);
            let body: Value = serde_json::from_str(&body.to_string().replace("NAME", &name)).unwrap();
            let mut files = vec![("a.txt".to_owned(), b"a\n".to_vec())];
            if def.kind == Kind::Skill {
                let text = skill(&name, "e\u{301}\r\n");
                s.write(&format!("skills/{name}/SKILL.md"), &text);
                files = vec![("SKILL.md".to_owned(), text.into_bytes())];
            }
            let id = client.creates(def.kind, &body, &files);
            if spec.get("contents").is_some() {
                for (n, content) in TEXTS.iter().enumerate() {
                    let (path, content) = (format!("/a/{n}.md"), (*content).to_owned());
                    client.sends(Request::MemoryCreate(MemoryCreate { id: id.clone(), path, content, view: None }));
                }
            }
            let address = Address::new(def.kind, name.clone());
            let _ = writeln!(adopt, "  - {{address: {address}, id: {id}}}");
            text += &document(def.kind, &name, i, spec, &BTreeMap::new());
            what.insert(address.to_string(), body.to_string());
        }
    }
    s.write("all.yaml", &text);
    s.write("checkfu.yaml", &(config("acme/phantom") + &adopt));
    let plan = s.run(&["plan", "--json"]).code(0).json();
    for action in plan["actions"].as_array().unwrap() {
        let case = what.get(action["address"].as_str().unwrap_or_default());
        let changes = action["about"].get("changes").filter(|c| **c != json!([]));
        assert_eq!((&action["verb"], changes), (&json!("adopt"), None), "{case:?} {action:#}");
    }
    assert_eq!(plan["actions"].as_array().unwrap().len(), what.len());
    s.run(&["apply", "--yes"]).code(0);
    is_empty(&s, &what);
}

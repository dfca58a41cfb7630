//! Every rule on one spec: the last value that is allowed, the first that is not, and where the problem is shown.

use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::{def, rules};

/// `CODE POINTER` of each problem, sorted.
fn problems(kind: Kind, spec: &Value) -> Vec<String> {
    let mut out: Vec<String> =
        (def(kind).check)(spec).into_iter().map(|p| format!("{} {}", p.code.code, p.pointer)).collect();
    out.sort();
    out
}

#[track_caller]
fn good(kind: Kind, spec: &Value) {
    assert_eq!(problems(kind, spec), Vec::<String>::new(), "{kind}: {spec}");
}

#[track_caller]
fn bad(kind: Kind, spec: &Value, expected: &[&str]) {
    assert_eq!(problems(kind, spec), expected, "{kind}: {spec}");
    for problem in (def(kind).check)(spec) {
        assert!(problem.fix.is_some_and(|f| !f.is_empty()), "{}: no fix", problem.message);
        assert!(!problem.message.ends_with('.'), "{}", problem.message);
    }
}

fn agent(more: &Value) -> Value {
    let mut spec = json!({ "model": "claude-sonnet-5" });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec
}

#[test]
fn texts_are_counted_in_characters_not_bytes() {
    let wide = |n: usize| "é".repeat(n);
    let cases: [(Kind, Value, &str, usize); 14] = [
        (Kind::Agent, agent(&json!({})), "name", 256),
        (Kind::Agent, agent(&json!({})), "description", 2048),
        (Kind::Agent, agent(&json!({})), "instructions", 100_000),
        (Kind::Agent, agent(&json!({})), "model", 256),
        (Kind::Environment, json!({}), "name", 255),
        (Kind::Environment, json!({}), "description", 2048),
        (Kind::FileTree, json!({ "source": { "kind": "upload", "path": "d" } }), "name", 255),
        (Kind::MemoryStore, json!({}), "name", 255),
        (Kind::MemoryStore, json!({}), "description", 1024),
        (Kind::MemoryMount, json!({ "mount_path": "/m" }), "instructions", 4096),
        (Kind::Skill, json!({ "source": { "path": "s" } }), "display_name", 255),
        (Kind::Agent, agent(&json!({})), "execution_identity/role_arn", 2048),
        (Kind::Agent, agent(&json!({ "model": { "id": "x" } })), "model/id", 256),
        (
            Kind::FileTreeMount,
            json!({ "mount_path": "/m", "access": "read_write", "writeback": {} }),
            "writeback/pull_request_title",
            256,
        ),
    ];
    for (kind, base, path, max) in cases {
        let with = |text: String| {
            let mut spec = base.clone();
            match path.split_once('/') {
                Some((a, b)) => spec[a][b] = json!(text),
                None => spec[path] = json!(text),
            }
            spec
        };
        good(kind, &with(wide(max)));
        bad(kind, &with(wide(max + 1)), &[&format!("kind.limit /{path}")]);
    }
}

#[test]
fn instructions_are_counted_joined() {
    let half = "x".repeat(50_000);
    good(Kind::Agent, &agent(&json!({ "instructions": [half[..49_999].to_owned(), half[..49_999].to_owned()] })));
    bad(Kind::Agent, &agent(&json!({ "instructions": [half, half] })), &["kind.limit /instructions"]);
    good(Kind::Agent, &agent(&json!({ "instructions": [{ "file": "a" }, half] })));
}

#[test]
fn names_are_on_one_line_and_not_empty() {
    bad(Kind::Agent, &agent(&json!({ "name": "" })), &["kind.limit /name"]);
    bad(Kind::Agent, &agent(&json!({ "name": "a\nb" })), &["kind.form /name"]);
    bad(Kind::MemoryStore, &json!({ "name": "a\u{7}" }), &["kind.form /name"]);
    bad(Kind::Skill, &json!({ "display_name": "a\tb" }), &["kind.form /display_name"]);
}

#[test]
fn labels_have_their_limits() {
    let map = |n: usize| (0..n).map(|i| (format!("k{i}"), json!("v"))).collect::<Value>();
    let said =
        |v: &Value| -> Vec<_> { rules::check_labels(v).into_iter().map(|p| (p.code.code, p.pointer, p.key)).collect() };
    assert!(said(&map(16)).is_empty());
    assert_eq!(said(&map(17)), [("kind.limit", String::new(), false)]);
    assert!(said(&json!({ "é".repeat(64): "é".repeat(512) })).is_empty());
    let (key, value) = ("é".repeat(65), "é".repeat(513));
    assert_eq!(said(&json!({ key.clone(): "" })), [("kind.limit", format!("/{key}"), true)]);
    assert_eq!(said(&json!({ "a/b": value })), [("kind.limit", "/a~1b".to_owned(), false)]);
    assert_eq!(said(&json!({ "": "" })), [("kind.limit", "/".to_owned(), true)]);
}

#[test]
fn tools() {
    let custom =
        |n: usize| json!({ "type": "custom", "name": format!("t{n}"), "description": "d", "input_schema": {} });
    let many = |n: usize| agent(&json!({ "tools": (0..n).map(custom).collect::<Vec<_>>() }));
    good(Kind::Agent, &many(256));
    bad(Kind::Agent, &many(257), &["kind.limit /tools"]);
    // A toolset counts with its eight tools, less those that are off.
    let with_set = |n: usize, set: Value| {
        let mut spec = many(n);
        spec["tools"].as_array_mut().unwrap().push(set);
        spec
    };
    let set = json!({ "type": "agent_toolset_20260401" });
    good(Kind::Agent, &with_set(248, set.clone()));
    bad(Kind::Agent, &with_set(249, set), &["kind.limit /tools"]);
    let less = json!({ "type": "agent_toolset_20260401", "configs": [{ "name": "bash", "enabled": false }] });
    good(Kind::Agent, &with_set(249, less));

    let tools = |list: Value| agent(&json!({ "tools": list }));
    let mut tool = custom(1);
    tool["name"] = json!("a".repeat(128));
    tool["description"] = json!("é".repeat(4096));
    good(Kind::Agent, &tools(json!([tool])));
    tool["name"] = json!("a".repeat(129));
    tool["description"] = json!("é".repeat(4097));
    bad(Kind::Agent, &tools(json!([tool])), &["kind.limit /tools/0/description", "kind.limit /tools/0/name"]);
    tool["name"] = json!("look up");
    tool["description"] = json!("");
    bad(Kind::Agent, &tools(json!([tool])), &["kind.form /tools/0/name", "kind.limit /tools/0/description"]);
    bad(Kind::Agent, &tools(json!([custom(1), custom(1)])), &["kind.duplicate /tools/1/name"]);
    let set = json!({ "type": "agent_toolset_20260401", "configs": [
        { "name": "bash", "type": "read" }, { "name": "bash", "allowed_domains": ["a"] },
        { "name": "web_search", "allowed_domains": ["a"], "blocked_domains": ["b"], "max_content_tokens": 5 },
        { "name": "web_fetch", "allowed_domains": [], "max_content_tokens": 0 },
    ] });
    bad(
        Kind::Agent,
        &tools(json!([set, { "type": "agent_toolset_20260401" }])),
        &[
            "kind.conflict /tools/0/configs/0/type",
            "kind.conflict /tools/0/configs/1/allowed_domains",
            "kind.conflict /tools/0/configs/2/blocked_domains",
            "kind.conflict /tools/0/configs/2/max_content_tokens",
            "kind.duplicate /tools/0/configs/1/name",
            "kind.duplicate /tools/1",
            "kind.limit /tools/0/configs/3/allowed_domains",
            "kind.limit /tools/0/configs/3/max_content_tokens",
        ],
    );
    let domains = |n: usize| (0..n).map(|i| format!("d{i}.example")).collect::<Vec<_>>();
    let search = |d: Value| {
        tools(
            json!([{ "type": "agent_toolset_20260401", "configs": [{ "name": "web_search", "blocked_domains": d }] }]),
        )
    };
    good(Kind::Agent, &search(json!(domains(64))));
    bad(Kind::Agent, &search(json!(domains(65))), &["kind.limit /tools/0/configs/0/blocked_domains"]);
    bad(
        Kind::Agent,
        &search(json!(["https://a.example", "b.example", "b.example"])),
        &["kind.duplicate /tools/0/configs/0/blocked_domains/2", "kind.form /tools/0/configs/0/blocked_domains/0"],
    );
}

#[test]
fn mcp_servers_and_toolsets_name_each_other() {
    let server = |name: &str| json!({ "name": name, "url": "https://x.example/mcp" });
    let set = |name: &str| json!({ "type": "mcp_toolset", "mcp_server_name": name });
    let both = |servers: Vec<Value>, sets: Vec<Value>| agent(&json!({ "mcp_servers": servers, "tools": sets }));
    let names: Vec<String> = (0..21).map(|i| format!("s{i}")).collect();
    let n =
        |n: usize| both(names[..n].iter().map(|s| server(s)).collect(), names[..n].iter().map(|s| set(s)).collect());
    good(Kind::Agent, &n(20));
    bad(Kind::Agent, &n(21), &["kind.limit /mcp_servers"]);
    bad(Kind::Agent, &both(vec![server("a")], vec![]), &["kind.missing /mcp_servers/0"]);
    bad(Kind::Agent, &both(vec![], vec![set("a")]), &["kind.missing /tools/0/mcp_server_name"]);
    bad(
        Kind::Agent,
        &both(vec![server("a"), server("a")], vec![set("a"), set("a")]),
        &["kind.duplicate /mcp_servers/1/name", "kind.duplicate /tools/1/mcp_server_name"],
    );
    let mut ftp = server(&"n".repeat(256));
    ftp["url"] = json!("ftp://x");
    bad(
        Kind::Agent,
        &both(vec![ftp], vec![set(&"n".repeat(256))]),
        &["kind.form /mcp_servers/0/url", "kind.limit /mcp_servers/0/name", "kind.limit /tools/0/mcp_server_name"],
    );
    let long = json!({ "type": "mcp_toolset", "mcp_server_name": "a", "configs": [{ "name": "n".repeat(129) }] });
    bad(Kind::Agent, &both(vec![server("a")], vec![long]), &["kind.limit /tools/0/configs/0/name"]);
}

#[test]
fn skills_in_their_forms() {
    let skills = |list: Value| agent(&json!({ "skills": list }));
    let many = |n: usize| skills((0..n).map(|i| json!(format!("s{i}"))).collect());
    good(Kind::Agent, &many(20));
    bad(Kind::Agent, &many(21), &["kind.limit /skills"]);
    let pin = format!("sha256:{}", "0".repeat(64));
    good(
        Kind::Agent,
        &skills(json!(["a", { "skill": "b", "follow": "latest" }, { "skill": { "id": "skill_1" } },
            { "skill": "acme/legal:Skill/tone", "pin": pin }, { "skill": "c", "version": 3 },
            { "anthropic": "a" }, { "anthropic": "xlsx", "version": "1" }])),
    );
    bad(
        Kind::Agent,
        &skills(json!([
            "Bad Name", { "skill": "b", "follow": "latest", "version": 1 }, { "skill": "c", "pin": "sha256:ff" },
            { "skill": "d", "version": 0 }, { "skill": "e", "version": "x" }, { "anthropic": "x", "version": 1 },
            { "anthropic": "y", "follow": "latest" }, { "skill": "f", "anthropic": "z" }, {}, { "skill": "acme:Agent/x" },
            { "skill": { "id": "" } }, { "skill": "b" },
        ])),
        &[
            "kind.duplicate /skills/11",
            "kind.form /skills/0",
            "kind.form /skills/1",
            "kind.form /skills/10/skill",
            "kind.form /skills/2/pin",
            "kind.form /skills/4/version",
            "kind.form /skills/5/version",
            "kind.form /skills/6",
            "kind.form /skills/7",
            "kind.form /skills/8",
            "kind.form /skills/9/skill",
            "kind.limit /skills/3/version",
        ],
    );
}

#[test]
fn rosters() {
    let roster = |list: Value| agent(&json!({ "multiagent": { "type": "coordinator", "agents": list } }));
    let many = |n: usize| roster((0..n).map(|i| json!(format!("a{i}"))).collect());
    good(Kind::Agent, &many(20));
    bad(Kind::Agent, &many(21), &["kind.limit /multiagent/agents"]);
    bad(Kind::Agent, &many(0), &["kind.limit /multiagent/agents"]);
    bad(
        Kind::Agent,
        &roster(json!([{ "type": "advisor" }, { "type": "self", "version": 1 }, { "agent": "a", "version": 0 },
            "a", "B", { "id": "x", "agent": "y" }, {}])),
        &[
            "kind.duplicate /multiagent/agents/3",
            "kind.form /multiagent/agents/0",
            "kind.form /multiagent/agents/1",
            "kind.form /multiagent/agents/4",
            "kind.form /multiagent/agents/5",
            "kind.form /multiagent/agents/6",
            "kind.limit /multiagent/agents/2/version",
        ],
    );
    let twenty_one: Vec<String> = (0..21).map(|i| format!("a{i}")).collect();
    let parts = json!({ "multiagent": { "type": "multiagent_20261001",
        "subagents": { "type": "enabled", "predefined_agents": twenty_one } } });
    bad(Kind::Agent, &agent(&parts), &["kind.limit /multiagent/subagents/predefined_agents"]);
}

#[test]
fn paths_are_absolute_normalized_and_counted_in_bytes() {
    let mount = |path: &str| json!({ "agent": "a", "memory_store": "s", "mount_path": path });
    good(Kind::MemoryMount, &mount("/mnt/memory/é"));
    for path in ["/", "", "mnt", "/mnt/", "//mnt", "/a/./b", "/a/../b", "/e\u{301}", "/a\u{200b}b", "/a\nb"] {
        bad(Kind::MemoryMount, &mount(path), &["kind.path /mount_path"]);
    }
    // 1,024 bytes, with two bytes a character.
    good(Kind::MemoryMount, &mount(&format!("/a{}", "é".repeat(511))));
    bad(Kind::MemoryMount, &mount(&format!("/{}", "é".repeat(512))), &["kind.limit /mount_path"]);
    assert_eq!(rules::normalized("a//b/./c/../d/"), "/a/b/d");
}

#[test]
fn selections_and_writebacks() {
    let tree = |more: Value| {
        let mut spec = json!({ "agent": "a", "file_tree": "t", "mount_path": "/w" });
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        spec
    };
    good(Kind::FileTreeMount, &tree(json!({ "selection": { "revision": 1 } })));
    bad(Kind::FileTreeMount, &tree(json!({ "selection": {} })), &["kind.form /selection"]);
    bad(
        Kind::FileTreeMount,
        &tree(json!({ "selection": { "revision": 0, "content": "x", "ref": "" } })),
        &[
            "kind.form /selection",
            "kind.form /selection/content",
            "kind.limit /selection/ref",
            "kind.limit /selection/revision",
        ],
    );
    let writeback = json!({ "kind": "pull_request" });
    good(Kind::FileTreeMount, &tree(json!({ "writeback": writeback, "access": "read_write" })));
    bad(Kind::FileTreeMount, &tree(json!({ "writeback": writeback })), &["kind.conflict /writeback"]);
    bad(
        Kind::FileTreeMount,
        &json!({ "agent": "A", "file_tree": "x:Agent/y", "mount_path": "/w" }),
        &["kind.form /agent", "kind.form /file_tree"],
    );
    bad(
        Kind::Agent,
        &agent(
            &json!({ "memory": [{ "store": "S", "at": "m" }], "files": [{ "tree": "t", "at": "/w", "writeback": writeback }] }),
        ),
        &["kind.conflict /files/0/writeback", "kind.form /memory/0/store", "kind.path /memory/0/at"],
    );
    let nine: Vec<Value> = (0..9).map(|i| json!({ "store": "s", "at": format!("/m{i}") })).collect();
    bad(Kind::Agent, &agent(&json!({ "memory": nine })), &["kind.limit /memory"]);
}

#[test]
fn memory_prefixes_do_not_overlap() {
    let store = |contents: Value| json!({ "contents": contents });
    good(Kind::MemoryStore, &store(json!([{ "path": "p", "at": "/a" }, { "path": "q", "at": "/ab", "mode": "seed" }])));
    bad(
        Kind::MemoryStore,
        &store(json!([{ "path": "p", "at": "/a" }, { "path": "q", "at": "/a/b" }, { "at": "/", "mode": "observe" }])),
        &["kind.overlap /contents/1/at", "kind.overlap /contents/2/at"],
    );
    bad(
        Kind::MemoryStore,
        &store(json!([{ "at": "/a" }, { "path": "p", "at": "/b", "mode": "observe" }, { "path": "p", "at": "c/" }])),
        &["kind.conflict /contents/1/path", "kind.missing /contents/0", "kind.path /contents/2/at"],
    );
    good(Kind::MemoryStore, &store(json!([{ "path": "p", "at": "/a".repeat(20) }])));
    bad(Kind::MemoryStore, &store(json!([{ "path": "p", "at": "/a".repeat(21) }])), &["kind.limit /contents/0/at"]);
    good(Kind::MemoryStore, &json!({ "owner": { "agent": "a" } }));
    bad(
        Kind::MemoryStore,
        &json!({ "owner": { "agent": "A", "principal": "p" } }),
        &["kind.form /owner", "kind.form /owner/agent"],
    );
    bad(Kind::MemoryStore, &json!({ "owner": {} }), &["kind.form /owner"]);
}

#[test]
fn environments() {
    let config = |config: Value| json!({ "config": config });
    let limited = |more: Value, packages: Value| {
        let mut networking = json!({ "type": "limited" });
        for (key, value) in more.as_object().unwrap() {
            networking[key] = value.clone();
        }
        config(json!({ "type": "cloud", "networking": networking, "packages": packages }))
    };
    let pip = json!({ "pip": ["ruff==0.8.0"] });
    good(Kind::Environment, &config(json!({ "type": "cloud", "packages": pip })));
    good(
        Kind::Environment,
        &limited(json!({ "allow_package_managers": true, "allowed_hosts": ["*.a.example"] }), pip.clone()),
    );
    good(Kind::Environment, &limited(json!({}), json!({ "pip": [] })));
    bad(Kind::Environment, &limited(json!({}), pip), &["kind.missing /config/packages"]);
    let hosts = json!({ "allowed_hosts": ["https://a", "a:1", "*", "a.*.b", "", "ok.example", "ok.example", "a..b"] });
    bad(
        Kind::Environment,
        &limited(hosts, json!({})),
        &[
            "kind.duplicate /config/networking/allowed_hosts/6",
            "kind.form /config/networking/allowed_hosts/0",
            "kind.form /config/networking/allowed_hosts/1",
            "kind.form /config/networking/allowed_hosts/2",
            "kind.form /config/networking/allowed_hosts/3",
            "kind.form /config/networking/allowed_hosts/4",
            "kind.form /config/networking/allowed_hosts/7",
        ],
    );
    bad(
        Kind::Environment,
        &config(json!({ "type": "cloud", "packages": { "apt": ["--force", "a", "a"] } })),
        &["kind.duplicate /config/packages/apt/2", "kind.form /config/packages/apt/0"],
    );
}

#[test]
fn trees() {
    let git = |repository: &str, name: &str| json!({ "acted_as": "prin_1", "source": { "kind": "git", "repository": repository, "ref": name, "connection": { "id": "c" } } });
    good(Kind::FileTree, &git("acme/site.v2", "refs/heads/feature/x"));
    for repository in ["acme", "acme/", "https://github.com/acme/x", "a/b/c", "acme/x.git", "../x"] {
        bad(Kind::FileTree, &git(repository, "main"), &["kind.form /source/repository"]);
    }
    for name in ["a..b", "-x", "a b", "a/", "x.lock", "@", "a@{1}", "a//b", "/a", ".a", "a:b"] {
        bad(Kind::FileTree, &git("a/b", name), &["kind.form /source/ref"]);
    }
    bad(Kind::FileTree, &git("a/b", ""), &["kind.limit /source/ref"]);
    let upload = json!({ "acted_as": "prin_1", "source": { "kind": "upload", "path": "", "include": [""] } });
    bad(
        Kind::FileTree,
        &upload,
        &["kind.conflict /acted_as", "kind.limit /source/include/0", "kind.limit /source/path"],
    );
    let mut nobody = git("a/b", "main");
    nobody.as_object_mut().unwrap().remove("acted_as");
    bad(Kind::FileTree, &nobody, &["kind.missing /source"]);
}

#[test]
fn wrong_types_are_the_schemas_business() {
    for kind in Kind::ALL {
        for fill in [json!(null), json!(3), json!([]), json!("x"), json!([[3]]), json!({ "a": 1 })] {
            let spec: Value = def(kind).fields.iter().map(|f| (f.name.to_owned(), fill.clone())).collect();
            let _ = (def(kind).check)(&spec);
            let canonical = (def(kind).canonical)("x", spec.clone(), &std::collections::BTreeMap::new());
            let _ = (def(kind).to_wire)(&canonical, &crate::model::kinds::Ids::default(), None);
            let _ = (
                (def(kind).refs)(&canonical),
                (def(kind).from_wire)(&spec, &crate::model::kinds::Refs::default(), None),
            );
            let _ = (def(kind).wire_refs)(spec.as_object().unwrap());
        }
        for spec in [json!(null), json!(3), json!("x"), json!([])] {
            assert!((def(kind).check)(&spec).is_empty());
        }
    }
}

#[test]
fn each_code_is_explained() {
    for code in kind::ALL {
        assert!(code.code.starts_with("kind.") && code.why.len() > 40 && code.fix.len() > 10, "{}", code.code);
    }
}

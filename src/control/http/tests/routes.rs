//! Paths: which row, which parameters, and which paths are none.

use crate::control::http::{allowed, route};
use crate::model::op::{OPERATIONS, Verb};

fn name(method: Verb, path: &str) -> Option<&'static str> {
    route(method, path).map(|(o, _)| o.name)
}

#[test]
fn every_row_is_found_by_its_own_path() {
    for o in OPERATIONS {
        let path = o.path.replace("{id}", "x").replace("{version}", "1").replace("{memory}", "m");
        let path = path.replace("{owner}", "acme%2Fsupport").replace("{digest}", "sha256:0");
        assert_eq!(name(o.method, &path), Some(o.name), "{path}");
    }
}

#[test]
fn parameters_are_decoded() {
    let (_, params) = route(Verb::Get, "/v1/authoring/owners/acme%2fsupport").unwrap();
    assert_eq!(params["owner"], "acme/support");
    let (o, params) = route(Verb::Get, "/v1/skills/sk%C3%BC/versions/latest").unwrap();
    assert_eq!((o.name, params["id"].as_str(), params["version"].as_str()), ("skills.version", "skü", "latest"));
}

#[test]
fn projects_are_file_trees() {
    assert_eq!(name(Verb::Post, "/v1/projects"), Some("file_trees.create"));
    assert_eq!(name(Verb::Get, "/v1/projects/ftree_1/revisions/2/tree"), Some("file_trees.tree"));
    assert_eq!(name(Verb::Get, "/v1/agents/projects"), Some("agents.get"));
    assert_eq!(name(Verb::Get, "/projects"), None);
}

#[test]
fn some_paths_are_none() {
    let long = format!("/v1/agents/{}", "x".repeat(9_000));
    let odd = [
        "",
        "/",
        "v1/agents",
        "/v1/agents/",
        "/v1//agents",
        "/v1/agents/.",
        "/v1/agents/..",
        "/v1/agents/%2E%2e",
        "/v1/agents/%2e/archive",
        "/v1/agents/%FF",
        "/v1/agents/%00",
        "/v1/nothing",
        "/v2/agents",
        "/v1/agents/a/b/c",
        &long,
    ];
    for path in odd {
        assert_eq!(name(Verb::Get, path), None, "{path}");
        assert_eq!(name(Verb::Post, path), None, "{path}");
    }
    assert_eq!(name(Verb::Delete, "/v1/agents/x"), None, "agents are archived");
    assert_eq!(allowed("/v1/agents/x"), [Verb::Get, Verb::Post]);
    assert_eq!(allowed("/v1/nothing"), []);
    assert_eq!(name(Verb::Get, &format!("/v1/agents/{}", "x".repeat(8_000))), Some("agents.get"));
}

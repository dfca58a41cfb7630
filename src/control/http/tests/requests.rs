//! `decode(encode(request)) == request`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::samples::Made;
use crate::control::http::{Body, Incoming, decode, encode, route};
use crate::model::op::{OPERATIONS, Request};

/// What a server gets of a request: its path routed, its body as bytes and parsed again.
pub(super) fn sent(request: &Request) -> Incoming {
    let out = encode(request);
    assert!(out.path.is_ascii(), "{}", out.path);
    let (operation, params) = route(out.method, &out.path).unwrap_or_else(|| panic!("no route: {out:?}"));
    let body = match out.body {
        Body::Json(value) => Body::Json(serde_json::from_slice(value.to_string().as_bytes()).unwrap()),
        other => other,
    };
    Incoming { operation, params, query: out.query, body }
}

fn comes_back(request: &Request) {
    let incoming = sent(request);
    assert_eq!(incoming.operation.name, request.name());
    assert_eq!(&decode(&incoming).unwrap(), request);
}

pub(super) fn made() -> impl Strategy<Value = Made> {
    let id = "[^\0]{1,24}".prop_filter("a path has no such part", |id| id != "." && id != "..");
    let owner = "[A-Za-z0-9._-]{1,8}(/[A-Za-z0-9_-]{1,8}){0,3}".prop_filter_map("an owner", |o| o.parse().ok());
    let text = "[^\0]{1,16}".prop_filter("a path has no such part", |text| text != "." && text != "..");
    (id, text, owner, 1_u32..=100, any::<bool>()).prop_map(|(id, text, owner, number, all)| Made {
        id,
        text,
        owner,
        number,
        all,
    })
}

#[test]
fn every_row_has_a_sample() {
    let rows: BTreeSet<&str> = OPERATIONS.iter().map(|o| o.name).collect();
    let sampled: Vec<String> = Made::plain().requests().iter().map(Request::name).collect();
    assert_eq!(sampled.iter().map(String::as_str).collect::<BTreeSet<_>>(), rows);
    assert_eq!(sampled.len(), rows.len(), "one for each");
}

#[test]
fn every_request_comes_back() {
    for all in [true, false] {
        for request in (Made { all, ..Made::plain() }).requests() {
            comes_back(&request);
        }
    }
}

#[test]
fn odd_ids_come_back() {
    for odd in ["a/b", "ü", "a b", "%2F", "...", "a?b#c", "a&b=c", "\u{202e}", "+", "\u{1f600}", ";", "\\..\\"] {
        let (id, text) = (odd.to_owned(), odd.to_owned());
        for request in (Made { id, text, ..Made::plain() }).requests() {
            comes_back(&request);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_request_comes_back(made in made()) {
        for request in made.requests() {
            comes_back(&request);
        }
    }
}

#[test]
fn the_wire_is_as_it_is_written_down() {
    let shown = |request: &Request| {
        let out = encode(request);
        let query: Vec<String> = out.query.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let body = match out.body {
            Body::Empty => String::new(),
            Body::Json(value) => value.to_string(),
            Body::Bytes(bytes) => format!("{} bytes", bytes.len()),
        };
        format!("{:?} {} {} {body}", out.method, out.path, query.join("&"))
    };
    let all = Made::plain().requests();
    let of = |name: &str| shown(all.iter().find(|r| r.name() == name).unwrap());
    assert_eq!(of("agents.get"), "Get /v1/agents/agent_1 version=7 ");
    assert_eq!(of("authoring.owner"), "Get /v1/authoring/owners/acme%2Fsupport  ");
    assert_eq!(of("agents.archive"), r#"Post /v1/agents/agent_1/archive  {"expected_version":7}"#);
    assert_eq!(of("skills.delete"), "Delete /v1/skills/agent_1 expected_version=7 ");
    assert_eq!(of("memory_stores.delete"), "Delete /v1/memory_stores/agent_1 expected_version=7&memory_version=7 ");
    assert_eq!(
        of("agents.list"),
        "Get /v1/agents owner=acme/support&label=a%3Db%253D=&label=x=x&include_archived=true&view=summary\
         &created_at[gte]=2026-11-30T12:00:07Z&created_at[lte]=2026-11-30T12:00:07Z&page=x&limit=7 "
    );
    let hex = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert_eq!(
        of("memories.delete"),
        format!("Delete /v1/memory_stores/agent_1/memories/x expected_content_sha256={hex} ")
    );
    assert_eq!(
        of("memories.update"),
        format!(
            "Post /v1/memory_stores/agent_1/memories/x view=full {{\"content\":\"\",\"path\":\"x\",\"precondition\":\
             {{\"content_sha256\":\"{hex}\",\"type\":\"content_sha256\"}}}}"
        )
    );
    assert_eq!(of("blobs.put"), format!("Post /v1/blobs digest=sha256:{hex} 1 bytes"));
    assert_eq!(of("blobs.get"), format!("Get /v1/blobs/sha256:{hex}  "));
    assert_eq!(of("files.list"), "Get /v1/files ids[]=x&ids[]=b&scope_id=x&page=x&limit=7 ");
}

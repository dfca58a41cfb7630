//! `decode_response(request, encode_response(…)) == response`, and what is tolerated of a newer server.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::requests::made;
use super::samples::Made;
use crate::control::http::{Body, decode_response, encode_response};
use crate::model::op::{ActorKind, Request, Response};

fn comes_back(request: &Request, response: &Response) {
    let body = encode_response(request.operation(), response.clone());
    let body = match body {
        Body::Json(value) => Body::Json(serde_json::from_slice(value.to_string().as_bytes()).unwrap()),
        other => other,
    };
    assert_eq!(decode_response(request, body).unwrap(), *response, "{}", request.name());
}

fn each(made: &Made) {
    for request in made.requests() {
        for response in made.responses(&request) {
            comes_back(&request, &response);
        }
    }
}

#[test]
fn every_response_comes_back() {
    for all in [true, false] {
        each(&Made { all, ..Made::plain() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn any_response_comes_back(made in made()) {
        each(&made);
    }
}

fn request(name: &str) -> Request {
    Made::plain().requests().into_iter().find(|r| r.name() == name).unwrap()
}

fn answer(request: &Request) -> Value {
    let response = Made::plain().responses(request).remove(0);
    match encode_response(request.operation(), response) {
        Body::Json(value) => value,
        other => panic!("{other:?}"),
    }
}

/// Adds a field to every object below, but for applied specs: what is in them is all of it.
fn grown(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.iter_mut()
                .filter(|(name, _)| !matches!(name.as_str(), "specs" | "spec"))
                .for_each(|(_, value)| grown(value));
            map.insert("of_a_newer_server".to_owned(), json!({"x": 1}));
        }
        Value::Array(items) => items.iter_mut().for_each(grown),
        _ => {}
    }
}

#[test]
fn unknown_fields_are_tolerated() {
    let typed = [
        "applies.begin",
        "applies.get",
        "applies.list",
        "applies.state",
        "audit.list",
        "authoring.find",
        "authoring.referrers",
        "authoring.resolve",
        "authoring.summaries",
        "blobs.missing",
        "tokens.create",
        "tokens.list",
        "workspace.get",
        "file_trees.tree",
    ];
    for name in typed {
        let request = request(name);
        let mut value = answer(&request);
        grown(&mut value);
        let read = decode_response(&request, Body::Json(value)).unwrap();
        assert_eq!(read, Made::plain().responses(&request).remove(0), "{name}");
    }
    let request = request("authoring.owner");
    let mut value = answer(&request);
    value["of_a_newer_server"] = json!(1);
    let whole = decode_response(&request, Body::Json(value.clone())).unwrap();
    assert_eq!(whole, Made::plain().responses(&request).remove(0));
    value["policy"]["of_a_newer_server"] = json!(1);
    value["undone"]["Ship/mary"] = json!("sha256:0");
    let Response::Owner(owner) = decode_response(&request, Body::Json(value)).unwrap() else { panic!() };
    assert_eq!((owner.policy, owner.undone.len()), (None, 1), "a policy that cannot be read is none");
}

#[test]
fn unknown_kinds_and_actors_are_tolerated() {
    let ship = |name: &str| {
        let request = request(name);
        let mut value = answer(&request);
        let mut item = value["data"][0].clone();
        item["kind"] = json!("Ship");
        item["address"] = json!("Ship/mary");
        value["data"].as_array_mut().unwrap().push(item);
        decode_response(&request, Body::Json(value)).unwrap()
    };
    assert!(matches!(ship("authoring.summaries"), Response::Summaries(page) if page.data.len() == 1));
    assert!(matches!(ship("authoring.find"), Response::Summaries(page) if page.data.len() == 1));
    assert!(matches!(ship("authoring.referrers"), Response::Referrers(all) if all.len() == 1));
    let resolved = ship("authoring.resolve");
    assert!(matches!(resolved, Response::Resolved(all) if all.len() == 2 && all[1].kind.is_none()));
    let audit = request("audit.list");
    let mut value = answer(&audit);
    value["data"][0]["actor_kind"] = json!("robot");
    let Response::Audit(facts) = decode_response(&audit, Body::Json(value)).unwrap() else { panic!() };
    assert_eq!(facts[0].actor_kind, ActorKind::Api);
    let bodies = request("authoring.bodies");
    let mut value = answer(&bodies);
    value["bodies"][0]["memories"][0]["updated_by_kind"] = json!("robot");
    value["retired"]["Ship/mary"] = json!("ship_1");
    value["refs"]["resources"]["ship_1"] = json!(["acme/support", "Ship/mary"]);
    let Response::Loaded(loaded) = decode_response(&bodies, Body::Json(value)).unwrap() else { panic!() };
    assert_eq!(loaded.bodies[0].memories[0].updated_by_kind, ActorKind::Api);
    assert_eq!((loaded.retired.len(), loaded.refs.resources.len()), (1, 1));
}

#[test]
fn an_answer_that_lacks_something_says_what() {
    let says = |name: &str, body: Body| {
        let error = decode_response(&request(name), body).unwrap_err();
        assert_eq!(error.code, "remote.answer");
        error.message
    };
    let cut = |name: &str, body: Value| says(name, Body::Json(body));
    assert_eq!(cut("agents.get", json!([])), "the answer to agents.get cannot be read: it is not an object");
    assert!(cut("agents.list", json!({"next_page": null})).ends_with("missing field `data`"));
    assert!(cut("authoring.resolve", json!({})).ends_with("it has no `data`"));
    assert!(cut("agents.update", json!({"written": {"id": 1}})).contains("`id`: invalid type"));
    assert!(says("agents.get", Body::Bytes(b"<html>".to_vec())).ends_with("it is not JSON"));
    assert!(says("agents.get", Body::Empty).ends_with("it is not an object"));
    assert!(cut("blobs.get", json!({})).ends_with("it is JSON"));
}

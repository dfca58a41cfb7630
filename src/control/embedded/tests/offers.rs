//! What planning finds beside what its owner has, and ownership that is offered before it moves.

use serde_json::json;

use super::*;
use crate::control::ErrorKind;

const A: &str = "acme/a";
const B: &str = "acme/b";

fn authoring(id: &str, version: u64, seq: u64) -> Authoring {
    Authoring { at: at(id, version), seq }
}

fn find(ws: &Ws, me: &str, names: &[&str], ids: &[&str]) -> Vec<Summary> {
    let addresses = names.iter().map(|name| address(Kind::Agent, name)).collect();
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    match ws.call(&anyone(), Request::Find(Find { me: owner(me), addresses, ids })).unwrap() {
        Response::Summaries(Page { data, next_page: None }) => data,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_others_have_at_an_address_and_whatever_has_an_id_is_found() {
    let ws = Ws::new();
    let mine = ws.agent(Some(A), "support").id;
    let theirs = ws.agent(Some(B), "support").id;
    let free = ws.agent(None, "free").id;
    let gone = ws.agent(Some(B), "gone").id;
    ws.written(&by(B), retire(Kind::Agent, at(&gone, 1)));

    let found = find(&ws, A, &["support", "gone", "none"], &[]);
    assert_eq!(found.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), [theirs.as_str()]);
    let since = found[0].since.clone().unwrap();
    assert_eq!((since.actor.as_str(), since.operation.as_str()), ("ci", "agents.create"));
    assert_eq!((found[0].owner.clone(), found[0].live_digest), (Some(owner(B)), found[0].applied_digest));

    let found = find(&ws, A, &[], &[&mine, &free, &gone, "agent_none"]);
    assert_eq!(found.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), [mine.as_str(), free.as_str()]);
    assert_eq!((&found[1].owner, &found[1].address, &found[1].since), (&None, &None, &None));
    // Each once, however often it is asked for.
    assert_eq!(find(&ws, A, &["support", "support"], &[&theirs, &theirs]).len(), 1);

    let ids = (0..=Find::MOST).map(|n| n.to_string()).collect();
    let error = ws.refused(&anyone(), Request::Find(Find { me: owner(A), addresses: vec![], ids }));
    assert!(error.kind == ErrorKind::Invalid && error.message.contains("1000"), "{error:?}");
}

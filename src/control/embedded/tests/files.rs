//! Skills, file trees, blobs.

use serde_json::json;

use super::*;

const A: &str = "acme/a";

fn publish(kind: Kind, id: &str, version: u64, content: ContentOf) -> Request {
    Request::Publish(Publish { kind, at: at(id, version), content, applied: None })
}

#[test]
fn versions_are_snapshots_and_equal_bytes_make_none() {
    let ws = Ws::new();
    let made = ws.skill(Some(A), "faq", "1");
    let first = made.made.clone().unwrap();
    assert!(first.starts_with("skver_"));
    let equal = ws.written(&by(A), publish(Kind::Skill, &made.id, 1, ws.skill_files("faq", "1")));
    assert_eq!((equal.version, equal.changed, equal.made.as_ref()), (1, false, Some(&first)));
    let two = [("SKILL.md", "---\nname: faq\n---\n2\n"), ("a.md", "a")];
    let next = ws.written(&by(A), publish(Kind::Skill, &made.id, 1, ws.content(&two)));
    assert_eq!((next.version, next.changed), (2, true));
    let all = ws.versions(Kind::Skill, &made.id).unwrap();
    assert_eq!(ids(&all), [next.made.as_deref().unwrap(), &first]);
    let files = |id: &str| ws.version(Kind::Skill, &made.id, id)["entries"].as_array().unwrap().len();
    assert_eq!((files(next.made.as_deref().unwrap()), files(&first)), (2, 1));
    assert_eq!(ws.get(Kind::Skill, &made.id)["latest_version_id"], json!(next.made));
    // Without owner and key an upload is a new version, as on the wire.
    let free = ws.skill(None, "free", "1");
    let again = ws.written(&anyone(), publish(Kind::Skill, &free.id, 1, ws.skill_files("free", "1")));
    assert!(again.changed && again.made != free.made);
}

#[test]
fn what_a_version_must_be() {
    let ws = Ws::new();
    let tree = object(json!({"name": "docs", "source": {"kind": "upload"}}));
    let id = ws.written(&anyone(), create(Kind::FileTree, tree, None)).id;
    let refuse = |content| ws.refused(&anyone(), publish(Kind::FileTree, &id, 1, content)).code;
    let good = ws.content(&[("a.md", "a")]);
    assert_eq!(refuse(ContentOf { entries: vec![], digest: FileSet::digest_of(&[]) }), "content.limit");
    assert_eq!(refuse(ContentOf { digest: Digest::of(b""), ..good.clone() }), "content.mismatch");
    let with = |change: fn(&mut Entry)| {
        let mut entries = good.entries.clone();
        change(&mut entries[0]);
        ContentOf { digest: FileSet::digest_of(&entries), entries }
    };
    assert_eq!(refuse(with(|e| e.path = "../a".to_owned())), "validation.invalid");
    assert_eq!(refuse(with(|e| e.size = 9)), "validation.invalid");
    let missing = ws.refused(&anyone(), publish(Kind::FileTree, &id, 1, with(|e| e.sha256 = Digest::of(b"never"))));
    assert_eq!(missing.code, "content.missing");
    assert_eq!(missing.details["missing"], json!([Digest::of(b"never")]));
    let many = (0..1_025).map(|n| Entry { path: format!("{n:04}"), ..good.entries[0].clone() }).collect::<Vec<_>>();
    assert_eq!(refuse(ContentOf { digest: FileSet::digest_of(&many), entries: many }), "content.limit");
    assert_eq!(ws.written(&anyone(), publish(Kind::FileTree, &id, 1, good)).made.as_deref(), Some("1"));
    let git = object(
        json!({"name": "g", "acted_as": "p", "source": {"kind": "git", "repository": "a/b", "ref": "main", "connection_id": "c"}}),
    );
    assert_eq!(ws.refused(&anyone(), create(Kind::FileTree, git, None)).code, "file_tree.git_unsupported");
    let bare = object(json!({"name": "s"}));
    assert_eq!(ws.refused(&anyone(), create(Kind::Skill, bare, None)).code, "validation.invalid");
}

#[test]
fn a_skill_is_named_by_its_files() {
    let ws = Ws::new();
    let with = |name: serde_json::Value, text: &str| {
        let Request::Create(mut c) = create(Kind::Skill, object(json!({"name": name})), None) else { unreachable!() };
        c.content = Some(ws.content(&[("SKILL.md", text)]));
        Request::Create(c)
    };
    for text in ["---\nname: other\n---\n", "no front matter", "---\ndescription: d\n---\n", "---\nname: [\n---\n"] {
        assert_eq!(ws.refused(&anyone(), with(json!("faq"), text)).code, "content.skill_name", "{text}");
    }
    let id = ws.written(&anyone(), with(json!("faq"), "\u{feff}---\r\nname: ' faq '\r\n---\r\n")).id;
    // Nor does a later version change it.
    let other = publish(Kind::Skill, &id, 1, ws.skill_files("other", "2"));
    assert_eq!(ws.refused(&anyone(), other).code, "content.skill_name");
    // A create that says no name takes it from the files.
    let id = ws.written(&anyone(), with(json!(null), "---\nname: tone\n---\n")).id;
    let body = ws.get(Kind::Skill, &id);
    assert_eq!((&body["name"], &body["display_name"]), (&json!("tone"), &json!("tone")));
    assert_eq!(ws.refused(&anyone(), with(json!(null), "none")).code, "content.skill_name");
}

#[test]
fn a_skill_cannot_go_while_a_live_agent_names_it_and_stays_readable_where_one_did() {
    let ws = Ws::new();
    let skill = ws.skill(None, "faq", "1");
    let unnamed = ws.written(&anyone(), publish(Kind::Skill, &skill.id, 1, ws.skill_files("faq", "2")));
    let agent = ws.agent(Some(A), "support").id;
    let pin = json!({"skills": [{"type": "custom", "skill_id": skill.id, "version": skill.made}]});
    ws.written(&by(A), update(Kind::Agent, at(&agent, 1), pin.clone()));
    let refused = ws.refused(&anyone(), retire(Kind::Skill, at(&skill.id, 2)));
    assert_eq!(refused.details["by"], json!(["acme/a:Agent/support"]));
    ws.written(&by(A), update(Kind::Agent, at(&agent, 2), json!({"skills": null})));
    ws.written(&anyone(), retire(Kind::Skill, at(&skill.id, 2)));
    let get = Request::Get(GetOf { kind: Kind::Skill, id: skill.id.clone(), version: None });
    assert_eq!(ws.refused(&anyone(), get).code, "resource.not_found");
    // The version that the agent's version 2 names can still be read, the other one not.
    let left = ws.versions(Kind::Skill, &skill.id).unwrap();
    assert_eq!(ids(&left), [skill.made.as_deref().unwrap()]);
    assert_ne!(unnamed.made, skill.made);
    // And it takes no new reference.
    assert_eq!(ws.refused(&by(A), update(Kind::Agent, at(&agent, 3), pin)).code, "validation.invalid");
}

#[test]
fn references_must_be_there() {
    let ws = Ws::new();
    let skill = ws.skill(None, "faq", "1");
    let other = ws.skill(None, "other", "1");
    let agent = ws.agent(None, "support").id;
    for (id, version) in [
        ("skill_none", "latest"),
        (skill.id.as_str(), "skver_none"),
        (skill.id.as_str(), other.made.as_deref().unwrap()),
    ] {
        let body = json!({"skills": [{"type": "custom", "skill_id": id, "version": version}]});
        assert_eq!(ws.refused(&anyone(), update(Kind::Agent, at(&agent, 1), body)).code, "validation.invalid");
    }
}

#[test]
fn blobs_are_checked_and_held_once() {
    let ws = Ws::new();
    let a = ws.blob("a");
    ws.blob("a");
    let absent = Digest::of(b"b");
    let wrong = BlobPut { digest: absent, bytes: b"a".to_vec() };
    assert_eq!(ws.refused(&anyone(), Request::BlobPut(wrong)).code, "content.mismatch");
    let missing = ws.call(&anyone(), Request::BlobsMissing(Digests { digests: vec![a, absent] })).unwrap();
    assert_eq!(missing, Response::Missing(vec![absent]));
    assert_eq!(ws.call(&anyone(), Request::BlobGet(BlobGet { digest: a })).unwrap(), Response::Bytes(b"a".to_vec()));
    assert_eq!(ws.refused(&anyone(), Request::BlobGet(BlobGet { digest: absent })).code, "resource.not_found");
    assert_eq!(ws.facts(&a.to_string()).len(), 1);
}

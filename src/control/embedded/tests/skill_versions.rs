//! Versions of skills as the wire has them, and how one goes; files of a tree's revision; hand-over.

use serde_json::json;

use super::*;

const A: &str = "acme/a";
const B: &str = "acme/b";

fn publish(ws: &Ws, context: &Context, skill: &str, version: u64, text: &str) -> String {
    let content = ws.skill_files("s", text);
    let request = Publish { kind: Kind::Skill, at: at(skill, version), content, applied: None };
    ws.written(context, Request::Publish(request)).made.unwrap()
}

fn of(skill: &str, version: &str) -> VersionOf {
    VersionOf { kind: Kind::Skill, id: skill.to_owned(), version: version.to_owned() }
}

fn delete(skill: &str, version: &str) -> Request {
    Request::VersionDelete(of(skill, version))
}

fn with_skill(skill: &str, version: &str) -> Value {
    json!({"name": "a", "model": "m", "skills": [{"type": "custom", "skill_id": skill, "version": version}]})
}

#[test]
fn a_version_tells_name_and_description_of_its_file() {
    let ws = Ws::new();
    let made = ws.skill(None, "s", "1");
    let latest = ws.version(Kind::Skill, &made.id, "latest");
    assert_eq!(latest["id"], json!(made.made));
    for (key, value) in [("type", "skill_version"), ("skill_id", &made.id), ("name", "s"), ("description", "d")] {
        assert_eq!(latest[key], value, "{key}");
    }
    assert_eq!(latest["entries"][0]["path"], "SKILL.md");
    let Response::Entries(files) = ws.call(&anyone(), Request::Content(of(&made.id, "latest"))).unwrap() else {
        panic!()
    };
    assert_eq!(files[0].path, "SKILL.md");
}

#[test]
fn a_version_goes_but_not_the_only_one_and_never_from_under_an_agent() {
    let ws = Ws::new();
    let made = ws.skill(None, "s", "1");
    let (skill, first) = (made.id, made.made.unwrap());
    assert_eq!(ws.refused(&anyone(), delete(&skill, &first)).code, "content.only_version");
    let second = publish(&ws, &anyone(), &skill, 1, "2");
    let agent = ws.written(&anyone(), create(Kind::Agent, object(with_skill(&skill, &second)), None)).id;
    let used = ws.refused(&anyone(), delete(&skill, &second));
    assert_eq!((used.code, &used.details["by"]), ("validation.conflict", &json!([agent])));
    for unknown in ["latest", "skver_none", &ws.skill(None, "t", "1").made.unwrap()] {
        assert_eq!(ws.refused(&anyone(), delete(&skill, unknown)).code, "resource.not_found", "{unknown}");
    }
    // Now only an old version of the agent names it: it goes, and what that version is made of stays readable.
    ws.written(&anyone(), update(Kind::Agent, at(&agent, 1), json!({"skills": []})));
    let gone = ws.written(&anyone(), delete(&skill, &second));
    assert_eq!((gone.version, gone.changed), (3, true));
    assert_eq!(ws.get(Kind::Skill, &skill)["latest_version_id"], json!(first));
    assert_eq!(ws.version(Kind::Skill, &skill, "latest")["id"], json!(first));
    assert_eq!(ids(&ws.versions(Kind::Skill, &skill).unwrap()), [first.as_str()]);
    assert_eq!(ws.version(Kind::Skill, &skill, &second)["number"], 2);
    let again = create(Kind::Agent, object(with_skill(&skill, &second)), None);
    assert_eq!(ws.refused(&anyone(), again).code, "validation.invalid");
    assert_eq!(ws.refused(&anyone(), delete(&skill, &second)).code, "resource.not_found");
    // A number is never given twice, and one that nobody names is gone.
    let third = publish(&ws, &anyone(), &skill, 3, "3");
    assert_eq!(ws.version(Kind::Skill, &skill, "latest")["number"], 3);
    ws.written(&anyone(), delete(&skill, &third));
    assert_eq!(ws.refused(&anyone(), Request::Version(of(&skill, &third))).code, "resource.not_found");
}

#[test]
fn a_version_of_an_owner_goes_by_that_owner_and_reads_as_drift_where_it_was_the_newest() {
    let ws = Ws::new();
    let skill = ws.skill(Some(A), "s", "1").id;
    let second = publish(&ws, &by(A), &skill, 1, "2");
    assert_eq!(ws.refused(&anyone(), delete(&skill, &second)).code, "authoring.owned_elsewhere");
    assert_eq!(ws.refused(&by(B), delete(&skill, &second)).code, "authoring.owned_elsewhere");
    let before = ws.summary(A, &skill);
    ws.written(&by(A), delete(&skill, &second));
    let after = ws.summary(A, &skill);
    assert_ne!((before.live_digest, before.content), (after.live_digest, after.content));
    let fact = ws.facts(&skill).pop().unwrap();
    assert_eq!(fact.fields, ["content".to_owned(), format!("versions.{second}")]);
    assert_eq!((fact.before, fact.after), (before.content, after.content));
}

#[test]
fn files_of_a_revision_are_read_by_path() {
    let ws = Ws::new();
    let content = ws.content(&[("a/b.txt", "one"), ("c", "two")]);
    let body = object(json!({"name": "t", "source": {"kind": "upload"}}));
    let Request::Create(request) = create(Kind::FileTree, body, None) else { unreachable!() };
    let tree = ws.written(&anyone(), Request::Create(Create { content: Some(content), ..request })).id;
    let file = |version: &str, path: &str| {
        let (version, path) = (version.to_owned(), path.to_owned());
        ws.call(&anyone(), Request::TreeFile(TreeFile { id: tree.clone(), version, path }))
    };
    for version in ["1", "latest"] {
        assert_eq!(file(version, "a/b.txt").unwrap(), Response::Bytes(b"one".to_vec()));
    }
    for (version, path) in [("1", "a"), ("1", "../c"), ("1", "/c"), ("2", "c"), ("01", "c"), ("x", "c")] {
        assert_eq!(file(version, path).unwrap_err().code, "resource.not_found", "{version} {path}");
    }
    let all = VersionOf { kind: Kind::FileTree, id: tree.clone(), version: "latest".to_owned() };
    let Response::Entries(files) = ws.call(&anyone(), Request::Tree(all)).unwrap() else { panic!() };
    assert_eq!(files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["a/b.txt", "c"]);
}

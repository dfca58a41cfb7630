//! Skills of an agent in their three shapes.

use serde_json::{Value, json};

use crate::model::Kind;
use crate::model::digest::canonical_json;
use crate::model::kinds::{Ids, MissingId, Object, Ref, Refs, Selector, Target, WireRef, shape};

const LATEST: &str = "latest";

/// `{skill, content | version | follow}` and `{anthropic, version?}`, sorted. A skill without a choice follows
/// `latest`, as on the wire; what this project publishes comes with its `content`.
pub(super) fn canonical(list: Option<&Value>) -> Vec<Value> {
    let mut out: Vec<Value> = list.and_then(Value::as_array).into_iter().flatten().map(one).collect();
    out.sort_by_cached_key(canonical_json);
    out.dedup();
    out
}

fn one(entry: &Value) -> Value {
    let mut out = Object::new();
    if entry.get("anthropic").is_some() {
        shape::put_whole(&mut out, entry, "anthropic");
        shape::put_scalar(&mut out, entry, "version", LATEST);
        return Value::Object(out);
    }
    let skill = entry.get("skill").unwrap_or(entry);
    out.insert("skill".to_owned(), shape::reference(Kind::Skill, skill));
    if let Some(content) = entry.get("content").or_else(|| entry.get("pin")) {
        out.insert("content".to_owned(), content.clone());
    } else if let Some(version) = entry.get("version").filter(|v| !v.is_null()) {
        out.insert("version".to_owned(), version.clone());
    } else {
        out.insert("follow".to_owned(), json!(LATEST));
    }
    Value::Object(out)
}

pub(super) fn to_wire(list: &Value, ids: &Ids) -> Result<Value, MissingId> {
    list.as_array().into_iter().flatten().map(|entry| one_to_wire(entry, ids)).collect()
}

fn one_to_wire(entry: &Value, ids: &Ids) -> Result<Value, MissingId> {
    if let Some(id) = entry.get("anthropic") {
        let mut out = json!({ "type": "anthropic", "skill_id": id });
        if let Some(version) = entry.get("version") {
            out["version"] = version.clone();
        }
        return Ok(out);
    }
    let skill = entry.get("skill").unwrap_or(&Value::Null);
    let target = Target::of(Kind::Skill, skill).ok_or_else(|| MissingId(skill.to_string()))?;
    let version = match (shape::content_of(entry), entry.get("version")) {
        (Some(digest), _) => ids.version(&target, &digest)?,
        // A version by its id: one that is live, but whose content is not known.
        (None, Some(Value::String(version))) => version.clone(),
        // Plan turns numbers into content; one that is left has no id to send.
        (None, Some(number)) => return Err(MissingId(format!("{}#{number}", target.key()))),
        (None, None) => LATEST.to_owned(),
    };
    Ok(json!({ "type": "custom", "skill_id": ids.resource(&target)?, "version": version }))
}

/// `applied` tells a version that a person chose from one that the server filled in.
pub(super) fn from_wire(list: &[Value], refs: &Refs, applied: Option<&Value>) -> Value {
    let unpinned = |id: &str| {
        let entries = applied.and_then(Value::as_array).into_iter().flatten();
        let mut entries = entries.filter(|e| e.get("anthropic").and_then(Value::as_str) == Some(id));
        entries.any(|e| e.get("version").is_none())
    };
    let map = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let id = text("skill_id").unwrap_or_default();
        let version = text("version").filter(|v| *v != LATEST);
        if text("type") == Some("anthropic") {
            let mut out = json!({ "anthropic": id });
            if let Some(version) = version.filter(|_| !unpinned(id)) {
                out["version"] = json!(version);
            }
            return out;
        }
        let skill = refs.target(Kind::Skill, id).to_value();
        match version.map(|v| (v, refs.contents.get(v))) {
            None => json!({ "skill": skill, "follow": LATEST }),
            Some((_, Some(content))) => json!({ "skill": skill, "content": content }),
            Some((version, None)) => json!({ "skill": skill, "version": version }),
        }
    };
    list.iter().map(map).collect()
}

pub(super) fn refs(spec: &Value) -> Vec<Ref> {
    let list = spec.get("skills").and_then(Value::as_array).into_iter().flatten();
    let one = |(i, entry): (usize, &Value)| {
        let target = Target::of(Kind::Skill, entry.get("skill")?)?;
        let number = entry.get("version").and_then(Value::as_u64);
        let selector = match (shape::content_of(entry), number) {
            (Some(digest), _) => Selector::Content(digest),
            (None, Some(n)) => Selector::Number(n),
            (None, None) if entry.get("follow").is_some() => Selector::Latest,
            (None, None) => Selector::None,
        };
        Some(Ref { field: "skills", pointer: format!("/skills/{i}/skill"), target, selector })
    };
    list.enumerate().filter_map(one).collect()
}

pub(super) fn wire_refs(body: &Object) -> Vec<WireRef> {
    let list = body.get("skills").and_then(Value::as_array).into_iter().flatten();
    let custom = list.filter(|e| e.get("type").and_then(Value::as_str) == Some("custom"));
    let one = |entry: &Value| {
        let id = entry.get("skill_id")?.as_str()?.to_owned();
        let version = entry.get("version").and_then(Value::as_str).filter(|v| *v != LATEST);
        Some(WireRef { kind: Kind::Skill, id, follows: version.is_none(), version: version.map(str::to_owned) })
    };
    custom.filter_map(one).collect()
}

//! Wire bodies: what is stored of them, how an update merges, what the server adds when it answers.

use serde_json::{Map, Value, json};

use crate::control::embedded::error::{Result, invalid, refused};
use crate::control::fields;
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::{Object, def};
use crate::store::resource::{Resource, State};

/// Crockford's base32, lower case: no letter that reads as a digit.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A prefix and 26 characters; ids of rising numbers sort as the numbers do.
pub(super) fn id_text(prefix: &str, number: u128) -> String {
    let mut out = String::with_capacity(prefix.len() + 26);
    out.push_str(prefix);
    for place in (0..26).rev() {
        let five = usize::try_from((number >> (place * 5)) & 31).unwrap_or(0);
        out.push(char::from(ALPHABET[five]));
    }
    out
}

/// What the wire calls an object of this kind.
pub(super) fn type_of(kind: Kind) -> &'static str {
    let plural = def(kind).plural;
    plural.strip_suffix('s').unwrap_or(plural)
}

/// Top-level fields that a request may set.
fn fields(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Agent => &[
            "name",
            "model",
            "description",
            "system",
            "tools",
            "mcp_servers",
            "skills",
            "multiagent",
            "metadata",
            "execution_identity",
            "compaction_policy",
        ],
        Kind::Environment => &["name", "description", "config", "metadata", "scope"],
        Kind::FileTree => &["name", "source", "acted_as", "metadata"],
        Kind::FileTreeMount => {
            &["agent_id", "file_tree_id", "access", "selection", "mount_path", "writeback", "metadata"]
        }
        Kind::MemoryMount => {
            &["agent_id", "memory_store_id", "access", "selection", "mount_path", "instructions", "metadata"]
        }
        Kind::MemoryStore => &["name", "description", "owner", "metadata"],
        Kind::Skill => &["name", "display_name"],
    }
}

/// Fields that cannot be empty or cleared.
fn required(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Agent => &["name", "model"],
        Kind::Environment | Kind::MemoryStore | Kind::FileTree => &["name"],
        Kind::FileTreeMount => &["agent_id", "file_tree_id"],
        Kind::MemoryMount => &["agent_id", "memory_store_id"],
        Kind::Skill => &[],
    }
}

/// The body that a create stores.
pub(super) fn created(kind: Kind, body: &Object) -> Result<Object> {
    let mut out = merged(kind, &Object::new(), body)?;
    if kind == Kind::Skill
        && !out.contains_key("display_name")
        && let Some(name) = out.get("name").cloned()
    {
        out.insert("display_name".to_owned(), name);
    }
    Ok(out)
}

/// The body after an update: omitted keeps, null clears, `metadata` and an environment's `config` are merged.
pub(super) fn merged(kind: Kind, old: &Object, change: &Object) -> Result<Object> {
    let mut out = old.clone();
    for (key, value) in change {
        if !fields(kind).contains(&key.as_str()) {
            return Err(invalid(format!("{} has no field `{key}`", type_of(kind))));
        }
        match (kind, key.as_str()) {
            (_, "metadata") => merge_metadata(kind, &mut out, value)?,
            (Kind::Agent, "model") => {
                let model = model_of(out.get("model"), value);
                set(&mut out, key, model);
            }
            (Kind::Agent, "multiagent") => {
                let merged = multiagent_of(out.get("multiagent"), value);
                set(&mut out, key, merged);
            }
            (Kind::Environment, "config") => {
                let config = config_of(out.get("config"), value)?;
                set(&mut out, key, config);
            }
            // The one empty text that is kept.
            (Kind::Environment, "description") if value.is_string() => {
                out.insert(key.clone(), value.clone());
            }
            _ => set(&mut out, key, value.clone()),
        }
    }
    checked(kind, out)
}

/// Null and empty lists clear; so does an empty text where the wire says so.
fn set(out: &mut Object, key: &str, value: Value) {
    let clears = match &value {
        Value::Null => true,
        Value::Array(a) => a.is_empty(),
        Value::String(s) => s.is_empty() && matches!(key, "system" | "instructions" | "description"),
        _ => false,
    };
    if clears {
        out.remove(key);
    } else {
        out.insert(key.to_owned(), value);
    }
}

fn merge_metadata(kind: Kind, out: &mut Object, change: &Value) -> Result<()> {
    let mut all = match out.remove("metadata") {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    match change {
        Value::Null => all.clear(),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Null => drop(all.remove(key)),
                    // An environment takes an empty text for "delete"; the others keep it.
                    Value::String(s) if s.is_empty() && kind == Kind::Environment => drop(all.remove(key)),
                    Value::String(_) => drop(all.insert(key.clone(), value.clone())),
                    _ => return Err(refused(&codes::METADATA, format!("metadata `{key}` must be a text"))),
                }
            }
        }
        _ => return Err(refused(&codes::METADATA, "metadata must be an object of texts")),
    }
    if all.len() > 16 {
        return Err(refused(&codes::METADATA, format!("metadata holds at most 16 pairs, not {}", all.len())));
    }
    for (key, value) in &all {
        let long = value.as_str().is_some_and(|v| v.chars().count() > 512);
        if key.is_empty() || key.chars().count() > 64 || long {
            let message = format!("metadata `{key}`: a key has 1 to 64 characters, a value at most 512");
            return Err(refused(&codes::METADATA, message));
        }
    }
    if !all.is_empty() {
        out.insert("metadata".to_owned(), Value::Object(all));
    }
    Ok(())
}

/// A model is replaced whole, save that its effort stays when the id does and no effort is sent.
fn model_of(old: Option<&Value>, new: &Value) -> Value {
    let mut new = match new {
        Value::String(id) => json!({ "id": id }),
        other => other.clone(),
    };
    let kept = old.filter(|o| o.get("id") == new.get("id")).and_then(|o| o.get("effort")).cloned();
    if let (Value::Object(map), Some(effort)) = (&mut new, kept) {
        map.entry("effort").or_insert(effort);
    }
    if let Value::Object(map) = &mut new {
        map.retain(|_, v| !v.is_null());
    }
    new
}

/// The newer form merges level by level over itself; anything else replaces.
fn multiagent_of(old: Option<&Value>, new: &Value) -> Value {
    const MERGING: &str = "multiagent_20261001";
    let is = |v: &Value| v.get("type").and_then(Value::as_str) == Some(MERGING);
    match old {
        Some(old) if is(old) && is(new) => merge_deep(old, new),
        _ => new.clone(),
    }
}

fn merge_deep(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return new.clone() };
    if new.get("type").is_some_and(|t| old.get("type") != Some(t)) {
        return Value::Object(new.clone());
    }
    let mut out = old.clone();
    for (key, value) in new {
        match (value, old.get(key)) {
            (Value::Null, _) => drop(out.remove(key)),
            (_, Some(had)) => drop(out.insert(key.clone(), merge_deep(had, value))),
            (_, None) => drop(out.insert(key.clone(), value.clone())),
        }
    }
    Value::Object(out)
}

/// Nested omitted fields keep; the type cannot change.
fn config_of(old: Option<&Value>, new: &Value) -> Result<Value> {
    let cloud = json!({"type": "cloud"});
    let Some(old) = old else { return Ok(merge_deep(&cloud, new)) };
    let ty = |v: &Value| v.get("type").and_then(Value::as_str).map(str::to_owned);
    if ty(new).is_some_and(|t| ty(old) != Some(t)) {
        return Err(refused(&codes::CONFIG_TYPE, "`config.type` of an environment cannot change"));
    }
    Ok(merge_deep(old, new))
}

/// Whatever is stored is a whole body that the kind takes, however it came to be.
fn checked(kind: Kind, body: Object) -> Result<Object> {
    check(kind, &body)?;
    let body = Value::Object(body);
    let wrong = fields::of_whole(kind, &body);
    match body {
        Value::Object(body) if wrong.is_empty() => Ok(body),
        _ => Err(fields::invalid(&wrong)),
    }
}

fn check(kind: Kind, body: &Object) -> Result<()> {
    for field in required(kind) {
        let ok = match body.get(*field) {
            Some(Value::String(s)) => !s.trim().is_empty(),
            Some(Value::Object(o)) => !o.is_empty(),
            _ => false,
        };
        if !ok {
            return Err(invalid(format!("`{field}` of {} must be there and not be empty", type_of(kind))));
        }
    }
    let most = if kind == Kind::Agent { 256 } else { 255 };
    for field in ["name", "display_name"] {
        match body.get(field) {
            None => {}
            Some(Value::String(s)) if s.chars().count() <= most && !s.chars().any(char::is_control) => {}
            Some(_) => {
                return Err(invalid(format!("`{field}` must be a text of at most {most} characters, none a control")));
            }
        }
    }
    Ok(())
}

/// The shown name.
pub(super) fn name_of(kind: Kind, body: &Object) -> String {
    let keys: &[&str] = match kind {
        Kind::Skill => &["display_name", "name"],
        Kind::MemoryMount | Kind::FileTreeMount => &["mount_path"],
        _ => &["name"],
    };
    keys.iter().find_map(|k| body.get(*k).and_then(Value::as_str)).unwrap_or_default().to_owned()
}

/// The body as it is answered: with id, type, version, times and, where it has an owner, `authoring`.
pub(super) fn rendered(r: &Resource, body: Value) -> Value {
    let mut out = match body {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let mut add = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    add("id", json!(r.id));
    add("type", json!(type_of(r.kind)));
    add("version", json!(r.version));
    add("created_at", json!(r.created_at));
    add("updated_at", json!(r.updated_at));
    add("archived_at", json!(r.archived_at));
    match r.kind {
        Kind::Skill => {
            add("latest_version_id", json!(r.content_version));
            add("source", json!({"type": "custom"}));
        }
        Kind::FileTree => add("latest_revision", json!(r.number)),
        Kind::MemoryStore => add("latest_version", json!(r.number)),
        _ => {}
    }
    let authoring = r.owner.as_ref().map(|owner| {
        let mut authoring = json!({
            "owner": owner,
            "address": r.address,
            "protected": r.protected,
            "seq": r.seq,
            "superseded": r.superseded,
        });
        if r.offered.is_some() {
            authoring["offered"] = json!(r.offered);
            authoring["offered_at"] = json!(r.offered_at);
        }
        authoring
    });
    add("authoring", json!(authoring));
    Value::Object(out)
}

/// Is it there to be read?
pub(super) fn is_readable(r: &Resource) -> bool {
    r.state != State::Deleted
}

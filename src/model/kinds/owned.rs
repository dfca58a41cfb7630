//! What an owner owns of a resource, and the digest over it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::kinds::{Change, Default_, List, def};
use crate::model::{Digest, Kind};

/// What its owner last applied to a resource.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Applied {
    /// The canonical form.
    pub spec: Arc<Value>,
    /// Canonical fields that the owner does not own (modes `ignore` and `seed`): `description`,
    /// `labels.team`, `contents./policy/a.md`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unowned: Vec<String>,
}

impl Applied {
    /// The digest of what is owned of it: [`owned_digest`] of the spec itself.
    pub fn digest(&self, kind: Kind) -> Digest {
        owned_digest(kind, &self.spec, self)
    }
}

/// Is a canonical path (`description`, `labels.team`) in a list of what is not owned, by itself or with its whole field?
pub fn is_unowned(unowned: &[String], path: &str) -> bool {
    let field = path.split_once('.').map_or(path, |(field, _)| field);
    unowned.iter().any(|u| u == path || u == field)
}

/// The digest of the part of a canonical form that its owner owns: less the `unowned` fields, `server` fields
/// that `applied` does not hold, and memories that are neither in `applied` nor under an `enforce` prefix;
/// and of the list of `unowned` fields, where there are any. Live = applied = wanted exactly when there is nothing to do and nothing to report.
pub fn owned_digest(kind: Kind, canonical: &Value, applied: &Applied) -> Digest {
    let part = owned_part(kind, canonical, applied);
    if applied.unowned.is_empty() {
        return Digest::of_json(&part);
    }
    // A field that the file never had may be owned again: then the list alone says that there is a difference.
    let unowned: BTreeSet<&String> = applied.unowned.iter().collect();
    Digest::of_json(&(part, unowned))
}

/// The value that [`owned_digest`] is over.
pub fn owned_part(kind: Kind, canonical: &Value, applied: &Applied) -> Value {
    let mut out = canonical.as_object().cloned().unwrap_or_default();
    for field in def(kind).fields {
        let known = applied.spec.get(field.name);
        if field.default == Default_::Server && known.is_none() {
            out.remove(field.name);
        }
        if field.name == "contents" {
            let prefixes = enforce_prefixes(&applied.spec);
            if let Some(Value::Object(files)) = out.get_mut("contents") {
                files.retain(|path, _| {
                    known.and_then(|k| k.get(path)).is_some() || prefixes.iter().any(|p| is_under(path, p))
                });
            }
            if out.get("contents").and_then(Value::as_object).is_some_and(Map::is_empty) {
                out.remove("contents");
            }
        }
    }
    for path in &applied.unowned {
        match path.split_once('.') {
            None => {
                out.remove(path);
            }
            Some((field, key)) => {
                if let Some(Value::Object(map)) = out.get_mut(field) {
                    map.remove(key);
                    if map.is_empty() {
                        out.remove(field);
                    }
                }
            }
        }
    }
    Value::Object(out)
}

/// What counts as applied once another owner has a resource: what is live, as `mine`, the new owner's view, has it. A
/// field that had moved from what `before` says keeps that, so that who holds a held edit goes on to hold it; not where
/// it refers to something, since owners read references otherwise. What only the record knows, and memories, stay as
/// they were applied. `theirs` is the live form in the view of the owner before.
pub fn carried(kind: Kind, before: &Applied, theirs: &Value, mine: &Value) -> Applied {
    let def = def(kind);
    let mut spec = Map::new();
    for field in def.fields {
        let [was, there, here] = [&*before.spec, theirs, mine].map(|form| form.get(field.name));
        let recorded = field.change == Change::Record || field.change == Change::Publish && field.list == List::PerKey;
        let chosen = field.default == Default_::Server && was.is_none();
        let refers = || (def.refs)(theirs).iter().chain(&(def.refs)(&before.spec)).any(|r| r.field == field.name);
        let value = if recorded || chosen {
            was.cloned()
        } else if field.list == List::PerKey {
            per_key(was, there, here)
        } else if was == there || refers() {
            here.cloned()
        } else {
            was.cloned()
        };
        spec.extend(value.map(|value| (field.name.to_owned(), value)));
    }
    Applied { spec: Arc::new(Value::Object(spec)), unowned: before.unowned.clone() }
}

/// The same, key by key.
fn per_key(was: Option<&Value>, there: Option<&Value>, here: Option<&Value>) -> Option<Value> {
    let [was, there, here] = [was, there, here].map(|map| map.and_then(Value::as_object).cloned().unwrap_or_default());
    let keys: BTreeSet<&String> = was.keys().chain(here.keys()).collect();
    let kept = |key: &String| if was.get(key) == there.get(key) { here.get(key) } else { was.get(key) };
    let map: Map<String, Value> = keys.into_iter().filter_map(|k| Some((k.clone(), kept(k)?.clone()))).collect();
    (!map.is_empty()).then_some(Value::Object(map))
}

/// The prefixes of a canonical memory store whose mode is `enforce`.
pub fn enforce_prefixes(store: &Value) -> Vec<String> {
    let modes = store.get("modes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    modes
        .iter()
        .filter(|m| m.get("mode").and_then(Value::as_str) == Some("enforce"))
        .filter_map(|m| m.get("at").and_then(Value::as_str).map(str::to_owned))
        .collect()
}

/// For each path, by its place in the list: an earlier one that contains it or lies in it, if there is one. Each
/// is held against its folders and against what is right below it, not against every other.
pub fn overlaps<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Option<usize>> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for (i, path) in paths.into_iter().enumerate() {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let above = folder.match_indices('/').filter_map(|(end, _)| seen.get(&folder[..=end]));
        let below = seen.range(folder.clone()..).next().filter(|(other, _)| other.starts_with(&folder));
        out.push(above.chain(below.map(|(_, j)| j)).min().copied());
        seen.entry(folder).or_insert(i);
    }
    out
}

/// Is a memory path the prefix itself or below it? `/` is above all.
pub fn is_under(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_stays_moved_under_another_owner() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let was =
            r#"{"name":"a","instructions":"i","description":"d","skills":[{"skill":"s"}],"labels":{"x":"1","y":"1"}}"#;
        let before = Applied { spec: Arc::new(json(was)), unowned: vec!["labels.z".into()] };
        let theirs =
            json(r#"{"name":"a","instructions":"moved","skills":[{"skill":"t"}],"labels":{"x":"2","y":"1","w":"1"}}"#);
        let mine = json(
            r#"{"name":"a","instructions":"moved","skills":[{"skill":"acme/a:Skill/t"}],"labels":{"x":"2","y":"1","w":"1"}}"#,
        );
        let now = carried(Kind::Agent, &before, &theirs, &mine);
        let want = r#"{"name":"a","instructions":"i","description":"d","skills":[{"skill":"acme/a:Skill/t"}],"labels":{"x":"1","y":"1"}}"#;
        assert_eq!((&*now.spec, &now.unowned), (&json(want), &before.unowned));
        // Memories and their modes are what they were applied as; what nobody applied is not taken.
        let before = Applied { spec: Arc::new(json(r#"{"name":"m","contents":{"/a":"1"}}"#)), unowned: vec![] };
        let live = json(r#"{"name":"m","contents":{"/a":"2","/b":"3"}}"#);
        assert_eq!(carried(Kind::MemoryStore, &before, &live, &live).spec, before.spec);
    }

    #[test]
    fn paths_that_contain_each_other_are_found() {
        let of = |paths: &[&str]| overlaps(paths.iter().copied());
        assert_eq!(of(&["/a", "/b", "/a/b", "/ab"]), [None, None, Some(0), None]);
        assert_eq!(of(&["/a/b", "/a!", "/a"]), [None, None, Some(0)]);
        assert_eq!(of(&["/a", "/a/"]), [None, Some(0)]);
        assert_eq!(of(&["/x/y", "/"]), [None, Some(0)]);
        assert_eq!(of(&["/", "/x"]), [None, Some(0)]);
    }
}

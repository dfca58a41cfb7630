//! The kind Skill: a folder with `SKILL.md`, published as immutable versions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Kind;
use crate::model::kinds::rules::{Rules, child};
use crate::model::kinds::{Change, Default_, Field, KindDef, List, Object, Refs, Retire, schema, shape};

/// `spec` of a Skill. A folder under `skills/` needs no document; this is for options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Where the folder is.
    pub source: Source,
    /// The name shown to people, 1–255 characters on one line. Default: the skill's name. It cannot change: a
    /// new one makes a new skill that takes this one's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub display_name: Option<String>,
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A folder with a `SKILL.md`, relative to this file. At most 30 MB.
    #[schemars(length(min = 1))]
    pub path: String,
}

/// The row of Skill.
pub static DEF: KindDef = KindDef {
    kind: Kind::Skill,
    plural: "skills",
    id_prefix: "skill_",
    doc: "A folder with `SKILL.md`, published as immutable versions; instructions, never permission. It cannot go while the current version of an unarchived agent names it.",
    retire: Retire::Delete,
    comes_back: true,
    unique_name: false,
    fields: FIELDS,
    example: EXAMPLE,
    replaces: |_, _| Vec::new(),
    schema: || schema::of_spec::<Spec>(),
    full_schema: || schema::full::<Spec>(),
    check: |spec| {
        let mut rules = Rules::default();
        rules.length(spec, "", "display_name", 1..=255);
        rules.one_line(spec, "", "display_name");
        if let Some(source) = spec.get("source") {
            rules.length(source, &child("", "source"), "path", 1..=4096);
        }
        rules.finish()
    },
    canonical,
    to_wire: |spec, _, only| {
        let mut body = shape::Body::new(spec, only);
        body.same("name", "name", Value::Null)?;
        body.put("display_name", "display_name", Value::Null, |v| Ok(v.clone()))?;
        Ok(body.finish())
    },
    from_wire,
    answered: |_, _| {},
    refs: |_| Vec::new(),
    wire_refs: |_| Vec::new(),
};

const FIELDS: &[Field] = &[
    Field {
        name: "name",
        default: Default_::Required,
        limit: "`[a-z0-9]+(-[a-z0-9]+)*`, at most 64 bytes",
        change: Change::Replace,
        clear: "",
        doc: "The skill's name: `metadata.name`, the folder's name and the front matter's `name`.",
        ..Field::TEXT
    },
    Field {
        name: "display_name",
        limit: "1\u{2013}255 characters, one line; default: the name",
        change: Change::Replace,
        doc: "The name shown to people.",
        ..Field::TEXT
    },
    Field {
        name: "content",
        ty: "digest",
        default: Default_::Required,
        limit: "30 MB; over 200 files a warning",
        change: Change::Publish,
        clear: "",
        doc: "The folder's files, by digest; authored as `source.path`.",
        ..Field::TEXT
    },
    Field {
        change: Change::Record,
        list: List::PerKey,
        doc: "Labels from `metadata.labels`; the wire has none for skills, so only the authoring record knows them.",
        ..Field::LABELS
    },
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: Skill
metadata: {name: upgrade-triage}
spec:
  source: {path: skills/upgrade-triage}
  display_name: Upgrade triage
";

fn canonical(name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_name(&mut out, &mut from, name);
    shape::take_text(&mut out, &mut from, "display_name");
    if out.get("display_name") == out.get("name") {
        out.remove("display_name");
    }
    shape::put_whole(&mut out, &from, "content");
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn from_wire(body: &Value, _refs: &Refs, applied: Option<&Value>) -> Value {
    let mut spec = Object::new();
    for key in ["name", "display_name", "content"] {
        shape::put_whole(&mut spec, body, key);
    }
    if let Some(labels) = applied.and_then(|a| a.get("labels")) {
        spec.insert("labels".to_owned(), labels.clone());
    }
    canonical("", Value::Object(spec), &BTreeMap::new())
}

//! What `explain` says: a row of the table of codes, a kind with its fields, one field.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::configuration::Key;
use crate::cli::view::style;
use crate::cli::view::words;
use crate::diag::Code;
use crate::model::kinds::{Change, Default_, Field, KindDef, List, Retire};

/// A code.
pub fn code(code: &Code) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} ({})", style::strong(code.code), words::severity(code.severity));
    for (name, text) in [("what", code.title), ("why", code.why), ("fix", code.fix)] {
        let _ = writeln!(out, "  {} {text}", style::faint(format!("{name:<5}")));
    }
    out
}

/// A code as a row of texts.
pub fn code_row(code: &Code) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("code", code.code.to_owned()),
        ("severity", words::severity(code.severity).to_owned()),
        ("title", code.title.to_owned()),
        ("why", code.why.to_owned()),
        ("fix", code.fix.to_owned()),
    ])
}

/// A kind with all of its fields.
pub fn kind(def: &KindDef) -> String {
    let mut out = String::new();
    let retire = match def.retire {
        Retire::Archive => "archived",
        Retire::Delete => "deleted",
    };
    let back = if def.comes_back { "" } else { ", which cannot be undone" };
    let _ = writeln!(out, "{}  {}", style::strong(def.kind), def.doc);
    let _ = writeln!(out, "  when it is wanted no more it is {retire}{back}\n");
    for field in def.fields {
        out.push_str(&self::field(field));
    }
    out
}

/// A key of `checkfu.yaml`.
pub fn key(key: &Key) -> String {
    let mut out = format!("{}  {}\n", style::strong(&key.path), key.doc);
    for (name, text) in [("takes", &key.takes), ("default", &key.default)] {
        if !text.is_empty() {
            let _ = writeln!(out, "  {} {}", style::faint(format!("{name:<8}")), text.replace('`', ""));
        }
    }
    out
}

/// A key of `checkfu.yaml` as a row of texts.
pub fn key_row(key: &Key) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("key", key.path.clone()),
        ("takes", key.takes.clone()),
        ("default", key.default.clone()),
        ("doc", key.doc.clone()),
    ])
}

/// A field.
pub fn field(field: &Field) -> String {
    let mut out = format!("{}  {}\n", style::strong(field.name), field.doc);
    for (name, text) in field_row(field) {
        if !matches!(name, "field" | "doc") && !text.is_empty() {
            let _ = writeln!(out, "  {} {text}", style::faint(format!("{name:<8}")));
        }
    }
    out
}

/// A field as a row of texts.
pub fn field_row(field: &Field) -> BTreeMap<&'static str, String> {
    let default = match field.default {
        Default_::Required => "required",
        Default_::Json(text) => text,
        Default_::Absent => "none",
        Default_::Server => "chosen by the server",
    };
    let change = match field.change {
        Change::Update => "update in place",
        Change::Replace => "a new resource takes its place",
        Change::Publish => "a new version",
        Change::Record => "recorded, nothing live changes",
    };
    let list = match field.list {
        List::No => String::new(),
        List::Ordered => "ordered".to_owned(),
        List::SetBy("") => "a set".to_owned(),
        List::SetBy(key) => format!("a set by {key}"),
        List::PerKey => "compared key by key".to_owned(),
    };
    BTreeMap::from([
        ("field", field.name.to_owned()),
        ("type", field.ty.to_owned()),
        ("default", default.to_owned()),
        ("limit", field.limit.to_owned()),
        ("change", change.to_owned()),
        ("list", list),
        ("clear", field.clear.to_owned()),
        ("doc", field.doc.to_owned()),
    ])
}

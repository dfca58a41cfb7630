//! Field modes: which canonical fields the owner does not own.

use jiff::civil::Date;
use serde_json::Value;

use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::manifest::{Document, FieldMode, Mode, nearest};
use crate::model::kinds::rules::normalized;
use crate::model::kinds::{self, Change, Field, KindDef, List, is_under};

/// Days before the end of a mode from which on a warning tells it.
const NOTICE_DAYS: i32 = 14;

/// Most fields that do not exist which are told of one document.
const MAX_UNKNOWN: usize = 100;

/// Canonical fields that are not owned, and those of them that are set at create.
#[derive(Debug, Default)]
pub(super) struct Unowned {
    pub(super) fields: Vec<String>,
    pub(super) seeded: Vec<String>,
}

/// Reads `metadata.fields` of a document.
pub(super) fn unowned(d: &Document, today: Date, found: &mut Diagnostics) -> Unowned {
    let mut out = Unowned::default();
    let mut unknown = 0;
    for (path, mode) in &d.fields {
        let pointer = format!("/fields/{}", path.replace('~', "~0").replace('/', "~1"));
        let field = match canonical_field(d, path) {
            Ok(field) => field,
            Err(why) => {
                unknown += 1;
                if unknown <= MAX_UNKNOWN {
                    let at = d.locate_metadata(&pointer, true);
                    found.push(Diagnostic::new(&code::FIELD_UNKNOWN, why.message).at(at, "").fix(why.fix));
                }
                continue;
            }
        };
        if let Some((whole, other)) = around(d, path).filter(|(_, other)| other.mode != mode.mode) {
            let message = format!("`{path}` is {}, and `{whole}`, which holds it, is {}", word(mode), word(other));
            let d = Diagnostic::new(&code::FIELD_OVERLAP, message).at(d.locate_metadata(&pointer, true), "");
            found.push(d.fix(format!("name what `{whole}` holds one by one, or take `{path}` out")));
        }
        if mode.mode == Mode::Ignore && mode.reason.as_deref().is_none_or(|r| r.trim().is_empty()) {
            let message = format!("`{path}` is ignored without a reason");
            let d = Diagnostic::new(&code::FIELD_REASON, message).at(d.locate_metadata(&pointer, true), "");
            found.push(d.fix("reason: …"));
        }
        if mode.mode == Mode::Own || is_over(d, path, &pointer, mode, today, found) {
            continue;
        }
        if mode.mode == Mode::Seed {
            out.seeded.push(field.clone());
        }
        out.fields.push(field);
    }
    out
}

/// The mode of the whole field that a path is one key of.
fn around<'d>(d: &'d Document, path: &str) -> Option<(&'d String, &'d FieldMode)> {
    let (parent, rest) = path.split_once('.')?;
    let (field, _) = rest.split_once('.')?;
    d.fields.get_key_value(&format!("{parent}.{field}"))
}

fn word(mode: &FieldMode) -> &'static str {
    match mode.mode {
        Mode::Own => "own",
        Mode::Seed => "seed",
        Mode::Ignore => "ignore",
    }
}

fn is_over(d: &Document, path: &str, pointer: &str, mode: &FieldMode, today: Date, found: &mut Diagnostics) -> bool {
    let Some(until) = &mode.until else { return false };
    let at = || d.locate_metadata(&format!("{pointer}/until"), false);
    let Ok(until) = until.parse::<Date>() else {
        let d = Diagnostic::new(&code::FIELD_DATE, format!("`{until}` is no date")).at(at(), "");
        found.push(d.fix("until: 2027-03-01"));
        return false;
    };
    if until <= today {
        let message = format!("the mode of `{path}` ended on {until}: the file decides about it again");
        found.push(Diagnostic::new(&code::FIELD_EXPIRED, message).at(at(), ""));
        return true;
    }
    let days = today.until(until).map_or(i32::MAX, |span| span.get_days());
    if days <= NOTICE_DAYS {
        let message = format!("the mode of `{path}` ends on {until}, in {days} days");
        found.push(Diagnostic::new(&code::FIELD_EXPIRES, message).at(at(), ""));
    }
    false
}

/// Why a path names nothing that could be owned or not.
struct NoField {
    message: String,
    fix: String,
}

/// `spec.description` → `description`, `metadata.labels.team` → `labels.team`. Only what is authored counts, under
/// the parent under which it is authored.
fn canonical_field(d: &Document, path: &str) -> Result<String, NoField> {
    let def = kinds::def(d.address.kind);
    let unknown = || {
        let known = fields_of(def);
        let near = nearest(path, known.iter().map(String::as_str));
        NoField {
            message: format!("`{path}` is no field of {}", d.address.kind),
            fix: near.map_or_else(|| format!("one of {}", known.join(", ")), |n| format!("did you mean `{n}`?")),
        }
    };
    let (parent, rest) = path.split_once('.').ok_or_else(unknown)?;
    let (field, key) = rest.split_once('.').map_or((rest, None), |(f, k)| (f, Some(k)));
    let row = authored(def).find(|row| row.name == field && parent_of(row) == parent).ok_or_else(unknown)?;
    match key {
        None => Ok(field.to_owned()),
        Some("") => Err(unknown()),
        Some(_) if row.list != List::PerKey => Err(NoField {
            message: format!("`{path}` is a part of `{field}`, which is compared and sent as a whole"),
            fix: format!("a mode for all of it: {parent}.{field}"),
        }),
        Some(key) if field == "contents" => memory(d, key).map(|key| format!("{field}.{key}")),
        Some(key) => Ok(format!("{field}.{key}")),
    }
}

/// The path of a memory, which must be one that an entry of `contents` could hold: no other is ever written.
fn memory<'k>(d: &Document, key: &'k str) -> Result<&'k str, NoField> {
    let right = normalized(key);
    if right != key {
        let message = format!("`{key}` is not the path of a memory, which is absolute and normalized");
        return Err(NoField { message, fix: format!("spec.contents.{right}") });
    }
    let entries = d.spec.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let prefixes: Vec<&str> = entries.iter().filter_map(|e| e.get("at")?.as_str()).collect();
    if d.broken || prefixes.iter().any(|prefix| is_under(key, prefix)) {
        return Ok(key);
    }
    let fix = match prefixes.first() {
        Some(first) => format!("spec.contents.{}/…", first.trim_end_matches('/')),
        None => "remove it: the file has no `contents`".to_owned(),
    };
    Err(NoField { message: format!("no entry of `contents` holds the memory `{key}`"), fix })
}

/// What a file can say; the rest of the canonical form is made of it.
fn authored(def: &'static KindDef) -> impl Iterator<Item = &'static Field> {
    def.fields.iter().filter(|row| row.change != Change::Record)
}

fn parent_of(row: &Field) -> &'static str {
    if row.name == "labels" { "metadata" } else { "spec" }
}

fn fields_of(def: &'static KindDef) -> Vec<String> {
    authored(def).map(|row| format!("{}.{}", parent_of(row), row.name)).collect()
}

//! Field modes: which canonical fields the owner does not own.

use jiff::civil::Date;

use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::manifest::{Document, FieldMode, Mode, nearest};
use crate::model::kinds::{self, KindDef, List};

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
        let Some(field) = canonical_field(kinds::def(d.address.kind), path) else {
            unknown += 1;
            if unknown > MAX_UNKNOWN {
                continue;
            }
            let known = fields_of(kinds::def(d.address.kind));
            let near = nearest(path, known.iter().map(String::as_str));
            let fix = near.map_or_else(|| format!("one of {}", known.join(", ")), |n| format!("did you mean `{n}`?"));
            let message = format!("`{path}` is no field of {}", d.address.kind);
            let d = Diagnostic::new(&code::FIELD_UNKNOWN, message).at(d.locate_metadata(&pointer, true), "").fix(fix);
            found.push(d);
            continue;
        };
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

/// `spec.description` → `description`, `metadata.labels.team` → `labels.team`.
fn canonical_field(def: &KindDef, path: &str) -> Option<String> {
    let path = path.strip_prefix("spec.").or_else(|| path.strip_prefix("metadata.")).unwrap_or(path);
    let (field, key) = path.split_once('.').map_or((path, None), |(f, k)| (f, Some(k)));
    let row = def.field(field)?;
    match key {
        None => Some(field.to_owned()),
        Some(key) => (row.list == List::PerKey && !key.is_empty()).then(|| format!("{field}.{key}")),
    }
}

fn fields_of(def: &KindDef) -> Vec<String> {
    let prefix = |f: &str| if f == "labels" { "metadata" } else { "spec" };
    def.fields.iter().map(|f| format!("{}.{}", prefix(f.name), f.name)).collect()
}

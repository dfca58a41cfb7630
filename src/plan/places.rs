//! Where in the project something is written that a plan speaks of.

use serde_json::Value;

use crate::desired::Wanted;

/// `file:line:column` of a canonical path: its own place, else that of a parent, else of the document.
pub(super) fn of(wanted: &Wanted, path: &str) -> String {
    let mut at = path;
    loop {
        if let Some(found) = wanted.places.get(at) {
            return found.to_string();
        }
        match at.rfind(['.', '[']) {
            Some(cut) => at = &at[..cut],
            None => return wanted.at.to_string(),
        }
    }
}

/// The same of a change from one value to another: of instructions its first changed line, in the text that holds
/// it, as far as that stands there as it is.
pub(super) fn of_change(wanted: &Wanted, path: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let text = |value: Option<&'_ Value>| value.and_then(Value::as_str).map(str::to_owned);
    let line = match (text(before), text(after)) {
        (Some(before), Some(after)) if path == "instructions" => changed_line(wanted, &before, &after),
        _ => None,
    };
    line.unwrap_or_else(|| of(wanted, path))
}

fn changed_line(wanted: &Wanted, before: &str, after: &str) -> Option<String> {
    let same = before.lines().zip(after.lines()).take_while(|(old, new)| old == new).count();
    let same = same.min(after.lines().count().saturating_sub(1));
    // In front of what is not the first part there is a blank line, which belongs to the part before.
    let part = wanted.instructions.iter().rev().find(|part| part.line <= same)?;
    let line = if part.verbatim { (same - part.line).min(part.lines.saturating_sub(1)) } else { 0 };
    let column = if line == 0 { part.at.column } else { 1 };
    Some(format!("{}:{}:{column}", part.at.file, part.at.line + u32::try_from(line).ok()?))
}

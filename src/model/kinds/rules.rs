//! Collects the broken rules of one authored spec, all at once. The rules that several kinds share live here.
//!
//! A rule looks at a value only when its JSON type is the right one: wrong types are the schema's business, so
//! nothing is reported twice.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::Value;

use crate::diag::Code;
use crate::diag::codes::kind;
use crate::model::kinds::{Problem, Target};
use crate::model::{Digest, Kind};

/// Labels a resource may have.
pub const MAX_LABELS: usize = 16;
/// Characters of a label's key.
pub const MAX_LABEL_KEY: usize = 64;
/// Characters of a label's value.
pub const MAX_LABEL_VALUE: usize = 512;
/// Bytes of a path inside a workspace.
pub const MAX_PATH_BYTES: usize = 1024;

/// The problems found so far.
#[derive(Debug, Default)]
pub struct Rules {
    problems: Vec<Problem>,
}

/// Appends a key or index to a JSON pointer, escaped.
pub fn child(pointer: &str, key: impl std::fmt::Display) -> String {
    let key = key.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{key}")
}

/// The items of a list with their pointers; nothing if it is no list.
pub fn items<'a>(spec: &'a Value, at: &str, key: &str) -> Vec<(String, &'a Value)> {
    let list = spec.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let at = child(at, key);
    list.iter().enumerate().map(|(i, v)| (child(&at, i), v)).collect()
}

impl Rules {
    /// All problems, in the order in which the rules ran.
    pub fn finish(self) -> Vec<Problem> {
        self.problems
    }

    /// Adds a problem.
    pub fn say(
        &mut self,
        code: &'static Code,
        at: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.problems.push(Problem::new(code, at, message).fix(fix));
    }

    /// A text at `at/key` has so many characters.
    pub fn length(&mut self, spec: &Value, at: &str, key: &str, limit: RangeInclusive<usize>) {
        if let Some(text) = spec.get(key).and_then(Value::as_str) {
            self.text(&child(at, key), key, text, limit);
        }
    }

    /// A text has so many characters.
    pub fn text(&mut self, at: &str, what: &str, text: &str, limit: RangeInclusive<usize>) {
        let n = text.chars().count();
        if n > *limit.end() {
            let max = limit.end();
            self.say(
                &kind::LIMIT,
                at,
                format!("`{what}` has {n} characters; at most {max} are allowed"),
                format!("shorten it by {} characters", n - max),
            );
        } else if n < *limit.start() {
            self.say(
                &kind::LIMIT,
                at,
                format!("`{what}` is too short: at least {} characters", limit.start()),
                "write a text, or remove the key",
            );
        }
    }

    /// A list at `at/key` has so many items.
    pub fn count(&mut self, spec: &Value, at: &str, key: &str, limit: RangeInclusive<usize>) {
        let Some(n) = spec.get(key).and_then(Value::as_array).map(Vec::len) else { return };
        if n > *limit.end() {
            self.say(
                &kind::LIMIT,
                child(at, key),
                format!("`{key}` has {n} items; at most {} are allowed", limit.end()),
                format!("remove {} items", n - limit.end()),
            );
        } else if n < *limit.start() {
            self.say(
                &kind::LIMIT,
                child(at, key),
                format!("`{key}` needs at least {} items", limit.start()),
                "add an item, or remove the key",
            );
        }
    }

    /// No control characters in a text that is shown on one line.
    pub fn one_line(&mut self, spec: &Value, at: &str, key: &str) {
        if let Some(text) = spec.get(key).and_then(Value::as_str)
            && text.chars().any(char::is_control)
        {
            self.say(
                &kind::FORM,
                child(at, key),
                format!("`{key}` has a control character or a line break"),
                "write it on one line",
            );
        }
    }

    /// Notes a name; a second time is a duplicate.
    pub fn once<'a>(&mut self, seen: &mut BTreeSet<&'a str>, at: &str, what: &str, name: &'a str) {
        if !seen.insert(name) {
            self.say(
                &kind::DUPLICATE,
                at,
                format!("{what} `{name}` is listed twice"),
                "remove one of the two, or rename it",
            );
        }
    }

    /// Labels: at most 16 pairs, keys of 1–64 characters, values of at most 512. `at` points at the map.
    pub fn labels(&mut self, at: &str, labels: &Value) {
        let Some(map) = labels.as_object() else { return };
        if map.len() > MAX_LABELS {
            self.say(
                &kind::LIMIT,
                at,
                format!("{} labels; at most {MAX_LABELS} are allowed", map.len()),
                format!("remove {} labels", map.len() - MAX_LABELS),
            );
        }
        for (key, value) in map {
            let place = child(at, key);
            let before = self.problems.len();
            self.text(&place, "label key", key, 1..=MAX_LABEL_KEY);
            for problem in &mut self.problems[before..] {
                problem.key = true;
            }
            if let Some(text) = value.as_str() {
                self.text(&place, key, text, 0..=MAX_LABEL_VALUE);
            }
        }
    }

    /// A reference at `at/key` to a resource of `kind`.
    pub fn reference(&mut self, spec: &Value, at: &str, key: &str, kind: Kind) {
        if let Some(value) = spec.get(key) {
            self.target(&child(at, key), value, kind);
        }
    }

    /// A reference value.
    pub fn target(&mut self, at: &str, value: &Value, kind: Kind) {
        let bad = match value {
            Value::String(text) => Target::parse(kind, text).is_none(),
            Value::Object(o) => o.get("id").and_then(Value::as_str).is_some_and(str::is_empty),
            _ => false,
        };
        if bad {
            let shown = value.as_str().unwrap_or_default();
            self.say(
                &kind::FORM,
                at,
                format!("`{shown}` is no reference to a {kind}"),
                format!("write a name as in `my-name`, `owner:{kind}/my-name`, or `{{id: …}}`"),
            );
        }
    }

    /// A content digest at `at/key`.
    pub fn digest(&mut self, spec: &Value, at: &str, key: &str) {
        if let Some(text) = spec.get(key).and_then(Value::as_str)
            && text.parse::<Digest>().is_err()
        {
            self.say(
                &kind::FORM,
                child(at, key),
                format!("`{key}` is not a digest"),
                "write `sha256:` and 64 lower-case hex digits",
            );
        }
    }

    /// A number of at least 1 at `at/key`.
    pub fn positive(&mut self, spec: &Value, at: &str, key: &str) {
        if let Some(number) = spec.get(key).filter(|v| v.is_number())
            && number.as_u64().is_none_or(|n| n == 0)
        {
            self.say(&kind::LIMIT, child(at, key), format!("`{key}` counts from 1"), "write a number from 1 on");
        }
    }

    /// An absolute, normalized path inside a workspace at `at/key`: at most 1,024 bytes, no control characters.
    pub fn absolute(&mut self, spec: &Value, at: &str, key: &str) {
        let Some(path) = spec.get(key).and_then(Value::as_str) else { return };
        let place = child(at, key);
        if path.len() > MAX_PATH_BYTES {
            self.say(
                &kind::LIMIT,
                place,
                format!("`{key}` has {} bytes; at most {MAX_PATH_BYTES} are allowed", path.len()),
                "use a shorter path",
            );
        } else if path.chars().any(is_unprintable) {
            self.say(
                &kind::PATH,
                place,
                format!("`{key}` has a control or format character"),
                "remove the invisible character",
            );
        } else if normalized(path) != path {
            let message = format!("`{path}` is not an absolute, normalized path");
            self.say(&kind::PATH, place, message, format!("write `{}`", normalized(path)));
        }
    }
}

/// Control characters, line and paragraph separators, and characters that are not seen.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A path with one leading `/`, NFC, and no empty, `.` or `..` part; a `..` takes the part before it.
pub fn normalized(path: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    let path: String = path.nfc().collect();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Rules on labels, wherever they are written; pointers are relative to the map.
pub fn check_labels(labels: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.labels("", labels);
    rules.finish()
}

//! Errors of a JSON Schema in words: which branch of a choice was meant, what the key was probably called.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Error};
use serde_json::Value;

use crate::diag::Code;
use crate::diag::codes::manifest as code;
use crate::manifest::suggest::nearest;
use crate::manifest::yaml::{MAX_FINDINGS, escape, unescape};

/// One thing that a schema refuses.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// JSON pointer to the value.
    pub(super) pointer: String,
    /// A key below it that is meant, instead of the value.
    pub(super) key: Option<String>,
    pub(super) code: &'static Code,
    pub(super) message: String,
    pub(super) fix: Option<String>,
    /// The schema takes a text here, and the value is another scalar.
    pub(super) wants_text: bool,
}

impl Finding {
    fn new(error: &ValidationError<'_>, code: &'static Code, message: String) -> Self {
        let pointer = error.instance_path().as_str().to_owned();
        Self { pointer, key: None, code, message, fix: None, wants_text: false }
    }
}

/// What an error of a schema means.
pub(super) fn findings(schema: &Value, error: &ValidationError<'_>) -> Vec<Finding> {
    let what = name(error.instance_path().as_str());
    match error.kind() {
        Error::AdditionalProperties { unexpected } | Error::UnevaluatedProperties { unexpected } => {
            unexpected.iter().take(MAX_FINDINGS + 1).map(|key| unknown_key(schema, error, key)).collect()
        }
        Error::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            let owner = if what.is_empty() { String::new() } else { format!(" in {what}") };
            let finding = Finding::new(error, &code::MISSING_KEY, format!("the key `{key}` is missing{owner}"));
            vec![Finding { fix: Some(format!("{key}: …")), ..finding }]
        }
        Error::Type { kind } => vec![wrong_type(error, &types(kind))],
        kind @ (Error::Enum { .. } | Error::Constant { .. }) => vec![not_one_of(error, &options(kind))],
        Error::AnyOf { context } | Error::OneOfNotValid { context } => choice(schema, error, context),
        Error::OneOfMultipleValid { .. } => {
            vec![Finding::new(error, &code::WRONG_FORM, format!("{what} mixes two of its forms"))]
        }
        Error::PropertyNames { error: inner } => {
            let key = error.instance().as_object().and_then(|o| {
                let bad = inner.instance().as_str()?;
                o.keys().find(|k| *k == bad).cloned()
            });
            let message = format!("the key of {what} is not allowed: {inner}");
            vec![Finding { key, ..Finding::new(error, &code::WRONG_VALUE, message) }]
        }
        kind => vec![Finding::new(error, &code::WRONG_VALUE, limit(kind, error, &what))],
    }
}

fn limit(kind: &Error, error: &ValidationError<'_>, what: &str) -> String {
    let chars = || error.instance().as_str().map_or(0, |s| s.chars().count());
    let shown = short(error.instance());
    match kind {
        Error::MinLength { limit } if *limit == 1 => format!("{what} is empty"),
        Error::MinLength { limit } => format!("{what} has {} characters, at least {limit} are needed", chars()),
        Error::MaxLength { limit } => format!("{what} has {} characters, more than {limit}", chars()),
        Error::Minimum { limit } => format!("{what} is {shown}, less than {limit}"),
        Error::Maximum { limit } => format!("{what} is {shown}, more than {limit}"),
        Error::ExclusiveMinimum { limit } => format!("{what} is {shown}, not more than {limit}"),
        Error::ExclusiveMaximum { limit } => format!("{what} is {shown}, not less than {limit}"),
        Error::MinItems { limit } => format!("{what} has fewer than {limit} items"),
        Error::MaxItems { limit } => format!("{what} has more than {limit} items"),
        Error::MinProperties { limit } => format!("{what} has fewer than {limit} entries"),
        Error::MaxProperties { limit } => format!("{what} has more than {limit} entries"),
        Error::UniqueItems => format!("{what} lists something twice"),
        Error::Pattern { pattern } => format!("{what} is {shown}, which does not have the form `{pattern}`"),
        _ => format!("{what}: {error}"),
    }
}

fn unknown_key(schema: &Value, error: &ValidationError<'_>, key: &str) -> Finding {
    let known = properties(schema, error.schema_path().as_str());
    let message = match known.len() {
        0 => format!("the key `{key}` is not allowed here"),
        _ => format!("the key `{key}` is unknown"),
    };
    let near = nearest(key, known.iter().map(String::as_str));
    let fix = near.map(|near| format!("did you mean `{near}`?"));
    let fix = fix.or_else(|| (!known.is_empty()).then(|| format!("one of {}", list(&known))));
    Finding { key: Some(key.to_owned()), fix, ..Finding::new(error, &code::UNKNOWN_KEY, message) }
}

/// The keys that an object schema knows, from the path of its `additionalProperties`.
fn properties(schema: &Value, path: &str) -> Vec<String> {
    let mut at = schema;
    let steps: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    for step in &steps[..steps.len().saturating_sub(1)] {
        at = follow(schema, at);
        at = match (at.get(step.as_str()), step.parse::<usize>()) {
            (Some(next), _) => next,
            (None, Ok(i)) => at.get(i).unwrap_or(&Value::Null),
            // A step over `$ref` itself.
            (None, Err(_)) => at,
        };
    }
    let keys = follow(schema, at).get("properties").and_then(Value::as_object);
    keys.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

fn follow<'a>(schema: &'a Value, at: &'a Value) -> &'a Value {
    let target = at.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
    target.and_then(|pointer| schema.pointer(pointer)).unwrap_or(at)
}

fn wrong_type(error: &ValidationError<'_>, expected: &[String]) -> Finding {
    let (what, value) = (name(error.instance_path().as_str()), error.instance());
    if value.is_null() {
        let finding = Finding::new(error, &code::NULL, format!("{what} is null"));
        return Finding { wants_text: expected.iter().any(|t| t == "string"), ..finding };
    }
    let scalar = !value.is_array() && !value.is_object();
    if scalar && expected.iter().any(|t| t == "string") {
        let message = format!("{what} must be a text, and without quotes this is {}", noun(value));
        return Finding { wants_text: true, ..Finding::new(error, &code::NEEDS_QUOTES, message) };
    }
    let words: Vec<&str> = expected.iter().map(|t| type_words(t)).collect();
    let message = format!("{what} must be {}, not {}", words.join(" or "), noun(value));
    Finding::new(error, &code::WRONG_TYPE, message)
}

fn not_one_of(error: &ValidationError<'_>, options: &[Value]) -> Finding {
    let (what, value) = (name(error.instance_path().as_str()), error.instance());
    let texts: Vec<String> = options.iter().map(text).collect();
    let message = match texts.as_slice() {
        [only] => format!("{what} is {}, it must be `{only}`", short(value)),
        _ => format!("{what} is {}, it must be one of {}", short(value), list(&texts)),
    };
    let near = value.as_str().and_then(|v| nearest(v, texts.iter().map(String::as_str)));
    let only = (texts.len() == 1).then(|| texts[0].clone());
    let fix = near.map(|near| format!("did you mean `{near}`?")).or(only);
    let wants_text = !value.is_string() && !value.is_array() && !value.is_object();
    let wants_text = wants_text && options.iter().any(Value::is_string);
    Finding { fix, wants_text, ..Finding::new(error, &code::WRONG_VALUE, message) }
}

/// Of the branches of a choice, the errors of the one that was meant.
fn choice(schema: &Value, error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>]) -> Vec<Finding> {
    let path = error.instance_path().as_str();
    let is_here = |e: &ValidationError<'_>| e.instance_path().as_str() == path;
    let other_type = |e: &ValidationError<'_>| is_here(e) && matches!(e.kind(), Error::Type { .. });
    let same_type: Vec<&Vec<_>> = branches.iter().filter(|b| !b.is_empty() && !b.iter().any(other_type)).collect();
    if same_type.is_empty() {
        let mut expected: Vec<String> = Vec::new();
        for e in branches.iter().flatten().filter(|e| is_here(e)) {
            if let Error::Type { kind } = e.kind() {
                expected.extend(types(kind).into_iter().filter(|t| t != "null"));
            }
        }
        expected.sort();
        expected.dedup();
        return vec![wrong_type(error, &expected)];
    }
    // A value, or a key below (`type: x`), that says which branch it is.
    let tag = |b: &[ValidationError<'_>]| {
        b.iter().find_map(|e| {
            let below = e.instance_path().as_str().strip_prefix(path)?;
            let says = matches!(e.kind(), Error::Constant { .. } | Error::Enum { .. });
            (says && below.matches('/').count() <= 1).then(|| e.instance_path().as_str().to_owned())
        })
    };
    let untagged = same_type.iter().filter(|b| tag(b).is_none());
    // Fewest mistakes; an unknown key weighs as one each, a mistake deeper inside least.
    let weight = |b: &&&Vec<ValidationError<'_>>| -> usize {
        b.iter().map(|e| if is_here(e) { 2 + unexpected(e.kind()) } else { 1 }).sum()
    };
    if let Some(best) = untagged.min_by_key(weight) {
        return best.iter().flat_map(|e| findings(schema, e)).collect();
    }
    let Some(pointer) = same_type.first().and_then(|b| tag(b)) else { return Vec::new() };
    let tags = || same_type.iter().flat_map(|b| b.iter()).filter(|e| e.instance_path().as_str() == pointer);
    let options: Vec<Value> = tags().flat_map(|e| options(e.kind())).collect();
    tags().next().map(|e| vec![not_one_of(e, &options)]).unwrap_or_default()
}

/// The values that an error would have taken.
fn options(kind: &Error) -> Vec<Value> {
    match kind {
        Error::Constant { expected_value } => vec![(**expected_value).clone()],
        Error::Enum { options } => options.as_array().cloned().unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn unexpected(kind: &Error) -> usize {
    match kind {
        Error::AdditionalProperties { unexpected } | Error::UnevaluatedProperties { unexpected } => unexpected.len(),
        _ => 0,
    }
}

fn types(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(t) => vec![t.to_string()],
        TypeKind::Multiple(set) => set.iter().map(|t| t.to_string()).filter(|t| t != "null").collect(),
    }
}

fn type_words(ty: &str) -> &'static str {
    match ty {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a map",
        _ => "null",
    }
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// What to call the value at a pointer.
fn name(pointer: &str) -> String {
    let mut steps = pointer.rsplit('/').filter(|s| !s.is_empty());
    match (steps.next(), steps.next()) {
        (None, _) => String::new(),
        (Some(last), Some(list)) if last.bytes().all(|b| b.is_ascii_digit()) => {
            let n = last.parse::<usize>().map_or(0, |n| n + 1);
            format!("item {n} of `{}`", unescape(list))
        }
        (Some(last), _) => format!("`{}`", unescape(last)),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn short(value: &Value) -> String {
    let full = text(value);
    let cut: String = full.chars().take(40).collect();
    if cut.len() < full.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ")
}

/// A pointer one key further.
pub(super) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", escape(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(schema: &Value, value: &Value) -> Vec<(&'static str, String, Option<String>)> {
        let validator = jsonschema::draft202012::new(schema).unwrap();
        let found = validator.iter_errors(value).flat_map(|e| findings(schema, &e)).collect::<Vec<_>>();
        found.into_iter().map(|f| (f.code.code, f.message, f.fix)).collect()
    }

    #[test]
    fn the_branch_that_was_meant_speaks() {
        let tagged = |word: &str, key: &str| {
            json!({"type": "object", "required": ["type"], "additionalProperties": false,
                   "properties": {"type": {"const": word}, key: {"type": "string"}}})
        };
        let schema = json!({"anyOf": [{"type": "string"}, tagged("bash", "command"), tagged("web", "domain")]});
        let one = |value: Value| codes(&schema, &value).remove(0);
        assert_eq!(one(json!({"type": "web", "domian": "x"})).2.as_deref(), Some("did you mean `domain`?"));
        assert_eq!(one(json!({"type": "wbe"})).2.as_deref(), Some("did you mean `web`?"));
        assert_eq!(one(json!({"command": "x"})).0, "manifest.missing_key");
        assert_eq!(one(json!([])).1, " must be a map or a text, not a list");
        assert_eq!(one(json!(3)).0, "manifest.needs_quotes");
    }

    #[test]
    fn two_forms_at_once() {
        let part = |key: &str| json!({"type": "object", "required": [key]});
        let schema = json!({"properties": {"x": {"oneOf": [part("a"), part("b")]}}});
        let found = codes(&schema, &json!({"x": {"a": 1, "b": 2}}));
        assert_eq!((found[0].0, found[0].1.as_str()), ("manifest.wrong_form", "`x` mixes two of its forms"));
    }

    #[test]
    fn limits_are_said_in_words() {
        let schema = json!({"properties": {
            "n": {"maximum": 3}, "s": {"maxLength": 2}, "l": {"items": {"minLength": 1}}, "p": {"pattern": "^a$"}}});
        let said = |value: Value| codes(&schema, &value).remove(0).1;
        assert_eq!(said(json!({"n": 4})), "`n` is `4`, more than 3");
        assert_eq!(said(json!({"s": "abc"})), "`s` has 3 characters, more than 2");
        assert_eq!(said(json!({"l": ["x", ""]})), "item 2 of `l` is empty");
        assert!(said(json!({"p": "b"})).contains("does not have the form `^a$`"));
    }
}

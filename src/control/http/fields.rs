//! Are wire fields of the right type and within their limits? Held against the same schemas that the OpenAPI
//! document shows. What depends on the workspace, or on several fields, its rules say.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde_json::Value;

use crate::control::http::input::Input;
use crate::model::Kind;
use crate::model::kinds::{Object, wire};

/// By kind, and whether it is an update. A schema of ours is one: a test rules out the other case.
static VALIDATORS: LazyLock<BTreeMap<(Kind, bool), Validator>> = LazyLock::new(|| {
    let all = Kind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    let made = |(kind, update)| Some(((kind, update), jsonschema::draft202012::new(&wire::schema(kind, update)).ok()?));
    all.filter_map(made).collect()
});

/// Notes every field of a body that is wrong. Gives the body back.
pub(super) fn checked(input: &mut Input<'_>, kind: Kind, update: bool, body: Object) -> Object {
    let value = Value::Object(body);
    if let Some(validator) = VALIDATORS.get(&(kind, update))
        && !validator.is_valid(&value)
    {
        for error in validator.iter_errors(&value) {
            note(input, &error);
        }
    }
    match value {
        Value::Object(body) => body,
        _ => Object::new(),
    }
}

fn note(input: &mut Input<'_>, error: &ValidationError<'_>) {
    let at = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            for name in unexpected {
                input.wrong(below(name), "there is no such field");
            }
        }
        ValidationErrorKind::Required { property } => {
            input.wrong(below(property.as_str().unwrap_or_default()), "it is missing");
        }
        _ => input.wrong(if at.is_empty() { "body" } else { &at }, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_validators() {
        assert_eq!(VALIDATORS.len(), 2 * Kind::ALL.len());
    }
}

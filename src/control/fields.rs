//! Are the wire fields of a body of the right type, within their limits, and do they go together? Held against the
//! same schemas that the OpenAPI document shows, and against the rules of the kind. What depends on the workspace, its
//! rules say.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde_json::{Value, json};

use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::{Refs, def, wire};

/// A field and what is wrong with it.
pub(super) type Wrong = (String, String);

/// By kind, and whether it is an update. A schema of ours is one: a test rules out the other case.
static VALIDATORS: LazyLock<BTreeMap<(Kind, bool), Validator>> = LazyLock::new(|| {
    let all = Kind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    let made = |(kind, update)| Some(((kind, update), jsonschema::draft202012::new(&wire::schema(kind, update)).ok()?));
    all.filter_map(made).collect()
});

/// Every field of a sent body that is of another type than the kind takes, or over its limit.
pub(super) fn of_sent(kind: Kind, update: bool, body: &Value) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if let Some(validator) = VALIDATORS.get(&(kind, update))
        && !validator.is_valid(body)
    {
        for error in validator.iter_errors(body) {
            note(&mut wrong, &error);
        }
    }
    wrong
}

/// As [`of_sent`], of a whole body as it would be stored; where all types are right, also what does not go together.
pub(super) fn of_whole(kind: Kind, body: &Value) -> Vec<Wrong> {
    let wrong = of_sent(kind, false, body);
    if !wrong.is_empty() {
        return wrong;
    }
    let canonical = (def(kind).from_wire)(body, &Refs::default(), None);
    // Versions of skills have ids here and numbers where they are written; the workspace knows which there are.
    let is_version = |pointer: &str| pointer.starts_with("/skills/") && pointer.ends_with("/version");
    (def(kind).check)(&canonical)
        .into_iter()
        .filter(|p| !is_version(&p.pointer))
        .map(|p| (p.pointer.trim_start_matches('/').replace('/', "."), p.message))
        .collect()
}

fn note(wrong: &mut Vec<Wrong>, error: &ValidationError<'_>) {
    let at = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            wrong.extend(unexpected.iter().map(|name| (below(name), "there is no such field".to_owned())));
        }
        ValidationErrorKind::Required { property } => {
            wrong.push((below(property.as_str().unwrap_or_default()), "it is missing".to_owned()));
        }
        _ => wrong.push((if at.is_empty() { "body".to_owned() } else { at }, error.to_string())),
    }
}

/// `validation.invalid` with the fields and what is wrong with each; `validation.metadata` where it is that alone.
pub(super) fn invalid(wrong: &[Wrong]) -> ControlError {
    let is_metadata = |(field, _): &Wrong| field == "metadata" || field.starts_with("metadata.");
    let code = if !wrong.is_empty() && wrong.iter().all(is_metadata) { &codes::METADATA } else { &codes::INVALID };
    let message: Vec<String> = wrong.iter().map(|(field, problem)| format!("`{field}`: {problem}")).collect();
    let fields: Vec<Value> = wrong.iter().map(|(field, problem)| json!({"field": field, "problem": problem})).collect();
    ControlError::new(ErrorKind::Invalid, code.code, message.join("; ")).details(json!({"fields": fields}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_validators() {
        assert_eq!(VALIDATORS.len(), 2 * Kind::ALL.len());
    }

    #[test]
    fn a_whole_body_is_held_against_types_limits_and_what_goes_together() {
        let agent = |more: Value| {
            let mut body = json!({"name": "a", "model": {"id": "m"}});
            for (key, value) in more.as_object().unwrap() {
                body[key] = value.clone();
            }
            body
        };
        let env = |config: Value| json!({"name": "e", "config": config});
        let rows = [
            (Kind::Agent, agent(json!({})), ""),
            (Kind::Agent, agent(json!({"system": "é".repeat(100_000)})), ""),
            (Kind::Agent, agent(json!({"system": "é".repeat(100_001)})), "system"),
            (Kind::Agent, agent(json!({"tools": [{"type": "nothing"}]})), "tools.0"),
            (
                Kind::Agent,
                agent(json!({"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]})),
                "tools.0.mcp_server_name",
            ),
            (Kind::Agent, agent(json!({"metadata": {"a": 1}})), "metadata.a"),
            (
                Kind::Agent,
                agent(json!({"skills": [{"type": "custom", "skill_id": "skill_1", "version": "skver_1"}]})),
                "",
            ),
            (Kind::Environment, env(json!({"type": "self_hosted"})), ""),
            (Kind::Environment, env(json!({"type": "cloud", "packages": {"pip": "x"}})), "config"),
            (
                Kind::Environment,
                env(json!({"type": "cloud", "networking": {"type": "limited", "allowed_hosts": ["http://a"]}})),
                "config.networking.allowed_hosts.0",
            ),
        ];
        for (kind, body, field) in rows {
            let wrong = of_whole(kind, &body);
            let first = wrong.first().map_or("", |(field, _)| field.as_str());
            assert_eq!(first, field, "{wrong:?}");
        }
    }

    #[test]
    fn metadata_alone_has_a_code_of_its_own() {
        let wrong = |fields: &[&str]| {
            invalid(&fields.iter().map(|f| ((*f).to_owned(), "x".to_owned())).collect::<Vec<_>>()).code
        };
        assert_eq!(wrong(&["metadata", "metadata.a"]), "validation.metadata");
        assert_eq!(wrong(&["metadata", "name"]), "validation.invalid");
    }
}

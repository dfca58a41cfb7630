//! The errors of the rules, and what a store error is to a caller.

use serde_json::json;

use crate::control::{ControlError, ErrorKind};
use crate::diag::{Code, codes::control as codes};
use crate::model::Kind;
use crate::store::resource::Resource;
use crate::store::{StoreError, Trouble};

/// What every rule answers.
pub(super) type Result<T> = std::result::Result<T, ControlError>;

impl From<StoreError> for ControlError {
    fn from(e: StoreError) -> Self {
        let (kind, code): (_, &Code) = match e.trouble {
            Trouble::Locked => (ErrorKind::Unavailable, &codes::STORE_LOCKED),
            Trouble::Newer => (ErrorKind::Internal, &codes::STORE_NEWER),
            Trouble::NotADatabase => (ErrorKind::Internal, &codes::STORE_NOT_A_DATABASE),
            Trouble::Damaged => (ErrorKind::Internal, &codes::STORE_DAMAGED),
            Trouble::ReadOnly => (ErrorKind::Internal, &codes::STORE_READ_ONLY),
            Trouble::NoSpace => (ErrorKind::Unavailable, &codes::STORE_NO_SPACE),
            Trouble::CannotOpen => (ErrorKind::Internal, &codes::STORE_CANNOT_OPEN),
            Trouble::Taken => (ErrorKind::Conflict, &codes::CONFLICT),
            Trouble::Io => (ErrorKind::Internal, &codes::STORE_IO),
        };
        let details = if e.trouble == Trouble::Taken { json!({"reason": "taken"}) } else { serde_json::Value::Null };
        let StoreError { what, source, .. } = e;
        Self { kind, code: code.code, message: what, details, source }
    }
}

/// 400 with the code of a row.
pub(super) fn refused(code: &'static Code, message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Invalid, code.code, message)
}

/// `validation.invalid`.
pub(super) fn invalid(message: impl Into<String>) -> ControlError {
    refused(&codes::INVALID, message)
}

/// `resource.not_found`.
pub(super) fn not_found(what: impl std::fmt::Display) -> ControlError {
    ControlError::new(ErrorKind::NotFound, codes::NOT_FOUND.code, format!("there is no {what} in this workspace"))
}

/// `resource.not_found`; of an environment `environment.not_found`.
pub(super) fn no_resource(kind: Kind, id: &str) -> ControlError {
    let code = if kind == Kind::Environment { codes::ENVIRONMENT_NOT_FOUND.code } else { codes::NOT_FOUND.code };
    ControlError { code, ..not_found(id) }
}

/// `validation.conflict` of another reason than staleness.
pub(super) fn conflict(reason: &str, message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Conflict, codes::CONFLICT.code, message).details(json!({"reason": reason}))
}

/// `validation.conflict {reason: stale, current}`.
pub(super) fn stale(message: impl Into<String>, current: impl Into<serde_json::Value>) -> ControlError {
    let details = json!({"reason": "stale", "current": current.into()});
    ControlError::new(ErrorKind::Conflict, codes::CONFLICT.code, message).details(details)
}

/// `authoring.owned_elsewhere` with the owner's name.
pub(super) fn owned_elsewhere(r: &Resource) -> ControlError {
    let owner = r.owner.as_ref().map(ToString::to_string).unwrap_or_default();
    let address = r.address.as_ref().map(ToString::to_string);
    let mut message =
        format!("{} is owned by {owner}{}", r.id, address.as_ref().map(|a| format!(" as {a}")).unwrap_or_default());
    let mut details = json!({"owner": owner, "address": address});
    if let Some(to) = &r.offered {
        message = format!("{message}, which offered it to {to}");
        details["offered"] = json!(to);
    }
    ControlError::new(ErrorKind::Conflict, codes::OWNED_ELSEWHERE.code, message).details(details)
}

/// Its owner offered it to another: until it takes it back it has no say in it.
pub(super) fn offered(r: &Resource) -> ControlError {
    let to = r.offered.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut error = conflict("offered", format!("{} is handed over to {to}; its owner may take it back first", r.id));
    error.details["offered"] = to.into();
    error
}

/// `authoring.owner_required`.
pub(super) fn owner_required(message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Permission, codes::OWNER_REQUIRED.code, message)
}

/// `resource.archived`; of an environment `environment.archived`.
pub(super) fn archived(r: &Resource) -> ControlError {
    let code = if r.kind == Kind::Environment { &codes::ENVIRONMENT_ARCHIVED } else { &codes::ARCHIVED };
    refused(code, format!("{} is archived and takes no change", r.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_of_the_store_has_a_code_and_keeps_its_cause() {
        let rows = [
            (Trouble::Locked, "store.locked", ErrorKind::Unavailable),
            (Trouble::Newer, "store.newer", ErrorKind::Internal),
            (Trouble::NotADatabase, "store.not_a_database", ErrorKind::Internal),
            (Trouble::Damaged, "store.damaged", ErrorKind::Internal),
            (Trouble::ReadOnly, "store.read_only", ErrorKind::Internal),
            (Trouble::NoSpace, "store.no_space", ErrorKind::Unavailable),
            (Trouble::CannotOpen, "store.cannot_open", ErrorKind::Internal),
            (Trouble::Taken, "validation.conflict", ErrorKind::Conflict),
            (Trouble::Io, "store.io", ErrorKind::Internal),
        ];
        for (trouble, code, kind) in rows {
            let cause: Box<dyn std::error::Error + Send + Sync> = "why".into();
            let error = ControlError::from(StoreError { trouble, what: "what".to_owned(), source: Some(cause) });
            assert_eq!((error.code, error.kind, error.to_string().as_str()), (code, kind, "what"));
            assert!(std::error::Error::source(&error).is_some());
            assert!(!error.is_stale());
        }
        assert_eq!(crate::control::embedded::stopped().code, "control.stopped");
    }
}

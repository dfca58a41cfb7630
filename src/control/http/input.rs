//! Reading what came in: parameters by their table, bodies by their types, and everything that is wrong with
//! them gathered into one error.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::control::fields::invalid;
use crate::control::http::query::{Form, MOST, Parameter, parameters};
use crate::control::http::{Body, DecodeError, Incoming};
use crate::model::kinds::Object;

/// Most of a wrong value that is shown, in characters.
const SHOWN: usize = 200;

/// What came in, being read.
pub(super) struct Input<'a> {
    incoming: &'a Incoming,
    parameters: &'static [Parameter],
    wrong: Vec<(String, String)>,
}

impl<'a> Input<'a> {
    /// Checks the parameters, all of them, against their table.
    pub(super) fn new(incoming: &'a Incoming) -> Self {
        let mut input = Self { incoming, parameters: parameters(incoming.operation), wrong: Vec::new() };
        for parameter in input.parameters {
            let values: Vec<&str> = input.all(parameter.name).collect();
            if parameter.required && values.is_empty() {
                input.wrong(parameter.name, "it is missing");
            }
            if values.len() > 1 && parameter.form != Form::Texts {
                input.wrong(parameter.name, "it is there more than once");
            }
            for value in values {
                if let Err(problem) = allowed(parameter.form, value) {
                    input.wrong(parameter.name, problem);
                }
            }
        }
        input
    }

    /// The values of a parameter. One that is not in the table is none: nothing is taken that is not documented.
    fn all(&self, name: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let known = self.parameters.iter().any(|p| p.name == name);
        self.incoming.query.iter().filter(move |(n, _)| known && n == name).map(|(_, v)| v.as_str())
    }

    /// Notes that a field or parameter is wrong.
    pub(super) fn wrong(&mut self, field: impl Into<String>, problem: impl AsRef<str>) {
        let problem = problem.as_ref();
        let short: String = problem.chars().take(SHOWN).collect();
        let end = if short.len() < problem.len() { "…" } else { "" };
        self.wrong.push((field.into(), short + end));
    }

    /// A path parameter.
    pub(super) fn path(&mut self, name: &str) -> String {
        self.incoming.params.get(name).cloned().unwrap_or_default()
    }

    /// A path parameter, parsed.
    pub(super) fn path_as<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Option<T> {
        self.path(name).parse().map_err(|e: T::Err| self.wrong(name, e.to_string())).ok()
    }

    /// A query parameter.
    pub(super) fn text(&self, name: &'a str) -> Option<String> {
        self.all(name).next().map(str::to_owned)
    }

    /// A query parameter that may be there many times.
    pub(super) fn texts(&self, name: &'a str) -> Vec<String> {
        self.all(name).map(str::to_owned).collect()
    }

    /// A query parameter, parsed. What does not parse was noted when the parameters were checked.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &'a str) -> Option<T> {
        self.all(name).next().and_then(|v| v.parse().ok())
    }

    /// A query parameter of a type that JSON writes as a text (an enum).
    pub(super) fn word<T: DeserializeOwned>(&self, name: &'a str) -> Option<T> {
        self.all(name).next().and_then(|v| serde_json::from_value(Value::from(v)).ok())
    }

    /// The body as it is.
    pub(super) fn body(&self) -> &'a Body {
        &self.incoming.body
    }

    /// The body as an object.
    pub(super) fn object(&mut self) -> Option<Object> {
        match &self.incoming.body {
            Body::Json(Value::Object(map)) => Some(map.clone()),
            Body::Json(_) => {
                self.wrong("body", "it is not an object");
                None
            }
            Body::Empty => {
                self.wrong("body", "it is missing");
                None
            }
            Body::Bytes(_) => {
                self.wrong("body", "it is not JSON");
                None
            }
        }
    }

    /// The body as a type; fields that the type does not have are noted.
    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Option<T> {
        let object = self.object()?;
        self.read("", Value::Object(object))
    }

    /// The same where the body may be absent.
    pub(super) fn json_or_default<T: DeserializeOwned + Default>(&mut self) -> Option<T> {
        if self.incoming.body == Body::Empty { Some(T::default()) } else { self.json() }
    }

    /// Takes one of our fields out of a body of wire fields; absent and null are the same.
    pub(super) fn take<T: DeserializeOwned>(&mut self, body: &mut Object, field: &str) -> Option<T> {
        let value = body.remove(field).filter(|v| !v.is_null())?;
        self.read(field, value)
    }

    fn read<T: DeserializeOwned>(&mut self, at: &str, value: Value) -> Option<T> {
        self.bounded(at, &value);
        let mut unknown = Vec::new();
        let mut note = |path: serde_ignored::Path<'_>| unknown.push(path.to_string().replace(".?", ""));
        let read = serde_path_to_error::deserialize(serde_ignored::Deserializer::new(value, &mut note));
        for path in unknown {
            self.wrong(joined(at, &path), "there is no such field");
        }
        match read {
            Ok(value) => Some(value),
            Err(e) => {
                let path = e.path().to_string();
                let path = if path == "." { String::new() } else { path };
                self.wrong(joined(at, &path), e.into_inner().to_string());
                None
            }
        }
    }

    /// Notes numbers that a workspace cannot hold. A `spec` is carried whole and may have any.
    fn bounded(&mut self, at: &str, value: &Value) {
        match value {
            Value::Number(n) if n.as_u64().is_some_and(|n| n > MOST) => {
                self.wrong(joined(at, ""), format!("it is more than {MOST}"));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| self.bounded(&format!("{at}[{i}]"), item));
            }
            Value::Object(map) => {
                let typed = map.iter().filter(|(key, _)| *key != "spec");
                typed.for_each(|(key, item)| self.bounded(&joined(at, key), item));
            }
            _ => {}
        }
    }

    /// The request, or one error that tells of everything that is wrong.
    pub(super) fn finish<T>(self, request: Option<T>) -> Result<T, DecodeError> {
        match request {
            Some(request) if self.wrong.is_empty() => Ok(request),
            _ => Err(invalid(&self.wrong)),
        }
    }
}

fn joined(at: &str, path: &str) -> String {
    match (at.is_empty(), path.is_empty()) {
        (true, true) => "body".to_owned(),
        (true, false) => path.to_owned(),
        (false, true) => at.to_owned(),
        (false, false) => format!("{at}.{path}"),
    }
}

/// Is this a value of the form? Else what is wrong.
fn allowed(form: Form, value: &str) -> Result<(), String> {
    let shown = || value.chars().take(80).collect::<String>();
    match form {
        Form::Text | Form::Texts if value.is_empty() => Err("it is empty".to_owned()),
        Form::Text | Form::Texts => Ok(()),
        Form::Number(least, most) => match value.parse::<u64>() {
            Ok(n) if (least..=most).contains(&n) => Ok(()),
            _ if most == MOST => Err(format!("`{}` is not a whole number of at least {least}", shown())),
            _ => Err(format!("`{}` is not a whole number from {least} to {most}", shown())),
        },
        Form::Flag if matches!(value, "true" | "false") => Ok(()),
        Form::Flag => Err(format!("`{}` is neither true nor false", shown())),
        Form::OneOf(words) if words.contains(&value) => Ok(()),
        Form::OneOf(words) => Err(format!("`{}` is not one of {}", shown(), words.join(", "))),
        Form::Time if value.parse::<jiff::Timestamp>().is_ok() => Ok(()),
        Form::Time => Err(format!("`{}` is not an RFC 3339 time, as 2026-11-30T12:00:00Z", shown())),
        Form::Hex => value.parse::<crate::control::http::body::Hex>().map(drop).map_err(str::to_owned),
        Form::Digest => value.parse::<crate::model::Digest>().map(drop).map_err(|e| e.to_string()),
        Form::Owner => value.parse::<crate::model::Owner>().map(drop).map_err(|e| e.to_string()),
        Form::Kind => value.parse::<crate::model::Kind>().map(drop).map_err(|e| e.to_string()),
    }
}

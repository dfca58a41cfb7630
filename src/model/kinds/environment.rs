//! The kind Environment: where work runs, what it may reach and which packages it finds.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::rules::{Rules, items};
use crate::model::kinds::{Default_, Field, KindDef, Object, Problem, Refs, Retire, schema, shape};

/// The package managers, each a list of the wire.
const MANAGERS: [&str; 6] = ["apt", "cargo", "gem", "go", "npm", "pip"];
/// Switches of limited networking; both are off by default.
const SWITCHES: [&str; 2] = ["allow_mcp_servers", "allow_package_managers"];

/// `spec` of an Environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name shown to people, 1–255 characters on one line, unique in the workspace. Default: `metadata.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// What it is for. At most 2,048 characters. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub description: Option<String>,
    /// Where work runs. Default `{type: cloud}`. Another `type` makes a new environment that takes this one's
    /// place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
    /// Who may use it. Default: the server chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// Who may use an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All of the organization.
    Organization,
    /// One account.
    Account,
}

/// Where work runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Config {
    /// In a container of the platform.
    Cloud {
        /// What it may reach. Default `{type: unrestricted}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        networking: Option<Networking>,
        /// What is installed in it. Default: nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packages: Option<Packages>,
    },
    /// On machines of your own.
    SelfHosted {},
}

/// What an environment may reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Networking {
    /// Everything. The default.
    Unrestricted {},
    /// Only what is listed.
    Limited {
        /// Hosts: `host.example.com`, or `*.example.com` for all below it; no scheme, port or path. Order does
        /// not count. Default: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allowed_hosts: Vec<String>,
        /// May it reach the MCP servers of the agent? Default false.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allow_mcp_servers: Option<bool>,
        /// May it reach package registries? Default false; needed for `packages`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allow_package_managers: Option<bool>,
    },
}

/// What is installed in an environment. Each list holds names, with versions as the manager writes them; order
/// does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packages {
    /// The word `packages`. Default: that.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<PackagesType>,
    /// Debian packages. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apt: Vec<String>,
    /// Rust crates. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cargo: Vec<String>,
    /// Ruby gems. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gem: Vec<String>,
    /// Go modules. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub go: Vec<String>,
    /// Node packages. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub npm: Vec<String>,
    /// Python packages. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pip: Vec<String>,
}

/// The word `packages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PackagesType {
    /// The only type.
    Packages,
}

/// The row of Environment.
pub static DEF: KindDef = KindDef {
    kind: Kind::Environment,
    plural: "environments",
    id_prefix: "env_",
    doc: "Reusable execution authority: networking, packages, where work runs.",
    retire: Retire::Archive,
    comes_back: true,
    unique_name: true,
    fields: FIELDS,
    example: EXAMPLE,
    replaces: |before, after| {
        let ty = |v: &Value| v.get("config").and_then(|c| c.get("type")).cloned().unwrap_or_else(|| json!("cloud"));
        if ty(before) == ty(after) { Vec::new() } else { vec!["config"] }
    },
    schema: || schema::of_spec::<Spec>(),
    full_schema: || schema::full::<Spec>(),
    check,
    canonical,
    to_wire: |spec, _, only| {
        let mut body = shape::Body::new(spec, only);
        body.same("name", "name", Value::Null)?;
        body.same("description", "description", Value::Null)?;
        body.total("config", "config", |v| Ok(config_to_wire(v)))?;
        body.same("scope", "scope", Value::Null)?;
        body.labels();
        Ok(body.finish())
    },
    from_wire,
    answered: |body, _| {
        let config = config_in_full(body.get("config"));
        body.insert("config".to_owned(), config);
        shape::fill(body, "description", Value::Null);
        shape::fill(body, "scope", json!("organization"));
        shape::fill(body, "metadata", json!({}));
    },
    refs: |_| Vec::new(),
    wire_refs: |_| Vec::new(),
};

const FIELDS: &[Field] = &[
    Field {
        name: "name",
        default: Default_::Required,
        limit: "1\u{2013}255 characters, one line, unique in the workspace; default: `metadata.name`",
        clear: "remove the key: the default comes back",
        doc: "The name shown to people.",
        ..Field::TEXT
    },
    Field { name: "description", limit: "2,048 characters", doc: "What it is for.", ..Field::TEXT },
    Field {
        name: "config",
        ty: "`{type: cloud, networking, packages}` or `{type: self_hosted}`",
        default: Default_::Json("{\"type\":\"cloud\"}"),
        limit: "another `type` is a replace; packages under limited networking need `allow_package_managers: true`",
        doc: "Where work runs, what it may reach, what is installed. Lists in it are sets.",
        ..Field::TEXT
    },
    Field {
        name: "scope",
        ty: "`organization` or `account`",
        default: Default_::Server,
        doc: "Who may use it.",
        ..Field::TEXT
    },
    Field {
        doc: "Labels from `metadata.labels`, the wire's `metadata`. One with an empty value is no label.",
        ..Field::LABELS
    },
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: Environment
metadata: {name: default}
spec:
  config:
    type: cloud
    networking: {type: limited, allowed_hosts: [\"*.example.com\"], allow_package_managers: true}
    packages: {pip: [\"ruff==0.8.0\"]}
";

fn check(spec: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.length(spec, "", "name", 1..=255);
    rules.one_line(spec, "", "name");
    rules.length(spec, "", "description", 0..=2048);
    let Some(config) = spec.get("config") else { return rules.finish() };
    let networking = &config["networking"];
    let mut seen = BTreeSet::new();
    for (at, host) in items(networking, "/config/networking", "allowed_hosts") {
        let Some(text) = host.as_str() else { continue };
        rules.once(&mut seen, &at, "host", text);
        if !is_host(text) {
            rules.say(
                &kind::FORM,
                at,
                format!("`{text}` is no host"),
                "write `host.example.com` or `*.example.com`, without scheme, port or path",
            );
        }
    }
    let packages = &config["packages"];
    let mut some = false;
    for manager in MANAGERS {
        let mut seen = BTreeSet::new();
        for (place, package) in items(packages, "/config/packages", manager) {
            some = true;
            let Some(text) = package.as_str() else { continue };
            rules.once(&mut seen, &place, "package", text);
            if text.is_empty() || text.starts_with('-') || text.chars().any(|c| c.is_control() || c == ' ') {
                let message = format!("`{text}` is no package of {manager}");
                rules.say(&kind::FORM, place, message, "write a name, with a version as the manager writes it");
            }
        }
        rules.count(packages, "/config/packages", manager, 0..=1024);
    }
    let limited = networking.get("type").and_then(Value::as_str) == Some("limited");
    let managers = networking.get("allow_package_managers").and_then(Value::as_bool) == Some(true);
    if limited && some && !managers {
        rules.say(
            &kind::MISSING,
            "/config/packages",
            "packages cannot be installed while networking is limited without `allow_package_managers`",
            "add `allow_package_managers: true` to `networking`, or remove `packages`",
        );
    }
    rules.finish()
}

/// A DNS name or an address, with `*.` in front or not.
fn is_host(text: &str) -> bool {
    let host = text.strip_prefix("*.").unwrap_or(text);
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && !l.starts_with('-')
            && !l.ends_with('-')
            && l.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    host.len() <= 253 && host.split('.').all(label)
}

fn canonical(name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_name(&mut out, &mut from, name);
    shape::take_text(&mut out, &mut from, "description");
    if let Some(config) = from.get("config") {
        shape::put_unless(&mut out, "config", canonical_config(config), &json!({ "type": "cloud" }));
    }
    shape::put_whole(&mut out, &from, "scope");
    // The wire takes an empty value for "remove this label", of environments alone.
    let labels = labels.iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| (k.clone(), v.clone())).collect();
    shape::put_labels(&mut out, &from, &labels);
    Value::Object(out)
}

fn canonical_config(config: &Value) -> Value {
    let mut out = Object::new();
    out.insert("type".to_owned(), config.get("type").cloned().unwrap_or_else(|| json!("cloud")));
    if config.get("type").is_some_and(|t| t != "cloud") {
        return Value::Object(out);
    }
    if let Some(networking) = config.get("networking") {
        let mut kept = Object::new();
        shape::put_scalar(&mut kept, networking, "type", "unrestricted");
        if !kept.is_empty() {
            shape::put_set(&mut kept, networking, "allowed_hosts");
            for key in SWITCHES {
                shape::put_scalar(&mut kept, networking, key, false);
            }
            out.insert("networking".to_owned(), Value::Object(kept));
        }
    }
    if let Some(packages) = config.get("packages") {
        let mut kept = Object::new();
        for manager in MANAGERS {
            shape::put_set(&mut kept, packages, manager);
        }
        if !kept.is_empty() {
            out.insert("packages".to_owned(), Value::Object(kept));
        }
    }
    Value::Object(out)
}

/// In full, since an update keeps what is not sent, inside `config` too.
fn config_to_wire(config: Option<&Value>) -> Value {
    let get = |key: &str| config.and_then(|c| c.get(key));
    let ty = get("type").and_then(Value::as_str).unwrap_or("cloud");
    if ty != "cloud" {
        return json!({ "type": ty });
    }
    let networking = match get("networking") {
        Some(limited) => {
            let mut full = limited.as_object().cloned().unwrap_or_default();
            full.entry("allowed_hosts").or_insert_with(|| json!([]));
            for key in SWITCHES {
                full.entry(key).or_insert(Value::Bool(false));
            }
            Value::Object(full)
        }
        None => json!({ "type": "unrestricted" }),
    };
    let mut packages = Object::new();
    packages.insert("type".to_owned(), json!("packages"));
    for manager in MANAGERS {
        let list = get("packages").and_then(|p| p.get(manager)).cloned().unwrap_or_else(|| json!([]));
        packages.insert(manager.to_owned(), list);
    }
    json!({ "type": ty, "networking": networking, "packages": packages })
}

/// A stored `config`, which may hold less than [`config_to_wire`] sends, in full.
fn config_in_full(config: Option<&Value>) -> Value {
    let mut config = config.cloned().unwrap_or_default();
    if let Value::Object(map) = &mut config {
        let open = |n: &Value| n.is_null() || n.get("type").is_none_or(|t| t == "unrestricted");
        map.retain(|key, value| !(value.is_null() || key == "networking" && open(value)));
        for part in map.values_mut().filter_map(Value::as_object_mut) {
            part.retain(|_, value| !value.is_null());
        }
    }
    config_to_wire(Some(&config))
}

fn from_wire(body: &Value, _refs: &Refs, _applied: Option<&Value>) -> Value {
    let mut spec = Object::new();
    for key in ["name", "description", "config", "scope"] {
        shape::put_whole(&mut spec, body, key);
    }
    canonical("", Value::Object(spec), &shape::wire_labels(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kinds::Ids;

    #[test]
    fn config_is_sent_in_full_since_the_wire_merges_it() {
        let sent = |config: Value| {
            let c = canonical("x", json!({ "config": config }), &BTreeMap::new());
            (DEF.to_wire)(&c, &Ids::default(), None).unwrap()["config"].clone()
        };
        let none = json!({ "type": "packages", "apt": [], "cargo": [], "gem": [], "go": [], "npm": [], "pip": [] });
        let open = json!({ "type": "cloud", "networking": { "type": "unrestricted" }, "packages": none });
        assert_eq!(sent(json!({ "type": "cloud" })), open);
        let mut limited = open;
        limited["networking"] = json!({ "type": "limited", "allowed_hosts": [], "allow_mcp_servers": false,
            "allow_package_managers": false });
        assert_eq!(sent(json!({ "type": "cloud", "networking": { "type": "limited" } })), limited);
        assert_eq!(sent(json!({ "type": "self_hosted" })), json!({ "type": "self_hosted" }));
    }
}

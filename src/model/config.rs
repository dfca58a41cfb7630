//! `checkfu.yaml`: who acts, where, under which policy. As written, with defaults; no path is resolved here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Address, Digest, Owner};

/// The configuration of a project (`checkfu.yaml`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Always `checkfu.com/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: ApiVersion,
    /// Always `Config`.
    pub kind: ConfigKind,
    /// Who this project acts as, for example `acme/support`.
    pub authoring_owner: Owner,
    /// The versions of checkfu that may read this project, as a semver requirement (`>=0.1`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub requires: Option<String>,
    /// How far up paths may reach, relative to this file; at most the Git top level. Default `.`.
    #[serde(default = "dot")]
    pub root: String,
    /// Where manifests are looked for.
    #[serde(default)]
    pub discover: Discover,
    /// Workspaces by name. Default: one, `local`, embedded, at `.checkfu/workspace.db`.
    #[serde(default = "local_targets")]
    pub targets: BTreeMap<String, Target>,
    /// The target that is used when none is named. Default: `local`, or the only one there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub default_target: Option<String>,
    /// What the plan refuses and holds.
    #[serde(default)]
    pub policy: Policy,
    /// Addresses that changed: the live resource keeps its id and versions.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Moved>>")]
    pub moved: Vec<Moved>,
    /// Resources that are meant to go.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Removed>>")]
    pub removed: Vec<Removed>,
    /// Live resources that this project takes: unowned ones, and, where `from` names the owner that loses it, another's.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Adopt>>")]
    pub adopt: Vec<Adopt>,
    /// Decisions about conflicts, each void when live moves again.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Accept>>")]
    pub accept: Vec<Accept>,
    /// Files in bundles whose names look like secrets and are meant, as paths relative to this file.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub allow_secret_names: Vec<String>,
}

fn dot() -> String {
    ".".to_owned()
}

fn local_targets() -> BTreeMap<String, Target> {
    BTreeMap::from([("local".to_owned(), Target::Embedded { path: default_db() })])
}

fn default_db() -> String {
    ".checkfu/workspace.db".to_owned()
}

/// The one version of the manifest format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// `checkfu.com/v1`
    #[serde(rename = "checkfu.com/v1")]
    V1,
}

/// `Config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConfigKind {
    /// `Config`
    Config,
}

/// Globs relative to the project folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Discover {
    /// YAML files that may hold manifests. Default `**/*.yaml`, `**/*.yml`.
    pub manifests: Vec<String>,
    /// Markdown files that are agents. Default `agents/*.md`; `README.md` never is one.
    pub agents: Vec<String>,
    /// Folders with `SKILL.md`. Default `skills/*`.
    pub skills: Vec<String>,
    /// What is left out of all three. Default none.
    pub exclude: Vec<String>,
}

impl Default for Discover {
    fn default() -> Self {
        let own = |v: &[&str]| v.iter().map(|s| (*s).to_owned()).collect();
        Self {
            manifests: own(&["**/*.yaml", "**/*.yml"]),
            agents: own(&["agents/*.md"]),
            skills: own(&["skills/*"]),
            exclude: Vec::new(),
        }
    }
}

/// A workspace to plan and apply against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// One SQLite file.
    Embedded {
        /// Relative to `checkfu.yaml`; may lie outside `root`. Default `.checkfu/workspace.db`.
        #[serde(default = "default_db")]
        path: String,
    },
    /// A `checkfu serve`.
    Checkfu {
        /// Base URL, `https://…`; plain `http://` only to this machine.
        url: String,
        /// Where the token comes from.
        token: SecretRef,
        /// A PEM file with certificates that are trusted beside those of the system, relative to `checkfu.yaml`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        ca: Option<String>,
        /// May the token go over plain `http://` to another machine? Default false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        insecure: bool,
    },
}

/// Where a secret comes from; never the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// The name of an environment variable.
    pub env: String,
}

/// What moved live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDrift {
    /// Keep what moved live, show it, apply the rest.
    #[default]
    Hold,
    /// Put it back.
    Revert,
}

/// Writes to owned resources by no owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideWrites {
    /// Refused, unless by break-glass.
    #[default]
    Refuse,
    /// Allowed, audited, and shown as drift.
    Track,
}

/// Limits and protection, decided in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Most resources and memories that one plan may retire. Default 20.
    pub max_retire: u32,
    /// Most of this owner's live resources of one kind, or of the entries of one store or tree, in percent,
    /// where there were 10 or more. Default 30.
    #[schemars(range(max = 100))]
    pub max_retire_percent: u32,
    /// What happens to fields that moved live. Default `hold`.
    pub on_drift: OnDrift,
    /// Writes by no owner. Default `refuse`.
    pub outside_writes: OutsideWrites,
    /// Addresses, with globs, that are protected from retirement. Default none.
    pub protect: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_retire: 20,
            max_retire_percent: 30,
            on_drift: OnDrift::Hold,
            outside_writes: OutsideWrites::Refuse,
            protect: Vec::new(),
        }
    }
}

/// `moved:` — the address of a live resource changes, the resource stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The old address.
    pub from: Address,
    /// The new one.
    pub to: Address,
}

/// `removed:` — this resource is meant to go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    /// An address; the name may hold globs.
    pub address: String,
    /// Leave it live for this owner, whose next apply takes it where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Owner")]
    pub to: Option<Owner>,
    /// Leave it live and own it no more. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// `adopt:` — a live resource gets this owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adopt {
    /// The address it gets.
    pub address: Address,
    /// The target it lives in. Default: every target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub target: Option<String>,
    /// Its live id.
    pub id: String,
    /// The owner that loses it: this makes it a take-over. Default: nobody owns it, or its owner handed it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Owner")]
    pub from: Option<Owner>,
}

/// `accept:` — a decision about a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The resource in conflict.
    pub address: Address,
    /// The digest of what moved live that this decision is about, as the conflict prints it; void when live moves again.
    pub live: Digest,
    /// Which side wins: `file` is sent; `live` stays, held, until it is pulled into the file.
    pub take: Take,
    /// Why.
    pub reason: String,
}

/// A side of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// What the file says.
    File,
    /// What is live.
    Live,
}

/// A rule of the plan that a person may answer with `--allow RULE[=ADDRESS]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllowRule {
    /// More is retired than the policy says.
    Retire,
    /// Nothing is desired.
    Empty,
    /// A memory last written by a session.
    SessionMemory,
    /// An unowned live resource has the name of a create.
    SameName,
    /// Limits are loosened by the change that needs them.
    Loosened,
    /// The source is older, or another one.
    Source,
    /// `destroy=OWNER`: answers retire, empty and irreversible of a destroy.
    Destroy,
}

/// One `--allow`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Allowance {
    /// What is allowed.
    pub rule: AllowRule,
    /// For which address (or, for `destroy`, which owner); absent = for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl std::str::FromStr for Allowance {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (rule, subject) = match s.split_once('=') {
            Some((r, a)) => (r, Some(a.to_owned())),
            None => (s, None),
        };
        let rule = serde_json::from_value(serde_json::Value::String(rule.to_owned())).map_err(|_| {
            format!(
                "`{rule}` is not a rule: one of retire, empty, session-memory, same-name, loosened, source, destroy"
            )
        })?;
        if rule == AllowRule::Destroy && subject.is_none() {
            return Err("`destroy` needs the owner's name: --allow destroy=OWNER".to_owned());
        }
        Ok(Self { rule, subject })
    }
}

impl std::fmt::Display for Allowance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = serde_json::to_value(self.rule).unwrap_or_default();
        write!(f, "{}", rule.as_str().unwrap_or_default())?;
        self.subject.as_ref().map_or(Ok(()), |s| write!(f, "={s}"))
    }
}

//! The kind FileTree: a tree an agent works in, from an upload or a Git repository.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::mount::IdReference;
use crate::model::kinds::rules::{Rules, items};
use crate::model::kinds::{Change, Default_, Field, KindDef, Object, Problem, Refs, Retire, schema, shape};

/// Keys of a Git source that have a default, and the default.
const GIT_DEFAULTS: [(&str, &str); 2] = [("provider", "github"), ("refresh", "manual")];

/// `spec` of a FileTree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name shown to people, 1–255 characters on one line. Default: `metadata.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// Where the files come from. Another `kind` makes a new tree that takes this one's place.
    pub source: Source,
    /// The principal that reads the repository: it owns the Connection and holds `use_connection`. Git only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub acted_as: Option<String>,
}

/// Where the files of a tree come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Files of this project: at most 1,024 files, 25 MB a file, 250 MB in all.
    Upload {
        /// A folder or one file, relative to this file.
        #[schemars(length(min = 1))]
        path: String,
        /// Globs of the files to take, relative to `path`. Default: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        include: Vec<String>,
        /// Globs of the files to leave out, relative to `path`. Default: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        exclude: Vec<String>,
        /// What to do with symbolic links. Default `refuse`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        symlinks: Option<Symlinks>,
    },
    /// A repository, read through a Connection.
    Git {
        /// Who hosts it. Default `github`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<Provider>,
        /// `owner/repo`, at most 255 characters.
        #[schemars(length(min = 3, max = 255))]
        repository: String,
        /// Branch, tag or commit, 1–255 characters.
        #[serde(rename = "ref")]
        #[schemars(length(min = 1, max = 255))]
        ref_: String,
        /// The Connection to read it through.
        connection: IdReference,
        /// When the ref is resolved again. Default `manual`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refresh: Option<Refresh>,
    },
}

/// What to do with symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Symlinks {
    /// An error that names the target. The default.
    Refuse,
    /// Keep those that stay inside the folder.
    Keep,
}

/// Who hosts a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// GitHub.
    Github,
}

/// When a ref is resolved again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// When someone asks for it.
    Manual,
}

/// The row of FileTree.
pub static DEF: KindDef = KindDef {
    kind: Kind::FileTree,
    plural: "file_trees",
    id_prefix: "ftree_",
    doc: "A tree an agent works in, from an upload or a Git repository; immutable, numbered revisions. One file is a tree with one entry.",
    retire: Retire::Archive,
    comes_back: true,
    unique_name: false,
    fields: FIELDS,
    example: EXAMPLE,
    replaces: |before, after| {
        let kind = |v: &Value| v.get("source").and_then(|s| s.get("kind")).cloned();
        if kind(before) == kind(after) { Vec::new() } else { vec!["source"] }
    },
    schema: || schema::of_spec::<Spec>(),
    full_schema: || schema::full::<Spec>(),
    check,
    canonical,
    to_wire: |spec, _, only| {
        let mut body = shape::Body::new(spec, only);
        body.same("name", "name", Value::Null)?;
        body.put("source", "source", Value::Null, |v| Ok(source_to_wire(v)))?;
        body.same("acted_as", "acted_as", Value::Null)?;
        body.labels();
        Ok(body.finish())
    },
    from_wire,
    answered: |body, _| shape::fill(body, "metadata", json!({})),
    refs: |_| Vec::new(),
    wire_refs: |_| Vec::new(),
};

const FIELDS: &[Field] = &[
    Field {
        name: "name",
        default: Default_::Required,
        limit: "1\u{2013}255 characters, one line; default: `metadata.name`",
        clear: "remove the key: the default comes back",
        doc: "The name shown to people.",
        ..Field::TEXT
    },
    Field {
        name: "source",
        ty: "`{kind: upload}` or `{kind: git, provider, repository, ref, connection, refresh}`",
        default: Default_::Required,
        limit: "another `kind` is a replace; repository `owner/repo`; ref 1\u{2013}255 characters",
        clear: "",
        doc: "Where the files come from; `path`, `include`, `exclude` and `symlinks` of an upload show in `content` alone.",
        ..Field::TEXT
    },
    Field {
        name: "acted_as",
        ty: "id of a principal",
        limit: "Git sources only",
        doc: "The principal that reads the repository.",
        ..Field::TEXT
    },
    Field {
        name: "content",
        ty: "digest",
        limit: "1\u{2013}1,024 files; 25 MB a file; 250 MB a revision",
        change: Change::Publish,
        clear: "",
        doc: "The files of an upload, by digest; authored as `source.path`.",
        ..Field::TEXT
    },
    Field::LABELS,
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: FileTree
metadata: {name: product-docs}
spec:
  source: {kind: upload, path: docs, include: [\"**/*.md\"], exclude: [\"drafts/**\"]}
---
apiVersion: checkfu.com/v1
kind: FileTree
metadata: {name: support-site}
spec:
  source: {kind: git, repository: acme/support-site, ref: main, connection: {id: conn_123}}
  acted_as: prin_123
";

fn check(spec: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.length(spec, "", "name", 1..=255);
    rules.one_line(spec, "", "name");
    rules.length(spec, "", "acted_as", 1..=255);
    let Some(source) = spec.get("source") else { return rules.finish() };
    match source.get("kind").and_then(Value::as_str) {
        Some("upload") => {
            rules.length(source, "/source", "path", 1..=4096);
            for key in ["include", "exclude"] {
                for (at, glob) in items(source, "/source", key) {
                    if let Some(text) = glob.as_str() {
                        rules.text(&at, key, text, 1..=1024);
                    }
                }
            }
            if spec.get("acted_as").is_some() {
                rules.say(
                    &kind::CONFLICT,
                    "/acted_as",
                    "`acted_as` reads a repository, and this tree is an upload",
                    "remove `acted_as`, or use a Git source",
                );
            }
        }
        Some("git") => check_git(&mut rules, spec, source),
        _ => {}
    }
    rules.finish()
}

fn check_git(rules: &mut Rules, spec: &Value, source: &Value) {
    if let Some(repository) = source.get("repository").and_then(Value::as_str)
        && !is_repository(repository)
    {
        rules.say(
            &kind::FORM,
            "/source/repository",
            format!("`{repository}` is not `owner/repo`"),
            "write it as in `acme/support-site`, without host or `.git`",
        );
    }
    rules.length(source, "/source", "repository", 1..=255);
    if let Some(name) = source.get("ref").and_then(Value::as_str) {
        rules.text("/source/ref", "ref", name, 1..=255);
        if !name.is_empty() && !is_ref(name) {
            rules.say(
                &kind::FORM,
                "/source/ref",
                format!("`{name}` is no name of a Git branch, tag or commit"),
                "write it as in `main` or `refs/tags/v1`",
            );
        }
    }
    if let Some(connection) = source.get("connection") {
        rules.length(connection, "/source/connection", "id", 1..=255);
    }
    if spec.get("acted_as").is_none() {
        rules.say(
            &kind::MISSING,
            "/source",
            "a Git source is read as a principal, and `acted_as` is not there",
            "add `acted_as: PRINCIPAL_ID` beside `source`",
        );
    }
}

fn is_repository(text: &str) -> bool {
    let part = |p: &str| {
        !p.is_empty()
            && !matches!(p, "." | "..")
            && p.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    };
    text.split_once('/').is_some_and(|(owner, name)| part(owner) && part(name) && name.strip_suffix(".git").is_none())
}

/// Git's own rules for names of refs, as far as they can be seen in the name.
fn is_ref(name: &str) -> bool {
    let part = |p: &str| !p.is_empty() && !p.starts_with('.') && p.strip_suffix(".lock").is_none();
    !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && name != "@"
        && !name.chars().any(|c| c.is_control() || c == ' ' || "~^:?*[\\".contains(c))
        && name.split('/').all(part)
}

fn canonical(name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_name(&mut out, &mut from, name);
    if let Some(source) = from.get("source") {
        let mut kept = Object::new();
        shape::put_whole(&mut kept, source, "kind");
        if source.get("kind").and_then(Value::as_str) != Some("upload") {
            for key in ["repository", "ref", "connection"] {
                shape::put_whole(&mut kept, source, key);
            }
            for (key, default) in GIT_DEFAULTS {
                shape::put_scalar(&mut kept, source, key, default);
            }
        }
        out.insert("source".to_owned(), Value::Object(kept));
    }
    shape::put_whole(&mut out, &from, "acted_as");
    shape::put_whole(&mut out, &from, "content");
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn source_to_wire(source: &Value) -> Value {
    if source.get("kind").and_then(Value::as_str) == Some("upload") {
        return json!({ "kind": "upload" });
    }
    let mut out = source.as_object().cloned().unwrap_or_default();
    if let Some(id) = out.remove("connection").as_ref().and_then(|c| c.get("id")) {
        out.insert("connection_id".to_owned(), id.clone());
    }
    for (key, default) in GIT_DEFAULTS {
        out.entry(key).or_insert_with(|| default.into());
    }
    Value::Object(out)
}

fn from_wire(body: &Value, _refs: &Refs, _applied: Option<&Value>) -> Value {
    let mut spec = Object::new();
    for key in ["name", "acted_as", "content"] {
        shape::put_whole(&mut spec, body, key);
    }
    if let Some(source) = body.get("source").and_then(Value::as_object) {
        let mut source = source.clone();
        if let Some(id) = source.remove("connection_id") {
            source.insert("connection".to_owned(), json!({ "id": id }));
        }
        spec.insert("source".to_owned(), Value::Object(source));
    }
    canonical("", Value::Object(spec), &shape::wire_labels(body))
}

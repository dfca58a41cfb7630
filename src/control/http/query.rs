//! The query parameters of each operation, as a table: what decoding takes and what the OpenAPI document says.

use crate::model::Kind;
use crate::model::kinds::{KINDS, KindDef};
use crate::model::op::Operation;

/// A query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as it is written in a URL (`created_at[gte]`).
    pub name: &'static str,
    /// What it takes.
    pub form: Form,
    /// One sentence.
    pub doc: &'static str,
    /// Must it be there?
    pub required: bool,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Any text that is not empty.
    Text,
    /// Texts: the parameter may be there many times.
    Texts,
    /// A whole number from a least to a most.
    Number(u64, u64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An RFC 3339 time.
    Time,
    /// 64 lower-case hex digits.
    Hex,
    /// `sha256:` and 64 lower-case hex digits.
    Digest,
    /// An authoring owner, as `acme/support`.
    Owner,
    /// The name of a kind, as in manifests.
    Kind,
}

const fn of(name: &'static str, form: Form, doc: &'static str) -> Parameter {
    Parameter { name, form, doc, required: false }
}

const fn needed(name: &'static str, form: Form, doc: &'static str) -> Parameter {
    Parameter { name, form, doc, required: true }
}

const fn limit(most: u64, doc: &'static str) -> Parameter {
    of("limit", Form::Number(1, most), doc)
}

/// The largest number that a workspace holds.
pub(super) const MOST: u64 = i64::MAX.unsigned_abs();
/// Most items of a page of our own lists, and of skills and files.
const OURS: u64 = 1_000;
/// Most items of a page of the other lists.
const WIRE: u64 = 100;

const PAGE: Parameter = of("page", Form::Text, "The cursor that the page before gave as `next_page`.");
const LIMIT: Parameter = limit(WIRE, "Most items of the page. Default 20.");
const LIMIT_OURS: Parameter = limit(OURS, "Most items of the page. Default 20.");
const LIMIT_WHOLE: Parameter = limit(OURS, "Most items of the page. Default 1,000.");
const FROM: Parameter = of("created_at[gte]", Form::Time, "Only what was made at or after this time.");
const TO: Parameter = of("created_at[lte]", Form::Time, "Only what was made at or before this time.");
const OWNER: Parameter = of("owner", Form::Owner, "Only what this authoring owner has.");
const VIEW: &[&str] = &["basic", "full"];
const EXPECTED: Parameter = of(
    "expected_version",
    Form::Number(0, MOST),
    "The version that the resource must have; another one is a conflict.",
);

const LIST_HEAD: [Parameter; 6] = [
    OWNER,
    of("label", Form::Texts, "Only what has this label, as `key=value`; `%` and `=` of a key are written %25 and %3D."),
    of("include_archived", Form::Flag, "Archived ones too. Default false."),
    of("view", Form::OneOf(&["full", "summary"]), "Whole bodies (default), or id, version, authoring and digests."),
    FROM,
    TO,
];

macro_rules! listing {
    ($name:ident, $limit:expr $(, $more:expr)*) => {
        static $name: &[Parameter] = &[
            LIST_HEAD[0], LIST_HEAD[1], LIST_HEAD[2], LIST_HEAD[3], LIST_HEAD[4], LIST_HEAD[5], PAGE, $limit,
            $($more),*
        ];
    };
}
listing!(LIST, LIMIT);
listing!(LIST_OURS, LIMIT_OURS);
listing!(
    LIST_SKILLS,
    LIMIT_OURS,
    of(
        "source",
        Form::OneOf(&["custom", "anthropic"]),
        "Where the skills come from: a workspace has no `anthropic` ones."
    )
);

static PAGES: &[Parameter] = &[PAGE, LIMIT];
static PAGES_OURS: &[Parameter] = &[PAGE, LIMIT_OURS];
static RETIRE: &[Parameter] = &[EXPECTED];
static RETIRE_STORE: &[Parameter] = &[
    EXPECTED,
    of(
        "memory_version",
        Form::Number(0, MOST),
        "The number of the newest MemoryVersion that the store must have; another one is a conflict.",
    ),
];
static VERSION: &[Parameter] = &[of("version", Form::Number(1, MOST), "An old version. Default: the newest.")];
static FILE: &[Parameter] = &[needed("path", Form::Text, "The file's path in the revision.")];
static SHOW: &[Parameter] =
    &[of("view", Form::OneOf(VIEW), "Whether the answer has the content (`full`) or not (`basic`, default).")];
static SHOW_FULL: &[Parameter] =
    &[of("view", Form::OneOf(VIEW), "Whether the answer has the content (`full`, default) or not (`basic`).")];
const LIMIT_MEMORY: Parameter = limit(WIRE, "Most items of the page. Default 20; with `view=full` at most 20.");
static MEMORIES: &[Parameter] = &[
    of("path_prefix", Form::Text, "Only below this path, which ends with `/`."),
    of("depth", Form::Number(0, 1), "0 (default): all below; 1: what is right below, and a prefix for each folder."),
    SHOW[0],
    PAGE,
    LIMIT_MEMORY,
];
static MEMORY_DELETE: &[Parameter] =
    &[of("expected_content_sha256", Form::Hex, "The content that the memory must have, as bare hex.")];
static MEMORY_VERSIONS: &[Parameter] = &[
    of("memory_id", Form::Text, "Only of this memory."),
    of("operation", Form::OneOf(&["created", "modified", "deleted"]), "Only of this operation."),
    of("session_id", Form::Text, "Only by this session."),
    of("api_key_id", Form::Text, "Only by this API actor."),
    of("service_account_id", Form::Text, "Only by this service account: none writes to a workspace."),
    FROM,
    TO,
    SHOW[0],
    PAGE,
    LIMIT_MEMORY,
];
static FILES: &[Parameter] = &[
    of("ids[]", Form::Texts, "Only these, at most 100; not together with `page` and `limit`."),
    of("scope_id", Form::Text, "Only of this scope: no file of a workspace has one."),
    PAGE,
    LIMIT_OURS,
];
static SUMMARIES: &[Parameter] = &[
    of("owner", Form::Owner, "Whose resources; absent: those that nobody owns and that have one of the names."),
    of("kind", Form::Kind, "Only of this kind."),
    of("name", Form::Texts, "Without `owner`: only with one of these shown names."),
    PAGE,
    LIMIT_WHOLE,
];
static REFERRERS: &[Parameter] = &[
    of("ids", Form::Texts, "What is referred to: live ids, the parameter once for each."),
    of("me", Form::Owner, "Whose view the answer takes."),
];
static APPLIES: &[Parameter] = &[OWNER, PAGE, LIMIT_OURS];
static BLOB: &[Parameter] = &[needed("digest", Form::Digest, "The digest of the bytes, checked.")];
static AUDIT: &[Parameter] = &[
    of("resource", Form::Text, "Only about this resource."),
    of("owner", Form::Owner, "Only by this authoring owner."),
    of("apply", Form::Text, "Only for this Apply."),
    of("actor", Form::Text, "Only by this actor."),
    of("operation", Form::Text, "Only of this operation, as `agents.update`."),
    of("at[gte]", Form::Time, "Only at or after this time."),
    of("at[lte]", Form::Time, "Only at or before this time."),
    of("after", Form::Number(0, MOST), "Only after this sequence number."),
    LIMIT_WHOLE,
];

/// The kind and the verb of an operation's name; `None`: it is not about a kind.
pub fn kind_of(operation: &Operation) -> Option<(&'static KindDef, &'static str)> {
    let (plural, verb) = operation.name.split_once('.')?;
    KINDS.iter().find(|def| def.plural == plural).map(|def| (*def, verb))
}

/// The query parameters of an operation. Others are ignored.
pub fn parameters(operation: &Operation) -> &'static [Parameter] {
    if let Some((def, verb)) = kind_of(operation) {
        return match (verb, def.kind) {
            ("list", Kind::Skill) => LIST_SKILLS,
            ("list", Kind::Agent | Kind::Environment | Kind::MemoryStore) => LIST,
            ("list", _) => LIST_OURS,
            ("versions", Kind::Skill) => PAGES_OURS,
            ("versions", _) => PAGES,
            ("get", Kind::Agent) => VERSION,
            ("delete", Kind::MemoryStore) => RETIRE_STORE,
            ("delete", _) => RETIRE,
            ("file", _) => FILE,
            _ => &[],
        };
    }
    match operation.name {
        "memories.list" => MEMORIES,
        "memories.create" | "memories.update" => SHOW,
        "memories.get" => SHOW_FULL,
        "memories.delete" => MEMORY_DELETE,
        "memory_versions.list" => MEMORY_VERSIONS,
        "files.list" => FILES,
        "authoring.summaries" => SUMMARIES,
        "authoring.referrers" => REFERRERS,
        "applies.list" => APPLIES,
        "applies.state" => PAGES_OURS,
        "blobs.put" => BLOB,
        "audit.list" => AUDIT,
        _ => &[],
    }
}

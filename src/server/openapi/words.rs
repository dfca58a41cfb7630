//! What the document says in words.

use crate::control::http::query::kind_of;
use crate::model::op::Operation;

/// What the API is.
pub(super) const ABOUT: &str = "A workspace of agents and what they need, over HTTP. Agents, environments, skills, \
memory stores, memories and files have the shapes that their public SDK knows; the rest is checkfu's. Lists are \
paged: stop when `next_page` is null. Each write answers what it wrote, and `written` with the versions; with \
`Prefer: return=minimal` it answers `written` alone. `/v1/projects` is the old name of `/v1/file_trees`.";

/// Tags, and what each is about.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("agents", "Models with instructions, tools and skills; every change makes the next version."),
    ("environments", "Where work runs."),
    ("skills", "Folders with a `SKILL.md`; a version is a whole snapshot."),
    ("file_trees", "Trees that agents work in; immutable, numbered revisions."),
    ("memory_stores", "Durable knowledge; every write of memories makes a version of the store."),
    ("memories", "Texts of a store, by path."),
    ("memory_versions", "What was written to a memory, and by whom."),
    ("files", "Single files."),
    ("memory_mounts", "Which store an agent may attach, and how."),
    ("file_tree_mounts", "Which tree an agent may attach, and how."),
    ("authoring", "Who owns the desired configuration of what, and what planning needs to read."),
    ("applies", "The journal of applies, with their receipts."),
    ("blobs", "Bytes by their digest."),
    ("audit", "Who wrote what. Never bodies."),
    ("workspace", "Which workspace this is."),
    ("tokens", "Who may do what over HTTP."),
    ("server", "The server itself."),
];

/// One sentence about an operation.
pub(super) fn summary(operation: &Operation) -> String {
    let Some((def, verb)) = kind_of(operation) else { return other(operation.name).to_owned() };
    let kind = def.kind;
    match verb {
        "create" => format!("Makes a {kind}; may claim it in the same transaction."),
        "list" => format!("Lists {kind}s."),
        "get" => format!("One {kind}."),
        "update" => format!("Changes a {kind}: an omitted field stays, null clears it."),
        "archive" => format!("Archives a {kind} for good: it can be read and takes no change."),
        "delete" => format!("Deletes a {kind}."),
        "publish" => {
            format!("Publishes a version of a {kind}. Files are named by digest; their bytes are held before.")
        }
        "versions" => format!("Lists the versions of a {kind}, newest first."),
        "version" => format!("One version of a {kind}: its id or number, or `latest`."),
        "delete_version" => format!("Deletes a version of a {kind}."),
        "content" => format!("The files of a version of a {kind}, as one zip."),
        "tree" => format!("The files of a revision of a {kind}, without their bytes."),
        "file" => format!("The bytes of one file of a revision of a {kind}."),
        "write_contents" => "Writes many memories as one version; fails only if a path that it names moved.".to_owned(),
        _ => String::new(),
    }
}

fn other(name: &str) -> &'static str {
    match name {
        "memories.create" => "Makes a memory; a path that is taken is a conflict.",
        "memories.list" => "Lists the memories of a store, by path.",
        "memories.get" => "One memory.",
        "memories.update" => "Changes the content or the path of a memory.",
        "memories.delete" => "Deletes a memory.",
        "memory_versions.list" => "Lists what was written to the memories of a store, newest first.",
        "memory_versions.get" => "One version of a memory.",
        "memory_versions.redact" => "Takes the content out of a version of a memory, for good.",
        "files.create" => "Stores a file.",
        "files.list" => "Lists files, newest first.",
        "files.get" => "What is known of a file.",
        "files.content" => "The bytes of a file, where they may be had.",
        "files.delete" => "Deletes a file.",
        "authoring.owner" => "An owner's record, and one digest over all that it has.",
        "authoring.summaries" => "Resources of an owner, or those that nobody owns, without bodies.",
        "authoring.find" => {
            "Resources that other owners have at these addresses, that are offered there, or with these ids."
        }
        "authoring.bodies" => "Bodies of resources, what their ids mean, and what was last applied.",
        "authoring.resolve" => "The live ids and versions of symbolic references.",
        "authoring.referrers" => "Who refers to these resources.",
        "authoring.claim" => "Takes a resource that nobody owns, as the acting owner.",
        "authoring.release" => "Gives up a resource of the acting owner.",
        "authoring.hand_over" => {
            "Offers a resource of the acting owner to another owner, which takes it with a transfer."
        }
        "authoring.transfer" => {
            "Takes a resource that is offered; gives one's own another address; as an admin, takes any."
        }
        "authoring.protect" => "Protects a resource from being retired, or ends that.",
        "authoring.record" => "Records what was last applied to a resource.",
        "authoring.policy" => "Sets the policy of an owner.",
        "applies.begin" => "Begins an apply.",
        "applies.end" => "Ends an apply.",
        "applies.state" => "Reads what an owner had applied once an apply had ended.",
        "applies.list" => "Lists applies, newest first.",
        "applies.get" => "One apply with its receipt.",
        "blobs.missing" => "Which of these digests the workspace does not hold.",
        "blobs.put" => "Stores bytes under their digest, which is checked.",
        "blobs.get" => "The bytes of a digest.",
        "audit.list" => "Lists facts, oldest first; ask on with `after`, until none comes.",
        "workspace.get" => "Which workspace this is.",
        "tokens.create" => "Makes a token. Its secret is shown this once.",
        "tokens.list" => "Lists tokens, without their secrets.",
        "tokens.revoke" => "Ends a token.",
        _ => "",
    }
}

//! Codes of `control`.

codes! {
    CONFLICT = "validation.conflict", Error, "what you saw has moved on, or what you ask for is taken",
        "Every write names the state that it was planned against. Another write came first, or a name, an address or a mount destination belongs to another resource.",
        "Plan again; the message says what is there now and who wrote it.";
    INVALID = "validation.invalid", Error, "the workspace does not take this request",
        "A field is missing, of the wrong type, over its limit, or names something that cannot be used here.",
        "Correct what the message names.";
    METADATA = "validation.metadata", Error, "these labels cannot be set",
        "A resource has at most 16 labels; a key has 1 to 64 characters, a value at most 512.",
        "Shorten or leave out the label that the message names.";
    IMMUTABLE = "validation.immutable", Error, "this field cannot change",
        "The workspace sets it when the resource is made.",
        "Make a new resource; `plan` does so with a `replace`.";
    UNKNOWN_OPERATION = "operation.unknown", Error, "this kind has no such operation",
        "Not every kind can be updated, archived or deleted.",
        "Use an operation that the kind has; `checkfu explain KIND` names its retire verb.";
    NOT_FOUND = "resource.not_found", Error, "there is no such resource",
        "The id was never given, or the resource is deleted.",
        "Plan again, or correct the id.";
    ENVIRONMENT_NOT_FOUND = "environment.not_found", Error, "there is no such environment",
        "The id was never given, or the environment is deleted.",
        "Plan again, or correct the id.";
    ARCHIVED = "resource.archived", Error, "the resource is archived",
        "An archived resource can be read and takes no change.",
        "Make a new one; a plan made now does so where the address is still wanted.";
    ENVIRONMENT_ARCHIVED = "environment.archived", Error, "the environment is archived",
        "An archived environment can be read and takes no change.",
        "Make a new one; a plan made now does so where the address is still wanted.";
    CONFIG_TYPE = "environment.config_type", Error, "the type of an environment cannot change",
        "Whether work runs in the cloud or on machines of your own is set when the environment is made.",
        "Make a new environment; `plan` does so with a `replace`.";
    CONTENT_MISSING = "content.missing", Error, "the workspace does not hold these bytes",
        "Versions name file bodies by digest; the bodies are stored before the version is.",
        "Send the bodies that the message names, then try again.";
    CONTENT_MISMATCH = "content.mismatch", Error, "the bytes are not those of the digest",
        "Bodies are stored under the digest of their bytes, and that is checked.",
        "Read the file again and take its digest anew.";
    CONTENT_LIMIT = "content.limit", Error, "over the limit of a version or store",
        "A tree revision holds 1 to 1,024 files, a memory at most 102,400 bytes, a store at most 10,000 memories.",
        "Split the content, or leave files out.";
    SKILL_NAME = "content.skill_name", Error, "the SKILL.md does not name this skill",
        "A skill is named by the `name` in the front matter of its SKILL.md, and the name never changes.",
        "Write the skill's name into the front matter, or publish the files as a skill of their own.";
    ONLY_VERSION = "content.only_version", Error, "a skill keeps at least one version",
        "The version that is to be deleted is the only one that the skill has.",
        "Publish another version first, or delete the skill.";
    GIT_TREE = "file_tree.git_unsupported", Error, "this target cannot apply a tree from Git yet",
        "The embedded workspace has no connection to a Git provider.",
        "Use a target that has, or an `upload` source.";
    MEMORY_PATH = "memory.path", Error, "this is not a path of a memory",
        "A path begins with `/`, has 1 to 20 parts, none empty, `.` or `..`, no control or format characters, is in NFC and at most 1,024 bytes.",
        "Rename the file that the message names.";
    MEMORY_PATH_CONFLICT = "memory.path_conflict", Error, "a memory is in the way of this path",
        "A memory is never overwritten by making one or moving one, and no path is below another memory.",
        "Update the memory that the message names, or choose another path.";
    MEMORY_PRECONDITION = "memory.precondition_failed", Error, "the memory has other content than you expect",
        "Somebody wrote it since you read it; the message says who.",
        "Read the memory again, then write.";
    MEMORY_REDACT = "memory.redact_refused", Error, "this version of a memory cannot be redacted",
        "What a memory holds now is not redacted, and an agent's session redacts nothing.",
        "Write or delete the memory first, or act as a person or tool.";
    FILE_EXPIRED = "file.expired", Error, "the file has expired",
        "It was uploaded with a time after which its bytes are let go of, and that time is over.",
        "Upload it again.";
    FILE_NOT_DOWNLOADABLE = "file.not_downloadable", Error, "the file cannot be downloaded",
        "What was uploaded can be used, and is never given out again.",
        "Keep your own copy of what you upload.";
    OWNED_ELSEWHERE = "authoring.owned_elsewhere", Error, "another authoring owner has this resource",
        "A resource has at most one authoring owner, and only that one changes its configuration.",
        "Ask the owner that the message names to hand it over (`removed:` with `to:`), or take it over with `adopt:` and `from:`, which over HTTP needs a token with the admin scope.";
    OWNER_REQUIRED = "authoring.owner_required", Error, "this needs the acting owner",
        "Claims, releases, and what is recorded as applied belong to an authoring owner, and none acts or another does.",
        "Act as the owner of the resource.";
    NOT_ADMIN = "authoring.not_admin", Error, "this needs the admin scope",
        "Break-glass and a transfer from another owner pass over that owner.",
        "Use a token with the admin scope.";
    KEY_REUSED = "idempotency.key_reused", Error, "the idempotency key was used for another request",
        "A key stands for one request, so that a retry cannot do something else.",
        "Use a new key for a new request.";
    APPLY_CLOSED = "apply.closed", Error, "this Apply takes no more writes",
        "It does not exist, has ended, or is another owner's.",
        "Begin a new Apply.";
    STORE_LOCKED = "store.locked", Error, "another process holds the workspace locked",
        "The embedded workspace is one file with one writer at a time, and the other one did not finish in time.",
        "Wait until the other process (another checkfu, or a tool that has the file open) has ended, or end it, then run the command again: what is done stays done.";
    STORE_NEWER = "store.newer", Error, "the workspace was written by a newer checkfu",
        "Its schema has migrations that this program does not know, and writing it could lose something.",
        "Use a checkfu that is at least as new as the one that wrote it.";
    STORE_NOT_A_DATABASE = "store.not_a_database", Error, "this file is not a checkfu workspace",
        "The file at the target's path is something else, or a database of another program.",
        "Correct `targets.NAME.path`, or move the file away.";
    STORE_DAMAGED = "store.damaged", Error, "the workspace file is damaged",
        "It is truncated or overwritten, or its migrations are not those of this program. It was not touched.",
        "Restore it from a backup, or move it away: the next apply makes a new workspace.";
    STORE_READ_ONLY = "store.read_only", Error, "the workspace cannot be written",
        "The file or its folder is read-only for this user. `plan`, `drift`, `get`, `history` and `show` read it all the same.",
        "Give this user the right to write the file and its folder, or run the command as a user who has it.";
    STORE_NO_SPACE = "store.no_space", Error, "there is no space left for the workspace",
        "The disk, a quota or the file size limit is full. What was committed before is safe, the write at hand is undone.",
        "Make room, then apply again: it does the rest.";
    STORE_CANNOT_OPEN = "store.cannot_open", Error, "the workspace cannot be opened",
        "A folder on its path is missing or is a file.",
        "Correct `targets.NAME.path`.";
    STORE_IO = "store.io", Error, "the workspace cannot be read or written",
        "The system or SQLite reports an error that is none of the known ones.",
        "Look at the cause in the message; nothing was half done.";
    CONTROL_STOPPED = "control.stopped", Error, "the workspace is closed",
        "Its writer has ended, because the program ends or because of an error before.",
        "Run the command again; it does the rest.";
}

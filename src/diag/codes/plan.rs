//! Codes of `plan`.

codes! {
    CONFLICT = "plan.conflict", Error, "File and live changed the same field",
        "Both moved since the last apply, to different values. Whichever were taken, a decision of someone would be lost without a word, so this resource and what depends on it are left out.",
        "Write the live value into the file, or decide with a line under `accept:` in checkfu.yaml; the plan prints it.";
    ACCEPT_VOID = "plan.accept_void", Note, "An `accept:` line that decides nothing",
        "A decision is about what was live when it was made. Live moved since, so nobody has decided about what is live now.",
        "Look at what is live now, and write its digest into the line; the conflict prints it.";
    ROLLED_BACK = "plan.rolled_back", Error, "It would bring back what a rollback undid",
        "A rollback is a decision, and an unrelated merge is none against it. What was undone stays so until the source of that resource changes.",
        "Change it, or revert the change that was undone. To have it back as it was, roll back to an apply that had it.";
    MEMORY_BOTH = "plan.memory_both", Note, "A memory was changed in the files and live",
        "In `upkeep` what others write stays, so what the files say of such a memory is not sent.",
        "Join the two with `checkfu pull --drift ADDRESS`; it writes the line that lets the file be sent.";
    PIN_STAYS = "plan.pin_stays", Note, "A pin stays as it is",
        "A line under `accept:` took the files of a skill or tree that are live, so the version that the project's files would make is not made. Who pins it keeps the version that it has, and the rest of it is applied.",
        "Bring what is live into the files with `checkfu pull --drift ADDRESS`, or decide for the file.";
    NEW_ID = "plan.new_id", Note, "It comes back as another resource",
        "What was retired does not come back: a rollback makes it anew, and versions, sessions and memories stay with the old id.",
        "Nothing, if that will do.";
    MEMORY_LOST = "plan.memory_lost", Note, "A memory that a rollback cannot bring back",
        "Its recorded contents are not in the workspace any more: a version that was redacted is gone for good. The rest of the store goes back.",
        "Write it into the files, and apply them.";
    UNDONE_RETURNS = "plan.undone_returns", Note, "What a rollback undid comes back with a change",
        "A rollback undoes a resource as a whole, until its own source changes. It changed, so all that it says is applied, and with it what was undone.",
        "Take out of the file what is to stay undone.";
    PROTECTION_STAYS = "plan.protection_stays", Note, "What is taken over stays protected",
        "Protection is a property of the live resource. Who takes it over does not take that away in the same plan: what a plan unprotects it could not retire, and whoever lost it may still count on it.",
        "Name it in `policy.protect` to keep it so; else the next plan unprotects it.";
    BLOCKED = "plan.blocked", Note, "It waits for another resource",
        "It refers to a resource that is in conflict, gone or in error, so its own change cannot be made in order.",
        "Settle the resource that it waits for.";
    STILL_USED = "plan.still_used", Note, "It stays since it is still used",
        "It is declared no more, or another took its place, but a resource whose own change is held, blocked or out of scope, or one of another owner, refers to it live.",
        "Settle the user, then plan again.";
    REPLACE_REFUSED = "plan.replace_refused", Error, "A field that cannot change in place",
        "The change needs a new resource, and the old one could not be brought back.",
        "In two steps: declare it under a new name; then let the old one go with a `removed:` line.";
    EXCHANGE = "plan.exchange", Error, "Two resources take each other's name or place",
        "The workspace holds unique names and the mount destinations of an agent unique at every moment, so one has to let go first. A mount is retired and made anew for that; a resource that others name by its id, that is protected, or of which something is not the file's, is not.",
        "In two steps: give one of them something else first and apply; then what it is to have.";
    REPLACE_HELD = "plan.replace_held", Error, "A replacement would lose what moved live",
        "A new resource would take the place of one that someone changed live.",
        "Write the live values into the file, or plan with --revert ADDRESS.";
    REFERENCE_MISSING = "plan.reference_missing", Error, "A reference to what is not in the workspace",
        "References to other owners and to live ids can be checked only against the workspace.",
        "Check the name and its owner, or let the other owner apply first.";
    REFERENCE_ARCHIVED = "plan.reference_archived", Error, "A reference to what is archived",
        "An archived or deleted resource stays readable and takes no new reference.",
        "Refer to one that is in use.";
    VERSION_MISSING = "plan.version_missing", Error, "A version that is not in the workspace",
        "A number counts in one workspace only, and a pinned content must have been published.",
        "Name a version that is there, or pin by content.";
    EXCLUDED = "plan.excluded", Error, "A dependency is left out",
        "What is planned refers to a resource that is not live and was left out of the plan.",
        "Plan the dependency too.";
    SCOPE_EMPTY = "plan.scope_empty", Error, "A selector that names nothing",
        "An address, path or label that is mistyped would plan nothing and say that all is well.",
        "Write an address as in Agent/support, the path of a file of a resource, or a label that there is.";
    UNSUPPORTED = "plan.unsupported", Error, "Not supported yet",
        "This version, or this target, cannot do what is asked for; to leave it out in silence would be worse.",
        "Take it out, or leave the resource out with --exclude.";
    NOT_READ = "plan.not_read", Error, "A live resource was not read",
        "Digests say that it differs, but the snapshot has no body to compare with.",
        "Plan again; if it stays, this is a fault of checkfu.";
    RETIRE = "plan.retire", Error, "More is retired than the policy says",
        "A wrong glob, an empty checkout or a moved folder look like a mass removal; so does a mass removal.",
        "If this is meant: --allow retire, or raise policy.max_retire in a change of its own.";
    EMPTY = "plan.empty", Error, "Nothing is declared",
        "A project that finds no resource would retire all that its owner has.",
        "If this is meant: --allow empty.";
    IRREVERSIBLE = "plan.irreversible", Error, "It would be gone for good",
        "An archived agent or memory store does not come back, so a missing file is not enough to let it go.",
        "Add it under `removed:` in checkfu.yaml.";
    PROTECTED = "plan.protected", Error, "It is protected",
        "Protection is stored with the live resource, so that the change that removes it cannot lift it too.",
        "Declare it, take it out of policy.protect, apply that; then remove it.";
    REFERRED = "plan.referred", Error, "Another owner uses it",
        "Retiring it would break what is not ours.",
        "Its users let it go first.";
    SESSION_MEMORY = "plan.session_memory", Error, "What a session wrote would go",
        "Outside `enforce`, memories that agents wrote are theirs.",
        "If this is meant: --allow session-memory=ADDRESS.";
    SAME_NAME = "plan.same_name", Error, "A live resource that nobody owns has the name",
        "Most likely it is the same one, made by hand, and there would be two.",
        "Adopt it with an `adopt:` line; or, if it is another one: --allow same-name=ADDRESS.";
    LOST = "plan.lost", Error, "Another owner took it",
        "It is declared here, and another owner has it by now. Made anew there would be two, so it and what depends on it are left out; nothing of it is retired.",
        "Take it out of the files, or take it back with `adopt:` and `from:`.";
    OWNED_ELSEWHERE = "plan.owned_elsewhere", Error, "Another owner has what is to be adopted",
        "A resource has one owner, and loses it never without being named.",
        "Let its owner hand it over, or name the owner that loses it with `from:`.";
    ADOPT_MISSING = "plan.adopt_missing", Error, "There is nothing to adopt",
        "An `adopt:` line names a live resource by its id, and the address that is declared for it.",
        "Check id, kind and address; name the `target:` if it lives in one workspace alone.";
    ADDRESS_TAKEN = "plan.address_taken", Error, "Two live resources are to be at one address",
        "A `moved:` or `adopt:` line leads to an address at which there is a live resource already.",
        "Take the line out, or give one of the two another name and apply that first.";
    SAME_ADDRESS = "plan.same_address", Error, "Another owner has a resource at this address",
        "It may be one that moves from one repository to another, changed on the way or not. Made now there would be two, and the old one would be retired. Two owners may have the same address, but a second resource is not made without a word.",
        "Wait until its owner hands it over, take it over, or, if it is another one, once: --allow same-name=ADDRESS.";
    NEWER_VERSION = "plan.newer_version", Note, "A pinned resource of another owner has a newer version",
        "A pin moves only by a change of the file.",
        "Look at the newer version, and pin it if it is wanted.";
    NAME_TAKEN = "plan.name_taken", Error, "Another resource has the unique name",
        "Some kinds have names that are unique in a workspace, whoever owns them. Another owner, or nobody, has this one, so the workspace would refuse the change.",
        "Give it another name, or let the other one go or take another name first.";
    SHARED_WRITE = "plan.shared_write", Error, "A shared store mounts read_only",
        "A store that belongs to the workspace, an agent or a collaboration space can be read by all who mount it, so none of them may write to it by a mount.",
        "Write access: read_only.";
    LOOSENED = "plan.loosened", Error, "Limits are loosened by the change that needs them",
        "A limit that moves together with what it limits, limits nothing.",
        "Apply the policy first, or, if this is meant: --allow loosened.";
    SOURCE = "plan.source", Error, "The source is older, or another one",
        "A stale checkout would undo what was applied since; a copied owner line would fight with the original.",
        "Update the checkout, give the copy its own owner, or, if this is meant: --allow source.";
    SOURCE_UNKNOWN = "plan.source_unknown", Note, "It cannot be told whether the source is newer",
        "Without the history of the repository commits cannot be compared.",
        "Fetch the whole history.";
    NOTHING_LEFT = "plan.nothing_left", Note, "A line of checkfu.yaml with nothing left to do",
        "What the line decides is done.",
        "Take the line out.";
    MOVED_OFFER = "plan.moved_offer", Note, "A resource seems to have been renamed",
        "One is created and one of equal content retired in the same plan.",
        "Add the `moved:` line that the plan shows. A skill keeps its id only with its old name.";
    FILE_TOO_LARGE = "plan.file_too_large", Error, "The plan file is too large",
        "What is read into memory is bounded.",
        "Plan a part: plan ADDRESS….";
    FILE_SYNTAX = "plan.file_syntax", Error, "The plan file cannot be read",
        "It is not JSON, or has a field that a plan does not have.",
        "Plan anew with -o FILE.";
    FILE_FORMAT = "plan.file_format", Error, "A plan file of another format",
        "It was made by another version of checkfu.",
        "Plan anew, or use the version that made it.";
    FILE_DIGEST = "plan.file_digest", Error, "The plan file was changed",
        "Its digests do not fit what it holds, so it is not what was reviewed.",
        "Plan anew with -o FILE.";
    FILE_UNSOUND = "plan.file_unsound", Error, "The plan file is not sound",
        "It breaks a rule that every plan keeps, whoever made it.",
        "Plan anew with -o FILE.";
}

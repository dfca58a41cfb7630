//! Codes of runs in continuous integration.

codes! {
    INPUT = "ci.input", Error, "An input cannot be used",
        "The inputs of the action, and the variables CHECKFU_CI_… that carry them, are checked before anything is done",
        "Write what the message says; docs/ci.md lists all inputs";
    SURROUNDINGS = "ci.surroundings", Error, "This does not run where it says",
        "On GitHub the runner names the check-out, its folder for temporary files, the event and the repository",
        "Run it as a step of a workflow, or with `--provider plain`";
    FORK = "ci.fork", Error, "What a fork proposes is not applied",
        "A fork's code is written by anybody, and an apply has a token that may write",
        "Merge the pull request; the apply of the branch does it then";
    ORIGIN = "ci.origin", Error, "The token may not go to this server",
        "allowed-origins lists the servers that a token may be sent to, and the target is none of them",
        "Add the server to allowed-origins, in the workflow, or correct the target";
    APPROVAL_MISSING = "ci.approval_missing", Error, "Nobody approved an action",
        "With `approval: pull-request` only what our comment on a merged pull request showed is applied: the same action, from the same state. This one was shown by none, or it waits for one that was shown by none. The rest was applied.",
        "Let a pull request show what is due now, and merge it; or apply it with `approval: plan`";
    APPROVAL_VOID = "ci.approval_void", Warning, "A comment approves nothing",
        "A comment approves where this job's own login wrote it, where nobody else edited it, and where it shows the commit that was merged. Anybody could write one otherwise.",
        "Let the plan of the last commit be shown before merging, and leave its comment as it is";
    APPROVAL_UNREAD = "ci.approval_unread", Error, "What was approved cannot be read",
        "The pull requests of the commits since the last whole apply and their comments are read with github-token. Without them nothing is known to be approved, and nothing was applied.",
        "Give the job `pull-requests: write` (`read` is enough to apply) and `contents: read`, and run it again";
    INTERRUPTED = "ci.interrupted", Error, "The run was stopped before anything was done",
        "The job was cancelled while it planned. Nothing was written",
        "Run it again";
}

//! Codes of runs in continuous integration.

codes! {
    INPUT = "ci.input", Error, "An input cannot be used",
        "The inputs of the action, and the variables CHECKFU_CI_… that carry them, are checked before anything is done",
        "Write what the message says; docs/ci.md lists all inputs";
    SURROUNDINGS = "ci.surroundings", Error, "This does not run where it says",
        "On GitHub the runner names the check-out, its folder for temporary files, the event and the repository",
        "Run it as a step of a workflow, or with `--provider plain`";
    FORK = "ci.fork", Error, "What a fork or Dependabot proposes is not applied",
        "A fork's code is written by anybody, and an apply has a token that may write. `mode: plan` compares such a pull request with its branch, without a token",
        "Merge the pull request; the apply of the branch does it then";
    FOREIGN = "ci.foreign", Error, "Secrets and the files of somebody else do not go together",
        "pull_request_target, workflow_run, issue_comment and the like have the secrets of the repository, and anybody can start them. What is checked out must then be the commit that the event is about, or a branch of this repository, with nothing changed beside it. Nothing was sent.",
        "Plan on `pull_request`, where a fork gets no secrets; docs/ci.md says how to plan a fork's pull request after a look at it";
    CHANGED = "ci.changed", Error, "Files under review change where a token goes, or who acts",
        "In a pull request authoring_owner, the target and its address, certificates and token variable are those of the branch that it wants to get into. Nobody has merged the files yet, so they may not send the token elsewhere. Nothing was sent.",
        "Merge that change by itself, without a plan; the plan of the next pull request goes by it";
    ORIGIN = "ci.origin", Error, "The token may not go to this server",
        "allowed-origins lists the servers that a token may be sent to, and the target is none of them; without a list they are those of checkfu.yaml on the branch that a pull request wants to get into, which may have none yet",
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
    ISSUE = "ci.issue", Error, "What drifted could not be told on GitHub",
        "GitHub did not answer, or refused what it should take. The issue and the pull request about drift may not say what is live now, so the run fails; a right that the token lacks fails nothing. The job summary has what moved.",
        "Run it again; the message says what GitHub said";
    INTERRUPTED = "ci.interrupted", Error, "The run was stopped before anything was done",
        "The job was cancelled while it planned. Nothing was written",
        "Run it again";
}

//! Codes of runs in continuous integration.

codes! {
    INPUT = "ci.input", Error, "An input cannot be used",
        "The inputs of the action, and the variables CHECKFU_CI_… that carry them, are checked before anything is done",
        "Write what the message says; docs/ci.md lists all inputs";
    SURROUNDINGS = "ci.surroundings", Error, "This does not run where it says",
        "On GitHub the runner names the check-out, its folder for temporary files, the event and the repository",
        "Run it as a step of a workflow, or with `--provider plain`";
}

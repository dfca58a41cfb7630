//! Codes of `apply`.

codes! {
    CONTENT_MISSING = "plan.content_missing", Error,
        "A file that the plan needs is missing or has changed",
        "A plan names file bodies by digest; the bytes come from the working tree. Before the first write, every body that the workspace does not hold is opened and checked. One of them is gone, cannot be read, or has other bytes than when the plan was made. Nothing was sent.",
        "Check out the commit that the plan was made from, or make a new plan with `checkfu plan`.";
    OTHER_WORKSPACE = "apply.other_workspace", Error,
        "The plan was made for another workspace",
        "A plan says which workspace, and which epoch of it, it was made for. The ids and versions in it mean nothing anywhere else, nor after a restore. A plan for a workspace that is new is refused once this owner has something there. Nothing was sent.",
        "Make a new plan with `checkfu plan` against the workspace that you mean.";
    OTHER_IDS = "apply.other_ids", Error,
        "What the plan refers to is something else by now",
        "A plan names what it refers to by address, and by the live id that this had when it was made. Before the first write each is looked up again. One of them is gone, was made anew, or was never that resource: a plan file can be edited. Nothing was sent.",
        "Make a new plan with `checkfu plan`.";
    REFUSED = "apply.refused", Error,
        "The plan may not be applied",
        "At least one finding of the plan refuses it. Nothing was sent.",
        "Show the plan to read its findings; answer them in the files or with `--allow`, and plan again.";
    UNSOUND = "apply.unsound", Error,
        "The plan is not sound",
        "The checker runs on every plan before the first write, whoever made it. This one breaks a rule: its digest is not that of its actions, a dependency is missing or comes later, or a payload does not fit its operation. Nothing was sent.",
        "Do not edit plan files. Make a new plan with `checkfu plan`.";
    OTHER_PLAN = "apply.other_plan", Error,
        "The plan is not the reviewed one",
        "`--plan-digest` names the plan that was reviewed. The plan made now has another digest: the files, the workspace or an allowance changed since. Nothing was sent.",
        "Review the new plan, then apply it with its digest.";
    STALE = "apply.stale", Warning,
        "What the action was planned against has moved on",
        "Every action is a compare-and-swap on what the plan saw. Somebody changed the resource, took its ownership or made one at its address since. This action, its dependents and the retirements still to come wrote nothing; the rest was done.",
        "Plan again and look at what moved.";
    MOVED_SINCE = "apply.moved_since", Warning,
        "Done by this plan before, then moved on",
        "The workspace had recorded this very operation as done, by an earlier run of the same plan. The resource has been changed since, so it is not as the plan leaves it.",
        "Plan again and look at what moved.";
    BLOCKED = "apply.blocked", Warning,
        "Not started because another action did not end well",
        "An action runs only when all that it depends on is done, and no retirement runs after any action was stale or failed.",
        "See the action that is named as the cause; then plan and apply again.";
    NOT_ENDED = "apply.not_ended", Error,
        "The Apply could not be ended in the workspace",
        "The actions ran and the receipt is complete, but the workspace could not be told that the Apply is over. It stays open in the history; nothing waits for it.",
        "Nothing needs repair. The next apply will mention the one that is still open.";
    NOT_SETTLED = "apply.not_settled", Error,
        "After the apply the workspace is not as the plan says",
        "The workspace is read back after every apply and planned again. Something is left to do that is neither failed, blocked, stale, held nor moved by another Apply. That is a defect in checkfu or in the workspace.",
        "Run `checkfu plan` to see the fields, and report it with the receipt.";
    NOT_READ_BACK = "apply.not_read_back", Error,
        "The workspace could not be read after the apply",
        "The actions ran and the receipt is complete, but what they left could not be read, so it is not known whether all is as planned.",
        "Run `checkfu plan` once the workspace answers again; it says what is left, if anything is.";
    UNEXPECTED_ANSWER = "control.unexpected_answer", Error,
        "The workspace answered with something else",
        "Every operation has one kind of answer, and this one came with another. The workspace is not of this version, or it has a defect.",
        "Check that checkfu and the workspace are of one version, then report it.";
    MISSING_ID = "apply.missing_id", Error,
        "No live id is known for a reference",
        "An action refers to a resource or a version that neither the plan names nor an action that it depends on has made.",
        "Make a new plan with `checkfu plan`.";
}

//! Codes of `kind`: rules on one spec that a JSON Schema cannot say with a good message.

codes! {
    LIMIT = "kind.limit", Error,
        "A value is outside its limits",
        "The control plane refuses longer texts, larger numbers and longer lists than these, so the apply would fail half way. Lengths are counted in characters (Unicode scalar values) unless the message says bytes",
        "Shorten the value, or split it; `checkfu explain KIND.field` shows the limit";
    FORM = "kind.form", Error,
        "A value is not in one of its forms",
        "The field takes a few written forms, and this is none of them or a mix of two",
        "Write one of the forms that the message lists";
    CONFLICT = "kind.conflict", Error,
        "Two parts of a spec exclude each other",
        "Each part is valid alone, but together they have no meaning or the control plane refuses them",
        "Remove one of the two";
    MISSING = "kind.missing", Error,
        "A part needs another part that is not there",
        "Something in this spec has an effect only with something else that the spec does not say",
        "Add what the message names, or remove the part that needs it";
    DUPLICATE = "kind.duplicate", Error,
        "One thing is listed twice",
        "Items of this list are told apart by a name; the second one would silently win or be refused",
        "Merge the two items or rename one";
    PATH = "kind.path", Error,
        "A path is not absolute and normalized",
        "Paths inside a workspace start with `/` and have no empty, `.` or `..` part, so that equal places have equal names and overlaps can be seen",
        "Write the path as the message shows it";
    OVERLAP = "kind.overlap", Error,
        "Two prefixes overlap",
        "Each memory belongs to exactly one entry of `contents`, because the entry's mode says who may change it",
        "Use prefixes that do not contain each other";
}

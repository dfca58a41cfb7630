//! Codes of `skill`: what is asked of a `SKILL.md`. The severities here are those of the profile `checkfu`;
//! `desired::profile` holds the others.

codes! {
    NO_FRONT_MATTER = "skill.no_front_matter", Error, "SKILL.md without front matter",
        "A skill's name and description are in the front matter; without it every client drops the skill.",
        "Begin the file with a line `---`, then `name` and `description`, then `---` again.";
    NOT_CLOSED = "skill.not_closed", Error, "front matter that is not closed",
        "Front matter ends at the next line that is exactly `---`; readers differ on anything else.",
        "Write a line `---` between the fields and the text.";
    NAME_MISSING = "skill.name_missing", Error, "no name",
        "Clients find a skill by its name.",
        "Add `name:` with the folder's name.";
    NAME_FORM = "skill.name_form", Error, "a name that is not allowed",
        "A name has lower-case letters, digits and single hyphens between them, and at most 64 characters.",
        "Choose such a name, for the folder too.";
    NAME_UNICODE = "skill.name_unicode", Error, "a name beyond a-z, 0-9 and hyphens",
        "The open format allows other scripts; addresses, several clients and uploads do not.",
        "Use a-z, 0-9 and hyphens.";
    NAME_FOLDER = "skill.name_folder", Error, "name and folder differ",
        "The folder's name is the skill's; clients refuse or mix up skills where the two differ.",
        "Make them equal.";
    NAME_RESERVED = "skill.name_reserved", Warning, "a reserved word in the name",
        "Names with `claude` or `anthropic` are refused when uploaded to Claude.",
        "Choose another name if the skill is meant for an upload.";
    DESCRIPTION_MISSING = "skill.description_missing", Error, "no description",
        "The description is all that an agent sees before it decides to use the skill.",
        "Say what the skill does and when to use it.";
    DESCRIPTION_LONG = "skill.description_long", Error, "a description that is too long",
        "At most 1,024 characters (code points), line ends at its end not counted.",
        "Move detail into the text below the front matter.";
    DESCRIPTION_BREAK = "skill.description_break", Note, "a description that is too long with its last line end",
        "The reference validator counts the line end of a `|` block; with it the description is over 1,024 characters.",
        "Use `|-` or `>-`, which keep no line end.";
    DESCRIPTION_TAGS = "skill.description_tags", Warning, "angle brackets in the description",
        "Uploads to Claude refuse XML tags in a description, and its packager any `<` or `>`.",
        "Write it without angle brackets.";
    DESCRIPTION_CUT = "skill.description_cut", Warning, "a description that ends at a comment",
        "In YAML ` #` begins a comment, so readers see a shorter text than the line holds.",
        "Put the text in quotes.";
    FIELD_TYPE = "skill.field_type", Error, "a field of the wrong type",
        "`name`, `description` and `compatibility` are texts; clients refuse other types.",
        "Write a text.";
    FIELD_SHAPE = "skill.field_shape", Warning, "a field of an unusual type",
        "The open format says text for `license` and `allowed-tools`, and texts by key for `metadata`; validators let other types pass, clients may not.",
        "Write `allowed-tools` as one text with blanks between, and `metadata` without nesting.";
    COMPATIBILITY_LONG = "skill.compatibility_long", Error, "a compatibility that is too long",
        "At most 500 characters.",
        "Shorten it.";
    COMPATIBILITY_EMPTY = "skill.compatibility_empty", Warning, "an empty compatibility",
        "The open format asks for 1 to 500 characters where the field is present.",
        "Remove the key.";
    TYPED_SCALAR = "skill.typed_scalar", Warning, "a text that other readers take for a number, boolean or date",
        "Here it is the text as written; readers with typed YAML see another value and some refuse it.",
        "Put it in quotes.";
    OUTER_BLANKS = "skill.outer_blanks", Warning, "blanks around the name",
        "They are dropped here and by validators; a client that compares the raw text finds no such folder.",
        "Remove them.";
    UNKNOWN_FIELD = "skill.unknown_field", Warning, "a field that the open format does not know",
        "Some clients use further fields; the reference validator and uploads to Claude refuse them.",
        "Move it under `metadata` if it is your own.";
    FLOW_STYLE = "skill.flow_style", Warning, "`[…]` or `{…}` in the front matter",
        "Plain YAML, but the reference validator refuses it.",
        "Write lists and maps over several lines.";
    ANCHORS = "skill.anchors", Warning, "anchors, aliases or merge keys in the front matter",
        "Plain YAML, but the reference validator refuses them.",
        "Write the value out.";
    BODY_EMPTY = "skill.body_empty", Warning, "no text below the front matter",
        "An agent that uses the skill reads nothing.",
        "Write the instructions.";
    BODY_LONG = "skill.body_long", Note, "more than 500 lines of text",
        "All of it goes into the context of the agent that uses the skill.",
        "Move detail into files of the folder and name them in the text.";
}

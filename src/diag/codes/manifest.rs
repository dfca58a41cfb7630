//! Codes of `manifest`.

codes! {
    YAML_SYNTAX = "manifest.yaml_syntax", Error, "the YAML cannot be read",
        "The text breaks the grammar of YAML, so nothing of the document is known.",
        "Look at the place shown and at the line above it; quote texts that hold `: `, ` #`, or begin with a sign.";
    UNQUOTED_COLON = "manifest.unquoted_colon", Error, "a colon in a text without quotes",
        "In YAML `: ` ends a key. A text that holds it must be in quotes; readers that split lines take it, others drop the file.",
        "Put the text in quotes, as in the line shown.";
    TEMPLATE = "manifest.template", Error, "a template without quotes",
        "`{{x}}` without quotes is a map inside a map in YAML, not a text.",
        "Put the value in quotes: `\"{{x}}\"`.";
    BLOCK_INDENT = "manifest.block_indent", Error, "a block text begins deeper than it goes on",
        "The first line of a `|` or `>` block sets its indentation; a later line with less ends the block.",
        "Give the indentation as a number (`|2`), or indent the later lines as far as the first.";
    TAB = "manifest.tab", Error, "a tab in the indentation",
        "YAML counts blanks to see what is inside what; a tab has no width.",
        "Indent with spaces.";
    DUPLICATE_KEY = "manifest.duplicate_key", Error, "a key is written twice",
        "Readers differ in which of the two they take, so neither is safe.",
        "Keep one of the two.";
    COMPLEX_KEY = "manifest.complex_key", Error, "a key is a list or a map",
        "No field has such a name; most often quotes are missing around `{…}` or `[…]`.",
        "Quote the key or the value.";
    TAG = "manifest.tag", Error, "a YAML tag",
        "What a tag such as `!env` means differs from reader to reader.",
        "Write the value without a tag, in quotes if it is a text.";
    MERGE_KEY = "manifest.merge_key", Error, "`<<` without a map",
        "A merge key takes over the entries of a map, or of each map of a list.",
        "Give it an alias of a map: `<<: *base`.";
    ALIAS = "manifest.alias", Error, "an alias that stands for nothing",
        "`*name` repeats what `&name` marked before it in the same document, and cannot hold itself.",
        "Define the anchor first, or put the text in quotes if it only begins with `*`.";
    ALIAS_EXPANSION = "manifest.alias_expansion", Error, "aliases expand too far",
        "Aliases of aliases grow without bound; 10 MB of them in one document are the limit.",
        "Write fewer aliases, or split the document.";
    TOO_DEEP = "manifest.too_deep", Error, "nested too deep",
        "No manifest needs more than 128 levels; the bound keeps a hostile file from using up memory.",
        "Flatten the value.";
    TOO_LARGE = "manifest.too_large", Error, "the file is too large",
        "A file of manifests holds at most 64 MB and two million values.",
        "Split the file.";
    TOO_MANY = "manifest.too_many", Error, "more findings than are shown",
        "Of one document 1,000 findings are shown and of one file 10,000: what is wrong in so many places mostly has one cause.",
        "Correct what is shown, or leave the file out if it is no manifest, and validate again.";
    NUL = "manifest.nul", Error, "a NUL byte in a text",
        "A file with a NUL byte is no text, or is one in UTF-16; some readers cut it there.",
        "Save the file as UTF-8, without NUL.";
    CONTROL_CHARACTER = "manifest.control_character", Error, "a control character in YAML",
        "YAML allows no control characters but tab and line ends; some readers refuse the file, some crash.",
        "Remove it, or write it as an escape in double quotes (`\"\\u0007\"`).";
    BOM = "manifest.bom", Warning, "a byte order mark at the start",
        "Some readers of this form skip the file or miss its first line because of the mark.",
        "Save the file as UTF-8 without a byte order mark.";
    LONE_CR = "manifest.lone_cr", Warning, "line ends of a lone CR",
        "Git and many readers see such a file as a single line.",
        "Save the file with LF line ends.";
    API_VERSION = "manifest.api_version", Error, "an unknown apiVersion",
        "This version of checkfu reads `checkfu.com/v1`.",
        "Write `apiVersion: checkfu.com/v1`.";
    NO_API_VERSION = "manifest.no_api_version", Warning, "a document looks like a manifest and is left alone",
        "Only documents with `apiVersion: checkfu.com/v1` are manifests; this one has the shape of one without it.",
        "Add `apiVersion: checkfu.com/v1`, or ignore this if the document is not meant for checkfu.";
    UNKNOWN_KIND = "manifest.unknown_kind", Error, "an unknown kind",
        "The kind says which resource a document declares.",
        "Write one of the kinds listed.";
    CONFIG_ELSEWHERE = "manifest.config_elsewhere", Error, "a Config outside of checkfu.yaml",
        "A project has one configuration, the file `checkfu.yaml` in its folder.",
        "Move the document to `checkfu.yaml`.";
    CONFIG_TWICE = "manifest.config_twice", Error, "a second Config in checkfu.yaml",
        "A project has one configuration; a second one, perhaps with another owner, would be passed over without a word.",
        "Keep one of the two; give the other a folder with a checkfu.yaml of its own.";
    CONFIG_MISSING = "manifest.config_missing", Error, "no Config in checkfu.yaml",
        "The first document of `checkfu.yaml` says who the project acts as.",
        "Write `apiVersion: checkfu.com/v1`, `kind: Config` and `authoring_owner: …`.";
    NOT_A_MAP = "manifest.not_a_map", Error, "not a map of fields",
        "A manifest is a map of keys and values.",
        "Write `key: value` lines.";
    NO_FRONT_MATTER = "manifest.no_front_matter", Error, "no front matter",
        "The first line of an agent's Markdown file is `---`; the fields follow, up to the next line that is `---`.",
        "Begin the file with `---`, the fields, and `---` again.";
    NOT_CLOSED = "manifest.not_closed", Error, "the front matter is not closed",
        "Front matter ends at the next line that is exactly `---`; an indented one or `...` does not close it.",
        "Write a line `---` between the fields and the text.";
    UNKNOWN_KEY = "manifest.unknown_key", Error, "an unknown key",
        "A misspelt field would silently mean its default.",
        "Correct or remove the key.";
    MISSING_KEY = "manifest.missing_key", Error, "a required key is missing",
        "The field has no default.",
        "Add the key.";
    WRONG_TYPE = "manifest.wrong_type", Error, "a value of the wrong type",
        "The field takes another type of value.",
        "Write a value of the type named.";
    NEEDS_QUOTES = "manifest.needs_quotes", Error, "a number or boolean where a text is due",
        "YAML reads `1.10` as the number 1.1 and `true` as a boolean; as a text the value must be in quotes.",
        "Put the value in quotes, as shown.";
    NULL = "manifest.null", Error, "null",
        "`spec` is total: a field that is absent has its default, so null would say nothing.",
        "Remove the key to get the default, or give a value.";
    WRONG_VALUE = "manifest.wrong_value", Error, "a value that is not allowed",
        "The field takes certain values, a range or a form.",
        "Write one of the values allowed.";
    WRONG_FORM = "manifest.wrong_form", Error, "a value in none of the forms allowed",
        "The field may be written in several ways, and this is none of them.",
        "Write it in one of the forms listed.";
    NAME = "manifest.name", Error, "a name that is not allowed",
        "Names are part of addresses: lower-case letters, digits and single hyphens, at most 64.",
        "Choose such a name; what people see is `spec.name`.";
    SYSTEM_NAME = "manifest.system_name", Note, "`system` is read as `instructions`",
        "On the wire the field is `system`; in manifests it is `instructions`.",
        "Write `instructions`.";
    INSTRUCTIONS_TWICE = "manifest.instructions_twice", Error, "instructions twice",
        "In an agent's Markdown file the text below the front matter is its instructions.",
        "Keep the text or the key, not both; texts to put before it go under `preamble`.";
    CONFLICT_MARKER = "manifest.conflict_marker", Error, "the mark of a conflict that nobody decided yet",
        "Two sides changed the same lines, and both stand in the file between `<<<<<<<` and `>>>>>>>`: after `pull --drift` what the file says and what is live, with what was last applied between them.",
        "Keep what is right and remove the marks. An example of a conflict belongs into a fenced block of code; in a file that is only passed on, as those beside SKILL.md and in trees, a blank in front of a mark makes it none.";
    TWO_DOCUMENTS = "manifest.two_documents", Error, "front matter of more than one document",
        "A line `...` or a second `---` ends a YAML document; front matter is exactly one.",
        "Remove the line.";
}

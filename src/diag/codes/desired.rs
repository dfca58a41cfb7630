//! Codes of `desired`.

codes! {
    DUPLICATE = "desired.duplicate", Error, "one address, two documents",
        "Kind and name are a resource's address; two documents would fight over one resource.",
        "Rename or remove one of the two.";
    SKILL_NAME = "desired.skill_name", Error, "a Skill document and its folder differ in name",
        "The folder's name is the skill's, in every form it is declared in.",
        "Give the document the folder's name.";
    DANGLING = "desired.dangling", Error, "a reference to nothing",
        "A plain name means a resource of this project; nothing here has it.",
        "Correct the name, declare the resource, or write `owner:Kind/name` for another owner's.";
    CYCLE = "desired.cycle", Error, "references in a circle",
        "Each of them would have to be made before the other.",
        "Break the circle.";
    OWN_ID = "desired.own_id", Error, "an id where a name is due",
        "The id is that of a resource of this project; named by id it would be made or moved without this reference noticing.",
        "Write its name.";
    PATH_ABSOLUTE = "desired.path_absolute", Error, "an absolute path",
        "Paths are relative to the file that names them, so that they mean the same on every machine.",
        "Write a relative path.";
    PATH_OUTSIDE = "desired.path_outside", Error, "a path that leaves the root",
        "Nothing outside `root` of checkfu.yaml is read.",
        "Move the file inside, or set `root: ..` (at most to the Git top level).";
    MANIFEST_IN_CONTENT = "desired.manifest_in_content", Note, "a document inside of content",
        "A folder that a manifest names is content: what is in it declares nothing.",
        "Nothing, if it is meant as content; else move the document out of the folder.";
    MANIFEST_IN_ITS_OWN = "desired.manifest_in_its_own", Error, "a manifest inside of the folder that it names",
        "It would be content of itself, so each change of it would change what it declares.",
        "Move the manifest out of the folder, or name another folder.";
    MOUNT_TWICE = "desired.mount_twice", Error, "one store or tree twice in an agent",
        "Short mounts are told apart by what they mount. For two of one store or tree, the long form gives each a name.",
        "Write one of them as the document shown.";
    MOUNT_FORM = "desired.mount_form", Error, "a short mount of something without a name",
        "The address of a short mount is made of the agent's name and the name of what it mounts; an id has none.",
        "Write the mount as the document shown.";
    FIELD_UNKNOWN = "desired.field_unknown", Error, "a mode for a field that is none",
        "`metadata.fields` takes `spec.FIELD`, `metadata.labels` and `metadata.labels.KEY`; of a store also `spec.contents.PATH`, where the path is below a prefix of `contents`.",
        "Correct the path.";
    FIELD_REASON = "desired.field_reason", Error, "`ignore` without a reason",
        "Whoever reads this later must see why the file says something that is not so.",
        "Add `reason: …`.";
    FIELD_DATE = "desired.field_date", Error, "`until` is no date",
        "A mode may end on a day.",
        "Write it as 2027-03-01.";
    FIELD_EXPIRED = "desired.field_expired", Warning, "a mode that has expired",
        "Its last day is over, so the file decides about the field again; where live differs it is held.",
        "Remove the entry, or give it a later day.";
    FIELD_EXPIRES = "desired.field_expires", Warning, "a mode that expires soon",
        "In 14 days or less the file decides about the field again.",
        "Bring the live value into the file, or give it a later day.";
    FIELD_OVERLAP = "desired.field_overlap", Error, "two modes for one field",
        "A map and one of its keys have different modes, and the mode of the map would win without a word.",
        "Name the keys of the map one by one.";
    PROTECT = "desired.protect", Error, "no glob of addresses",
        "`policy.protect` takes addresses such as `Agent/support`, with `*` and `?`.",
        "Correct the pattern.";
    PROTECTS_NOTHING = "desired.protects_nothing", Note, "a glob that protects nothing",
        "No declared resource matches it.",
        "Correct or remove the pattern.";
    REMOVED_DECLARED = "desired.removed_declared", Error, "declared and removed",
        "A resource cannot be meant to be and to go.",
        "Remove the document, or the line under `removed:`.";
    REMOVED_FORM = "desired.removed_form", Error, "a wrong `removed:` line",
        "`removed:` takes an address such as `Agent/old`, whose name may hold `*` and `?`; it goes, is kept and owned no more, or is left for one other owner.",
        "Correct the line.";
    MOVED = "desired.moved", Error, "a move that leads nowhere",
        "`moved:` gives a resource a new address of the same kind, which a document declares, while none declares the old one.",
        "Correct the addresses, or remove the line.";
    REQUIRES = "desired.requires", Error, "another version of checkfu is required",
        "The project says by `requires` which versions may read it.",
        "Use a version that fits, or change `requires`.";
    REQUIRES_FORM = "desired.requires_form", Error, "`requires` is no range of versions",
        "It is a semver range.",
        "Write, for example, `requires: \">=0.1\"`.";
    DEFAULT_TARGET = "desired.default_target", Error, "a target that is not declared",
        "`default_target` and `adopt` name one of `targets`, and there must be one.",
        "Name one of those, or declare it.";
    MOUNT_OVERLAP = "desired.mount_overlap", Error, "mounts of one agent overlap",
        "A path can show one store or tree.",
        "Give them paths of which none contains another.";
    NAME_TWICE = "desired.name_twice", Error, "one shown name for two resources",
        "Names of environments are unique in a workspace, so only one of them could be made.",
        "Give one of them another `spec.name`.";
    TOO_MANY_STORES = "desired.too_many_stores", Error, "too many memory stores",
        "A session attaches at most 8.",
        "Remove mounts, or put memories into fewer stores.";
    SHARED_WRITE = "desired.shared_write", Error, "a shared store that is mounted to be written",
        "A store of the workspace, an agent or a collaboration space is read by others too; only a principal's own store may be written through a mount.",
        "Use `access: read_only`, or a store with `owner: {principal: …}`.";
    WRITEBACK = "desired.writeback", Error, "writeback that cannot work",
        "Changes can be written back only to a Git tree.",
        "Use a FileTree with a Git source, or remove `writeback`.";
    ROSTER = "desired.roster", Error, "a multiagent in the roster of another",
        "Agents that another one uses are not multiagent themselves: sessions go one level deep.",
        "Name the agents of its roster in this one, or remove `multiagent` of the agent named.";
    READ_TOOL = "desired.read_tool", Error, "skills without the read tool",
        "An agent reads its skills with the `read` tool of the agent toolset.",
        "Add `{type: agent_toolset_20260401}` to `tools`, with `read` enabled.";
}

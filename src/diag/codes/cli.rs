//! Codes of `cli`.

codes! {
    USAGE = "cli.usage", Error, "The command line is wrong",
        "An option or argument is unknown, missing, or cannot be combined with another",
        "Run the command with --help to see what it takes";
    NO_PROJECT = "cli.no_project", Error, "There is no project here",
        "No checkfu.yaml is in this folder or in one above it",
        "Go into a project, name one with -C DIR, or make one with `checkfu init`";
    TARGET_UNKNOWN = "cli.target_unknown", Error, "There is no such target",
        "The name is not under `targets` in checkfu.yaml, or several are there and none is the default",
        "Name one of the targets with --target, or set `default_target`";
    CONFIRM = "cli.confirm", Error, "Somebody has to say yes",
        "The plan would change the workspace, and there is no terminal to ask on",
        "Look at the plan, then pass --yes, or --plan-digest with the digest that was reviewed and --yes";
    DECLINED = "cli.declined", Error, "The answer was no",
        "The question whether to apply was not answered with yes",
        "Run the command again when the plan is right; nothing was written";
    EXISTS = "cli.exists", Error, "The file is there already",
        "`init` and `new` never overwrite anything, `backup` and `restore` nothing without `--force`",
        "Choose another name or folder, or remove the file first";
    NAME = "cli.name", Error, "This cannot be a name",
        "Names are lower-case letters, digits and single hyphens, at most 64; owners are up to four parts joined by /",
        "Choose another name";
    WRITE = "cli.write", Error, "A file cannot be written",
        "The folder is read-only, the disk is full, a size limit is reached, or the path is no file",
        "Make room or choose another place; what was there before is untouched";
    READ = "cli.read", Error, "A file cannot be read",
        "It is not there, or may not be read",
        "Check the path and its permissions";
    NOT_FOUND = "cli.not_found", Error, "There is no such thing",
        "No resource of this project, no apply and no plan file has this name",
        "List what is there with `checkfu get` or `checkfu history`";
    NO_WORKSPACE = "cli.no_workspace", Error, "There is no workspace yet",
        "The target's database does not exist; the first apply makes it",
        "Run `checkfu apply`";
    TOPIC = "cli.topic", Error, "There is nothing of this name to explain or print",
        "It is no code, kind, field or schema",
        "Run `checkfu schema` for the schemas; codes are in docs/errors.md, kinds in docs/kinds/";
    WORKSPACE = "cli.workspace", Error, "The workspace answered with an error",
        "The operation was refused or could not be carried out; the message says why",
        "See the message; `checkfu doctor` checks the target";
    INTERNAL = "cli.internal", Error, "This should not happen",
        "Something that is always true was not",
        "Please report it with the message and the command";
    OUTPUT = "cli.output", Error, "The output cannot be written",
        "Standard output is full or broken",
        "Write it elsewhere; if it was an apply, `checkfu history` shows what was done";
}

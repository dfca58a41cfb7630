//! Codes of `edit`.

codes! {
    NO_EDITOR = "edit.no_editor", Error, "There is no editor",
        "Neither VISUAL nor EDITOR is set",
        "Set one of them to a command that opens a file and ends when it is closed, as in `EDITOR=nano` or `EDITOR='code --wait'`";
    EDITOR = "edit.editor", Error, "The editor did not end well",
        "It could not be started, or said by its exit code that nothing is to be written",
        "Try the command of VISUAL or EDITOR by hand; nothing was written";
    NOT_HERE = "edit.not_here", Error, "This cannot be changed by an edit",
        "An edit changes the fields of one live resource in place: not its address, not what needs a new resource, no files or memories, and no mounts, which are resources of their own",
        "Take it out of the text; change it in the files and apply";
    REFERENCE = "edit.reference", Error, "There is nothing live of this name",
        "An edit is written at once, so whatever it refers to must be live",
        "Name something that is live; `checkfu get` lists what this project has";
    MOVED = "edit.moved", Error, "It was changed while it was edited",
        "Another wrote the resource after it was opened, and writing would undo that",
        "Run the command again and bring in what the kept file says";
}

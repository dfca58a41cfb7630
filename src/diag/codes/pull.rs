//! Codes of `pull` and `adopt`.

codes! {
    PATH = "pull.path", Error, "A live path can be no file here",
        "Paths of trees, skills and memories come from whoever wrote them: one that would leave its folder, that other systems cannot hold, or that belongs to Git or checkfu is not written",
        "Rename or remove it in the workspace, then pull again; nothing was written";
    NO_NAME = "pull.no_name", Error, "A resource can get no address",
        "The name of a skill is its folder and its address; this one is no such name, or another skill has it",
        "Pull the others by their ids, and leave this one to the workspace";
    DIFFERS = "pull.differs", Error, "A file is there and differs",
        "Pull never overwrites what may be somebody's work",
        "Commit or move it, then pass --force; `pull --drift` brings only what moved live into the files that are there";
    IN_THE_WAY = "pull.in_the_way", Error, "Something that is no plain file is in the way",
        "A link, a folder or a special file has the name that is to be written, or lies on the way to it",
        "Remove it, then pull again";
    ELSEWHERE = "pull.elsewhere", Error, "It is declared in another file",
        "What is live differs from what the file says, and a second declaration would be an error",
        "`checkfu pull --drift ADDRESS` changes that file; or remove the declaration and pull again";
    OWNED_ELSEWHERE = "pull.owned_elsewhere", Error, "Another project owns it",
        "What another owner's files declare cannot be declared here too",
        "`checkfu adopt ADDRESS=ID --take-over OWNER` takes it, visibly and in review";
    ADOPTED = "pull.adopted", Error, "An `adopt:` line says otherwise",
        "The address is adopted with another id, or the id under another address",
        "Correct the line in checkfu.yaml, or name the other address";
    NOT_AS_LIVE = "pull.not_as_live", Warning, "A file does not say what is live",
        "What was written was read back as `plan` reads it, and means something else: a rule of `.gitignore` or `.gitattributes`, a glob of `discover`, or a live value that no file can say",
        "`checkfu plan` shows the difference";
    LOCK = "pull.lock", Error, "The lock file cannot be used",
        "It is no claude-lock.json of version 1, or a file that it names cannot be read as what it is",
        "Run the tool that wrote it once more, or remove the entry";
    NOT_PATCHED = "pull.not_patched", Error, "A file cannot be changed in one place",
        "It is changed value by value, so that comments, order and quotes stay; here no way was found to do that",
        "Change it by hand: the live value is shown by `checkfu plan`";
    CONFLICT = "pull.conflict", Error, "File and live changed the same to something else",
        "Both moved on from what was last applied, and it is nothing that marks can stand in: the file keeps what it says, so nothing is lost",
        "Write into the file what it is to be, and decide in checkfu.yaml: `accept:` with `take: file` sends the file, with `take: live` `checkfu pull --drift` brings what is live";
    PARTIAL = "pull.partial", Warning, "Only a part is declared here",
        "A project declares all that its owner has: what is live and not declared is retired by the next plan",
        "Pull the rest too, or plan and apply only what is named";
    LEFT = "pull.left", Warning, "Something is left where it is",
        "It has no form in a project, or is gone live",
        "Look at it; nothing has to be done where it was expected";
}

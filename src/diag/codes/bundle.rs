//! Codes of `bundle`.

codes! {
    ATTRIBUTE = "bundle.attribute", Error, "file under a Git filter",
        "`filter`, `ident` or `working-tree-encoding` in .gitattributes makes the bytes on disk differ from those in Git, so two machines would not agree on them.",
        "Take the file out of the filter, or leave it out of the folder with `exclude` or .checkfuignore.";
    BAD_GLOB = "bundle.bad_glob", Error, "not a glob",
        "A pattern of `discover`, `include` or `exclude` cannot be read.",
        "Write a glob such as `docs/**/*.md`: `*` stays inside one folder, `**` crosses folders.";
    BAD_IGNORE = "bundle.bad_ignore", Warning, "line of an ignore or attributes file that cannot be read",
        "A pattern in .gitignore, .checkfuignore or .gitattributes is not valid, so it has no effect.",
        "Correct or remove the line.";
    BAD_PATH = "bundle.bad_path", Error, "path that cannot be kept",
        "Paths in a bundle are UTF-8, `/`-separated, without empty, `.` or `..` parts, and at most 1,024 bytes long.",
        "Rename the file or shorten its path.";
    CASE_TWIN = "bundle.case_twin", Error, "two paths that differ only in case or in Unicode form",
        "On macOS and Windows the two are one file, so one of them would be lost there.",
        "Rename or remove one of the two.";
    EMPTY = "bundle.empty", Warning, "no file in the folder",
        "The folder holds nothing that may go into the bundle, or everything in it was left out; the latter is an error, since it is hardly ever meant.",
        "Add files, correct `include` and `exclude`, or take the folder back in with a `!` line in .checkfuignore.";
    FOLDER = "bundle.folder", Error, "no project folder",
        "The folder is missing, is no folder, or may not be read.",
        "Name the folder that holds checkfu.yaml, for example with `-C DIR`.";
    GIT_UNREADABLE = "bundle.git_unreadable", Warning, "Git repository that cannot be read",
        "There is a repository, but it is of a form that is not supported (SHA-256 ids, reftable, a sparse or split index), damaged, or of another user. Everything works as without Git: no source, modes and line ends as on disk.",
        "Check the folder out as an ordinary repository; when another user owns it, add it to Git's `safe.directory`.";
    LFS_POINTER = "bundle.lfs_pointer", Error, "Git LFS pointer instead of the file",
        "The file is a few lines that name its content, not the content.",
        "Fetch it with `git lfs pull`, then keep it outside LFS; or leave it out.";
    LIMIT = "bundle.limit", Error, "over a limit",
        "A tree holds at most 1,024 files, 25 MB (25,000,000 bytes) each and 250 MB in all; a skill 30 MB; a memory folder 10,000 files of 102,400 bytes each.",
        "Leave files out with `exclude` or .checkfuignore, or split the folder. The message names the offender and the five largest files.";
    MANY_FILES = "bundle.many_files", Warning, "many files in a skill",
        "Over 200 files some clients refuse a skill.",
        "Leave out what the skill does not need.";
    MISSING = "bundle.missing", Error, "no such file or folder",
        "A path in a manifest names nothing. Paths are relative to the file that names them, and case counts on every system.",
        "Correct the path.";
    NESTED_SKILL = "bundle.nested_skill", Warning, "SKILL.md inside a skill",
        "A folder with SKILL.md is one skill; some clients refuse one that holds a second SKILL.md.",
        "Move the inner skill beside the outer one.";
    NO_BASE = "bundle.no_base", Error, "commit to compare with that cannot be read",
        "What files change can only be told against an earlier commit, which has to be in the repository here. A check-out in continuous integration mostly holds one commit alone.",
        "In a workflow give actions/checkout `fetch-depth: 2` for a pull request, or `fetch-depth: 0` for the whole history; on GitLab set `GIT_DEPTH: 0`; elsewhere fetch the branch, and `git fetch --unshallow`.";
    NOT_A_FOLDER = "bundle.not_a_folder", Error, "file where a folder is due, or the reverse",
        "Skills and memories are folders of files; a text is a file.",
        "Correct the path.";
    NOT_A_SKILL = "bundle.not_a_skill", Note, "folder without SKILL.md",
        "A folder that `discover.skills` matches is a skill only when it holds SKILL.md.",
        "Nothing, if it is no skill; where skills lie deeper, add `skills/*/*` to `discover.skills`.";
    NOT_UTF8 = "bundle.not_utf8", Error, "not UTF-8 text",
        "Manifests, texts and memories are UTF-8.",
        "Save the file as UTF-8, or leave it out.";
    OUTSIDE = "bundle.outside", Error, "path outside the root",
        "No path may leave the folder that `root` in checkfu.yaml names, not through a link either.",
        "Move the file inside, or set `root` to a folder further up, at most the Git top level.";
    ROOT = "bundle.root", Error, "unusable root",
        "`root` in checkfu.yaml is the project folder or one above it, at most the Git top level; without Git it is the project folder.",
        "Write `root: .`, or `root: ..` inside a repository.";
    SECRET_NAME = "bundle.secret_name", Error, "file whose name looks like a secret",
        "Files such as .env, id_rsa or *.pem mostly hold secrets, and what is in a bundle or in instructions is readable for every agent that uses it.",
        "Remove it or leave it out; if it is meant, list its path in `allow_secret_names` in checkfu.yaml.";
    SKILL_FILE_NAME = "bundle.skill_file_name", Error, "SKILL.md in another spelling",
        "The file is called exactly SKILL.md; `skill.md` is found on macOS and Windows and lost on Linux.",
        "Rename it to SKILL.md.";
    SPECIAL = "bundle.special", Error, "not a regular file",
        "Devices, sockets and FIFOs have no content that could be kept; they are never opened.",
        "Remove it or leave it out.";
    SYMLINK = "bundle.symlink", Error, "symbolic link",
        "Links are not followed: what they name may be outside, and differs between machines. An uploaded tree may keep one that stays inside, with `symlinks: keep`.",
        "Replace the link by the file, or leave it out.";
    TOO_LARGE = "bundle.too_large", Error, "text that is too large",
        "A manifest or text is at most 64 MB.",
        "Split the file.";
    UNREADABLE = "bundle.unreadable", Error, "file that cannot be read",
        "The system refused to list or read it.",
        "Give the user who runs checkfu the right to read it, or leave it out.";
    UNTRACKED = "bundle.untracked", Warning, "files that Git does not track",
        "They are read here, but are not there on another check-out of the same commit.",
        "Commit them, or leave them out with .gitignore or .checkfuignore; a text that a manifest names is read in any case.";
    WINDOWS_NAME = "bundle.windows_name", Error, "name that Windows cannot hold",
        "The characters < > : \" | ? * \\ and control characters, a last dot or blank, and names such as CON or AUX cannot be checked out on Windows. A warning where Git tracks the file, since then it is there already.",
        "Rename the file.";
}

//! The view of Git: what is tracked, modes, source, and repositories that cannot be read.

use super::*;
use crate::bundle::BundleError;
use crate::model::op::Source;

#[test]
fn untracked_files_are_one_warning() {
    let dir = Dir::repository();
    dir.write("d/a", "").commit();
    assert_eq!(names(&set(&dir.open(), &tree("d"))), ["a"]);
    dir.write("d/b", "").write("d/c", "").write("d/e", "").write("d/f", "");
    let (found, report, diagnostics) = dir.open().files(&tree("d"));
    assert_eq!(found.unwrap().entries.len(), 5);
    assert_eq!(report.untracked, ["d/b", "d/c", "d/e", "d/f"]);
    assert_eq!(
        messages(&diagnostics),
        "bundle.untracked: `d` holds 4 files that Git does not track: `d/b`, `d/c`, `d/e` and 1 more []"
    );
}

#[test]
fn what_git_tracks_is_not_ignored() {
    let dir = Dir::repository();
    dir.write("d/out/kept", "").write("d/x.log", "").commit();
    dir.write(".gitignore", "out/\n*.log\n").write("d/out/new", "").write("d/y.log", "");
    let (found, report, _) = dir.open().files(&tree("d"));
    assert_eq!(names(&found.unwrap()), ["out/kept", "x.log"]);
    let left: Vec<_> = report.left_out.iter().map(|(p, why)| (p.as_str(), why.as_str())).collect();
    assert_eq!(left, [("d/out/new", "`out/` in .gitignore"), ("d/y.log", "`*.log` in .gitignore")]);
    assert_eq!(names(&set(&dir.open(), &tree("d/out"))), ["kept"]);
    dir.write(".checkfuignore", "*.log\n");
    assert_eq!(names(&set(&dir.open(), &tree("d"))), ["out/kept"], "ours holds for tracked files too");
}

#[test]
fn nothing_of_the_user_takes_part() {
    let dir = Dir::repository();
    dir.write("d/a.md", "x\r\n").write("d/b.log", "");
    dir.write(".git/info/exclude", "*.log\n").write(".git/info/attributes", "*.md text\n");
    dir.write("global", "*.log\n").write("attributes", "*.md text\n");
    let mut config = Repository::open(dir.path()).unwrap().config().unwrap();
    config.set_str("core.autocrlf", "true").unwrap();
    config.set_str("core.excludesFile", dir.at("global").to_str().unwrap()).unwrap();
    config.set_str("core.attributesFile", dir.at("attributes").to_str().unwrap()).unwrap();
    let (found, _, _) = dir.open().files(&tree("d"));
    let found = found.unwrap();
    assert_eq!(names(&found), ["a.md", "b.log"]);
    assert_eq!(found.entries[0].size, 3);
}

#[cfg(unix)]
#[test]
fn the_mode_is_that_of_git_where_it_knows_the_file() {
    let dir = Dir::repository();
    dir.write("d/run", "").mode("d/run", 0o755).commit();
    dir.mode("d/run", 0o644);
    assert!(set(&dir.open(), &tree("d")).entries[0].executable);
    dir.commit();
    assert!(!set(&dir.open(), &tree("d")).entries[0].executable);
}

#[test]
fn a_link_in_git_that_is_a_file_on_disk_is_still_a_link() {
    let dir = Dir::repository();
    dir.write("d/l", "target").commit();
    let repository = Repository::open(dir.path()).unwrap();
    let mut index = repository.index().unwrap();
    let mut entry = index.get_path(Path::new("d/l"), 0).unwrap();
    entry.mode = 0o120_000;
    index.add(&entry).unwrap();
    index.write().unwrap();
    refused(&dir.open(), &tree("d"), &["bundle.symlink"]);
}

#[test]
fn a_blob_that_is_not_here_leaves_line_ends_alone() {
    let dir = Dir::repository();
    dir.write("d/a", "x\n").commit();
    let id =
        Repository::open(dir.path()).unwrap().index().unwrap().get_path(Path::new("d/a"), 0).unwrap().id.to_string();
    fs::remove_file(dir.at(&format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    assert_eq!(set(&dir.open(), &tree("d")).entries[0].size, 2, "no CR, no question");
    dir.write("d/a", "x\r\n");
    let (found, _, diagnostics) = dir.open().files(&tree("d"));
    assert_eq!((found.unwrap().entries[0].size, codes(&diagnostics)), (3, vec!["bundle.git_unreadable"]));
}

/// Git told nothing, so the folder stands for it.
fn is_folder_alone(project: &Project) -> bool {
    project.source() == Source { folder: Some(project.identity()), ..Source::default() }
}

#[test]
fn a_folder_is_the_same_by_whichever_way_it_is_reached_and_no_other() {
    let (dir, other) = (Dir::new(), Dir::new());
    dir.write("p/checkfu.yaml", "");
    let identity = |path: &Path| Project::open(path, ".", None).unwrap().identity();
    let one = identity(&dir.at("p"));
    assert_eq!(identity(&dir.at("p/../p/.")), one);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.at("p"), other.at("link")).unwrap();
        assert_eq!(identity(&other.at("link")), one);
    }
    assert_ne!(identity(&dir.at("")), one);
    assert_ne!(identity(&other.at("")), one);
}

#[test]
fn the_source_is_host_path_commit_and_state() {
    let dir = Dir::repository();
    dir.write("p/checkfu.yaml", "").write("q/x", "");
    let commit = dir.commit();
    let repository = Repository::open(dir.path()).unwrap();
    repository.remote("origin", "https://user:s3cret@Example.com/acme/support.git?x=1").unwrap();
    repository.config().unwrap().set_str("url.https://other.example/.insteadOf", "https://user").unwrap();
    let source = |folder: &str| Project::open(&dir.at(folder), ".", None).unwrap().source();
    let clean = Source {
        repository: Some("example.com/acme/support".into()),
        path: Some("p".into()),
        commit: Some(commit),
        dirty: Some(false),
        folder: None,
        apply: None,
    };
    assert_eq!(source("p"), clean);
    dir.write("q/x", "changed").write("p/.checkfu/workspace.db", "");
    assert_eq!(source("p"), clean, "changes elsewhere and our own files do not count");
    assert_eq!((source("").path.as_deref(), source("").dirty), (Some(""), Some(true)));
    dir.write("p/new.yaml", "");
    assert_eq!(source("p").dirty, Some(true));
    assert!(is_folder_alone(&Dir::new().open()));
    let empty = Dir::repository();
    let unborn = empty.open();
    let folder = Some(unborn.identity());
    let unborn = unborn.source();
    assert_eq!((unborn.commit, unborn.repository, unborn.dirty, unborn.folder), (None, None, Some(false), folder));
}

#[test]
fn a_linked_worktree_is_a_checkout_like_any_other() {
    let dir = Dir::repository();
    dir.write("d/a", "x\n").commit();
    let repository = Repository::open(dir.path()).unwrap();
    repository.remote("origin", "git@example.com:acme/support.git").unwrap();
    let other = Dir::new();
    repository.worktree("w", &other.at("w"), None).unwrap();
    other.write("w/d/a", "x\r\n");
    let project = Project::open(&other.at("w"), ".", None).unwrap();
    assert_eq!(set(&project, &tree("d")).entries[0].size, 2);
    assert_eq!(project.source().repository.as_deref(), Some("example.com/acme/support"));
}

#[test]
fn a_repository_that_cannot_be_read_is_as_none_with_a_warning() {
    for config in [
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = reftable\n",
    ] {
        let dir = Dir::repository();
        dir.write("d/a", "x\r\n").write(".gitignore", "*.log\n").write("d/b.log", "").commit();
        dir.write(".git/config", config);
        let project = dir.open();
        let (_, diagnostics) = project.discover(&crate::model::config::Discover::default(), &|_, _| None);
        assert_eq!(codes(&diagnostics), ["bundle.git_unreadable"], "{config}");
        assert!(!diagnostics.has_errors());
        assert_eq!(names(&set(&project, &tree("d"))), ["a"]);
        assert!(is_folder_alone(&project));
    }
    let damaged = Dir::repository();
    damaged.write("d/a", "").commit();
    damaged.write(".git/index", "DIRC no index");
    let (_, diagnostics) = damaged.open().discover(&crate::model::config::Discover::default(), &|_, _| None);
    assert_eq!(codes(&diagnostics), ["bundle.git_unreadable"]);
    assert_eq!(names(&set(&damaged.open(), &tree("d"))), ["a"]);
}

#[test]
fn submodules_count_as_tracked() {
    let dir = Dir::repository();
    dir.write("d/a", "").commit();
    let repository = Repository::open(dir.path()).unwrap();
    let mut index = repository.index().unwrap();
    let mut entry = index.get_path(Path::new("d/a"), 0).unwrap();
    (entry.path, entry.mode) = (b"d/module".to_vec(), 0o160_000);
    entry.id = repository.head().unwrap().target().unwrap();
    index.add(&entry).unwrap();
    index.write().unwrap();
    dir.write("d/module/x", "").write("d/module/.git", "gitdir: elsewhere");
    assert_eq!(names(&set(&dir.open(), &tree("d"))), ["a", "module/x"]);
}

#[test]
fn the_root_reaches_up_to_the_top_level() {
    let dir = Dir::repository();
    dir.write("shared/x.md", "hi").write("a/b/checkfu.yaml", "").commit();
    let open = |root: &str| Project::open(&dir.at("a/b"), root, None);
    let project = open("../..").unwrap();
    assert_eq!(&*project.read_text("../../shared/x.md").unwrap(), "hi");
    let (_, report, _) = project.files(&tree("../../shared"));
    assert!(report.untracked.is_empty());
    dir.write("shared/y.md", "");
    assert_eq!(project.files(&tree("../../shared")).1.untracked, ["../../shared/y.md"]);
    assert_eq!(open("..").unwrap().read_text("../../shared/x.md").unwrap_err().code.code, "bundle.outside");
    assert!(matches!(open("../../.."), Err(BundleError::RootTooHigh { .. })));
    for bad in ["/", "x", "../x", ""] {
        let error = open(bad).unwrap_err();
        assert_eq!((error.code().code, matches!(error, BundleError::Root { .. })), ("bundle.root", true), "{bad}");
    }
    let plain = Dir::new();
    assert!(matches!(Project::open(plain.path(), "..", None), Err(BundleError::RootTooHigh { .. })));
    assert_eq!(Project::open(&plain.at("none"), ".", None).unwrap_err().code().code, "bundle.folder");
}

#[cfg(unix)]
#[test]
fn a_fifo_in_a_repository_is_not_waited_for() {
    let fifo = |path: &std::path::Path| {
        let _ = std::fs::remove_file(path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for at in ["config", "HEAD", "index", "packed-refs", "info/exclude", "refs/heads/x", "objects/info/alternates"] {
        let dir = Dir::repository();
        dir.write("checkfu.yaml", "").write("agents/a.md", "").commit();
        let path = dir.path().join(".git").join(at);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        fifo(&path);
        let project = dir.open();
        let (_, told) = project.discover(&crate::model::config::Discover::default(), &|_, _| None);
        assert!(messages(&told).contains(&format!("`.git/{at}` is no regular file")), "{at}: {}", messages(&told));
        assert!(is_folder_alone(&project));
    }
    let dir = Dir::repository();
    std::fs::remove_dir_all(dir.path().join(".git")).unwrap();
    fifo(&dir.path().join(".git"));
    assert!(is_folder_alone(&dir.open()));
    // A work tree of another repository: its own folder and the shared one are looked at.
    fifo(&dir.path().join(".git"));
    std::fs::remove_file(dir.path().join(".git")).unwrap();
    for (name, commondir) in [("own", None), ("shared", Some("../shared"))] {
        let own = dir.path().join("own");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(dir.path().join("shared")).unwrap();
        std::fs::write(dir.path().join(".git"), "gitdir: own\n").unwrap();
        if let Some(text) = commondir {
            std::fs::remove_file(own.join("config")).unwrap();
            std::fs::write(own.join("commondir"), text).unwrap();
        }
        fifo(&dir.path().join(name).join("config"));
        assert!(crate::bundle::special::first(dir.path()).unwrap().ends_with("config"), "{name}");
    }
}

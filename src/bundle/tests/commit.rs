//! A commit written to a folder: what is in it, what is not, and which commit it is.

use super::*;
use crate::bundle::commit::{BaseOf, Commit, CommitError, head};

fn written(dir: &Dir, project: &str, up: usize) -> (tempfile::TempDir, PathBuf) {
    let into = tempfile::tempdir().unwrap();
    let path = Commit::find(&dir.at(project), BaseOf::Ref("HEAD")).unwrap().write(into.path(), up).unwrap();
    (into, path)
}

fn listed(at: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in walk(at) {
        out.push(entry.strip_prefix(at).unwrap().to_str().unwrap().to_owned());
    }
    out.sort();
    out
}

fn walk(at: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(at).unwrap().map(|e| e.unwrap().path()).filter(|p| !p.ends_with(".git"));
    entries.flat_map(|p| if p.symlink_metadata().unwrap().is_dir() { walk(&p) } else { vec![p] }).collect()
}

#[test]
fn a_project_and_its_root_are_written_and_nothing_beside_them() {
    let dir = Dir::repository();
    dir.write("a/b/p/checkfu.yaml", "x").write("a/b/shared/s", "1").write("a/other/o", "2").write("top", "3");
    dir.write("a/.gitignore", "*.log\n").write("a/b/p/kept.log", "k").commit();
    dir.write("a/b/p/checkfu.yaml", "changed").write("a/b/p/new", "");
    let (top, path) = written(&dir, "a/b/p", 0);
    assert_eq!(listed(top.path()), ["a/.gitignore", "a/b/p/checkfu.yaml"], "an ignored file was not committed");
    assert_eq!(fs::read_to_string(path.join("checkfu.yaml")).unwrap(), "x");
    let (top, _) = written(&dir, "a/b/p", 1);
    assert_eq!(listed(top.path()), ["a/.gitignore", "a/b/p/checkfu.yaml", "a/b/shared/s"]);
    let (top, _) = written(&dir, "a/b/p", 9);
    assert!(listed(top.path()).contains(&"top".to_owned()));
    let commit = Commit::find(&dir.at("a/b/p"), BaseOf::Ref("HEAD")).unwrap();
    assert_eq!(commit.file("checkfu.yaml").unwrap().as_deref(), Some(&b"x"[..]));
    assert_eq!(commit.file("new").unwrap(), None);
    assert_eq!(commit.file("../../../../etc/passwd").unwrap(), None);
}

/// Line ends and modes are those of the commit, whatever a filter or the disk would make of them.
#[cfg(unix)]
#[test]
fn sets_of_files_have_the_digests_that_they_had() {
    let dir = Dir::repository();
    dir.write("p/checkfu.yaml", "").write("p/d/crlf.md", "a\r\nb\r\n").write("p/d/run", "x").mode("p/d/run", 0o755);
    dir.link("d/run", "p/alias").commit();
    let mut config = Repository::open(dir.path()).unwrap().config().unwrap();
    config.set_str("core.autocrlf", "true").unwrap();
    let open = |at: &Path| Project::open(at, ".", None).unwrap();
    let before = set(&open(&dir.at("p")), &tree("d"));
    let (_top, path) = written(&dir, "p", 0);
    assert_eq!(set(&open(&path), &tree("d")).digest, before.digest);
    assert_eq!(fs::read_link(path.join("alias")).unwrap(), Path::new("d/run"));
}

/// A tree made by hand holds what `git add` never puts there.
#[cfg(unix)]
#[test]
fn nothing_is_written_outside_of_the_folder() {
    let dir = Dir::repository();
    dir.write("a", "1").commit();
    let repository = Repository::open(dir.path()).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let blob = repository.blob(outside.path().to_str().unwrap().as_bytes()).unwrap();
    let text = repository.blob(b"evil").unwrap();
    let mut inner = repository.treebuilder(None).unwrap();
    inner.insert("f", text, 0o100_644).unwrap();
    let inner = inner.write().unwrap();
    // By hand: the library's own builder refuses such names, and sorts.
    let mut raw = Vec::new();
    for (mode, name, id) in [
        ("120000", "link", blob),
        ("40000", "link", inner),
        ("100644", "../up", text),
        ("40000", "..", inner),
        ("40000", ".GIT", inner),
        ("100644", "fine", text),
    ] {
        raw.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        raw.extend_from_slice(id.as_bytes());
    }
    let odb = repository.odb().unwrap();
    let tree = odb.write(git2::ObjectType::Tree, &raw).unwrap();
    let text = format!("tree {tree}\nauthor t <t@e> 0 +0000\ncommitter t <t@e> 0 +0000\n\nx\n");
    let commit = odb.write(git2::ObjectType::Commit, text.as_bytes()).unwrap();
    repository.set_head_detached(commit).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let into = parent.path().join("into");
    fs::create_dir(&into).unwrap();
    // Refused or written, never outside.
    let _ = Commit::find(dir.path(), BaseOf::Ref("HEAD")).unwrap().write(&into, 0);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    assert!(!into.join(".git/f").exists());
}

#[test]
fn the_base_of_a_pull_request_is_the_first_parent_of_its_merge_or_what_is_shared() {
    let dir = Dir::repository();
    dir.write("a", "1");
    let shared = dir.commit();
    dir.write("a", "2");
    let topic = dir.commit();
    let repository = Repository::open(dir.path()).unwrap();
    let id = |text: &str| git2::Oid::from_str(text).unwrap();
    repository.set_head_detached(id(&shared)).unwrap();
    dir.write("b", "1");
    let main = dir.commit();
    let find = |of: BaseOf<'_>| Commit::find(dir.path(), of).map(|c| c.id());
    let pull = BaseOf::Pull { head: &topic, base: &main };
    repository.set_head_detached(id(&topic)).unwrap();
    assert_eq!(find(pull).unwrap(), shared);
    assert_eq!(find(BaseOf::Ref(&main)).unwrap(), shared);
    // As the code host makes it.
    let tree = repository.find_commit(id(&main)).unwrap().tree().unwrap();
    let who = Signature::new("t", "t@example.com", &Time::new(0, 0)).unwrap();
    let parents = [repository.find_commit(id(&main)).unwrap(), repository.find_commit(id(&topic)).unwrap()];
    let merge = repository.commit(None, &who, &who, "m", &tree, &[&parents[0], &parents[1]]).unwrap();
    repository.set_head_detached(merge).unwrap();
    assert_eq!(find(pull).unwrap(), main);
    assert_eq!(head(dir.path()).unwrap().parents, [main.clone(), topic.clone()]);
    // Of another merge it is what is shared.
    assert_eq!(find(BaseOf::Pull { head: &shared, base: &main }).unwrap(), main);
    assert!(matches!(find(BaseOf::Ref("nothing")), Err(CommitError::Unknown { .. })));
    assert!(matches!(find(BaseOf::Ref(&"0".repeat(40))), Err(CommitError::Unknown { .. })));
    let none = tempfile::tempdir().unwrap();
    assert!(matches!(Commit::find(none.path(), BaseOf::Ref("HEAD")), Err(CommitError::Repository { .. })));
}

#[test]
fn where_the_history_is_cut_short_no_base_is_guessed() {
    let dir = Dir::repository();
    dir.write("a", "1");
    let first = dir.commit();
    dir.write("a", "2");
    let second = dir.commit();
    fs::write(dir.at(".git/shallow"), format!("{second}\n")).unwrap();
    fs::remove_file(dir.at(".git/objects").join(&first[..2]).join(&first[2..])).unwrap();
    let find = |of: BaseOf<'_>| Commit::find(dir.path(), of).map(|c| c.id());
    assert!(matches!(find(BaseOf::Pull { head: &second, base: &first }), Err(CommitError::Unknown { .. })));
    assert!(matches!(find(BaseOf::Ref(&first)), Err(CommitError::Unknown { .. })));
}

//! How the files stand to the ones that were last applied: the same commit, newer, older. Asks Git, and where that had
//! nothing to tell, whether it is the same folder.

use std::cmp::Ordering;

use crate::bundle::Project;
use crate::model::op::Source;
use crate::plan::SourceRelation;

/// How the project's commit, or else its folder, stands to the one that was last applied. Another repository or folder is for the
/// planner to see, from the two sources themselves.
pub fn source_relation(project: &Project, last: Option<&Source>) -> SourceRelation {
    let Some(source) = last else { return SourceRelation::Unknown };
    let Some(last) = &source.commit else {
        return match &source.folder {
            Some(folder) if *folder == project.identity() => SourceRelation::Same,
            Some(_) => SourceRelation::Stranger,
            None => SourceRelation::Unknown,
        };
    };
    match project.stands_to(last) {
        Some(Ordering::Equal) => SourceRelation::Same,
        Some(Ordering::Greater) => SourceRelation::Newer,
        Some(Ordering::Less) => SourceRelation::Older,
        None if project.knows(last) == Some(false) => SourceRelation::Stranger,
        None => SourceRelation::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use git2::{Repository, RepositoryInitOptions, Signature};

    use super::*;

    fn commit(repository: &Repository, text: &str) -> String {
        let file = repository.workdir().unwrap().join("a.txt");
        std::fs::write(file, text).unwrap();
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("a.txt")).unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::new("t", "t@example.com", &git2::Time::new(0, 0)).unwrap();
        let parents: Vec<_> = repository.head().ok().and_then(|h| h.peel_to_commit().ok()).into_iter().collect();
        let parents: Vec<_> = parents.iter().collect();
        repository.commit(Some("HEAD"), &who, &who, text, &tree, &parents).unwrap().to_string()
    }

    #[test]
    fn older_newer_same_and_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init_opts(dir.path(), &RepositoryInitOptions::new()).unwrap();
        let (first, second) = (commit(&repository, "1"), commit(&repository, "2"));
        let from = |commit: Option<&String>| Source { commit: commit.cloned(), ..Source::default() };
        let project = || Project::open(dir.path(), ".", None).unwrap();
        let relation = |last: &String| source_relation(&project(), Some(&from(Some(last))));
        assert_eq!(relation(&second), SourceRelation::Same);
        assert_eq!(relation(&first), SourceRelation::Newer);
        repository.set_head_detached(git2::Oid::from_str(&first).unwrap()).unwrap();
        assert_eq!(relation(&second), SourceRelation::Older);
        // A branch that knows nothing of the second commit, and a commit that is not here at all.
        commit(&repository, "3");
        assert_eq!(relation(&second), SourceRelation::Unknown);
        assert_eq!(relation(&"0".repeat(40)), SourceRelation::Stranger);
        let elsewhere = tempfile::tempdir().unwrap();
        let without_git = Project::open(elsewhere.path(), ".", None).unwrap();
        assert_eq!(source_relation(&without_git, Some(&from(Some(&first)))), SourceRelation::Stranger);
        assert_eq!(source_relation(&project(), None), SourceRelation::Unknown);
        assert_eq!(source_relation(&project(), Some(&from(None))), SourceRelation::Unknown);
    }

    #[test]
    fn a_folder_counts_where_git_tells_nothing() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let open = |dir: &Path| Project::open(dir, ".", None).unwrap();
        let last = open(here.path()).source();
        assert_eq!(source_relation(&open(here.path()), Some(&last)), SourceRelation::Same);
        assert_eq!(source_relation(&open(there.path()), Some(&last)), SourceRelation::Stranger);
        // A repository without a remote and a commit tells no more, and is the same folder still; so it is with its
        // first commit.
        let repository = Repository::init_opts(here.path(), &RepositoryInitOptions::new()).unwrap();
        let unborn = open(here.path()).source();
        assert_eq!((unborn.folder, unborn.path.as_deref()), (last.folder, Some("")));
        assert_eq!(source_relation(&open(here.path()), Some(&last)), SourceRelation::Same);
        let first = commit(&repository, "1");
        assert_eq!(source_relation(&open(here.path()), Some(&unborn)), SourceRelation::Same);
        let committed = open(here.path()).source();
        assert_eq!((committed.folder, committed.commit), (None, Some(first)));
        Repository::init_opts(there.path(), &RepositoryInitOptions::new()).unwrap();
        assert_eq!(source_relation(&open(there.path()), Some(&unborn)), SourceRelation::Stranger);
    }

    #[test]
    fn the_edge_of_a_shallow_clone_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init_opts(dir.path(), &RepositoryInitOptions::new()).unwrap();
        let (first, second) = (commit(&repository, "1"), commit(&repository, "2"));
        // As a clone of depth 1 leaves it: the parent is named, and not here.
        std::fs::write(dir.path().join(".git/shallow"), format!("{second}\n")).unwrap();
        let object = dir.path().join(".git/objects").join(&first[..2]).join(&first[2..]);
        std::fs::remove_file(object).unwrap();
        let project = Project::open(dir.path(), ".", None).unwrap();
        let last = Source { commit: Some(first), ..Source::default() };
        assert_eq!(source_relation(&project, Some(&last)), SourceRelation::Unknown);
    }
}

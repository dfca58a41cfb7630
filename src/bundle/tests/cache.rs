//! The stat cache: a second run reads nothing, and no edit is ever missed.

use std::time::{Duration, SystemTime};

use super::*;
use crate::model::Digest;

/// Every file has come to rest.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_mins(1)
}

/// No file has.
fn at_once() -> SystemTime {
    SystemTime::UNIX_EPOCH
}

fn open(dir: &Dir, clock: fn() -> SystemTime) -> Project {
    Project::open_with_clock(dir.path(), ".", Some(dir.at(".checkfu/cache")), clock).unwrap()
}

fn project_folder() -> Dir {
    let dir = Dir::repository();
    fs::create_dir(dir.at(".checkfu")).unwrap();
    dir.write(".gitignore", ".checkfu/\n").write("d/a", "1").write("d/b", "x\r\n").write("m/c", "é").commit();
    dir
}

/// Digests of both folders, and how many files were read.
fn run(dir: &Dir, clock: fn() -> SystemTime) -> (Vec<Digest>, u64) {
    let project = open(dir, clock);
    let sets = [set(&project, &tree("d")), set(&project, &BundleWant::new("m", Purpose::Memory))];
    (sets.map(|s| s.digest).to_vec(), project.content_reads())
}

#[test]
fn the_second_run_reads_nothing() {
    let dir = project_folder();
    let first = run(&dir, later);
    assert_eq!(first.1, 3);
    assert_eq!(run(&dir, later), (first.0.clone(), 0));
    dir.write("d/a", "2");
    let edited = run(&dir, later);
    assert_eq!(edited.1, 1);
    assert_ne!(edited.0, first.0);
    assert_eq!(run(&dir, later), (edited.0, 0));
}

#[test]
fn files_that_may_still_change_are_read_again() {
    let dir = project_folder();
    let first = run(&dir, at_once);
    assert_eq!(run(&dir, at_once), (first.0, 3));
}

#[test]
fn an_edit_of_equal_size_and_time_is_seen() {
    let dir = project_folder();
    let first = run(&dir, SystemTime::now);
    let modified = fs::metadata(dir.at("d/a")).unwrap().modified().unwrap();
    dir.write("d/a", "2");
    fs::File::options().append(true).open(dir.at("d/a")).unwrap().set_modified(modified).unwrap();
    assert_ne!(run(&dir, SystemTime::now).0, first.0);
}

#[test]
fn what_the_line_ends_depend_on_is_part_of_the_key() {
    let dir = project_folder();
    let first = run(&dir, later);
    dir.write(".gitattributes", "d/b text\n");
    let text = run(&dir, later);
    assert_eq!(text.1, 1, "only the file with CR");
    assert_ne!(text.0, first.0);
    fs::remove_file(dir.at(".gitattributes")).unwrap();
    dir.write("d/b", "x\n").commit();
    let lf = run(&dir, later);
    assert_eq!(lf.0, text.0);
    dir.write("d/b", "x\r\n");
    assert_eq!(run(&dir, later), (lf.0, 1), "the blob holds no CR now");
}

#[test]
fn broken_caches_are_passed_over_and_replaced() {
    let dir = project_folder();
    let first = run(&dir, later);
    dir.write(".checkfu/cache/stat.json", "{\"format\":");
    assert_eq!(run(&dir, later), (first.0.clone(), 3));
    assert_eq!(run(&dir, later), (first.0, 0));
}

#[test]
fn the_cache_folder_is_made_only_where_it_is_ours() {
    let made = |dir: &Dir| {
        run(dir, later);
        dir.at(".checkfu/cache/stat.json").exists()
    };
    let ignored = project_folder();
    fs::remove_dir(ignored.at(".checkfu")).unwrap();
    assert!(made(&ignored), "git-ignored");
    let fresh = Dir::new();
    fresh.write("d/a", "1").write("m/c", "1");
    assert!(!made(&fresh) && !fresh.at(".checkfu").exists(), "neither there nor ignored");
    fs::create_dir(fresh.at(".checkfu")).unwrap();
    assert!(made(&fresh), "there");
    fs::remove_dir_all(fresh.at(".checkfu")).unwrap();
    fresh.write(".checkfu", "a file");
    assert!(!made(&fresh), "a failure is silent");
}

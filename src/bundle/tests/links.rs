//! Symbolic links: refused with their targets, kept only inside an uploaded tree, never a way out.

#![cfg(unix)]

use super::*;
use crate::control::Blobs;
use crate::model::Digest;

fn keep(path: &str) -> BundleWant {
    BundleWant { keep_symlinks: true, ..tree(path) }
}

#[test]
fn links_are_refused_by_name_of_their_target() {
    let dir = Dir::new();
    dir.write("d/a", "1").link("a", "d/l").link("/etc/passwd", "d/p");
    let (_, d) = refused(&dir.open(), &tree("d"), &["bundle.symlink"; 2]);
    assert_eq!(d.0[0].message, "`d/l` is a symbolic link to `a`");
    assert_eq!(d.0[1].message, "`d/p` is a symbolic link to `/etc/passwd`");
    let skill = BundleWant { keep_symlinks: true, purpose: Purpose::Skill, ..tree("d") };
    refused(&dir.open(), &skill, &["bundle.symlink"; 2]);
}

#[test]
fn a_tree_keeps_links_that_stay_inside() {
    let dir = Dir::new();
    dir.write("d/sub/a", "1").link("sub/a", "d/file").link("../sub", "d/x/folder").link(".", "d/self");
    let project = dir.open();
    let found = set(&project, &keep("d"));
    assert_eq!(names(&found), ["file", "self", "sub/a", "x/folder"]);
    let link = &found.entries[0];
    assert!(link.symlink && link.size == 5 && link.sha256 == Digest::of(b"sub/a"));
    assert_eq!(Blobs::open(&project, "d/file", &link.sha256).unwrap(), b"sub/a");
    let plain = Dir::new();
    plain.write("d/sub/a", "1").write("d/file", "sub/a").link("../sub", "d/x/folder").link(".", "d/self");
    assert_ne!(set(&plain.open(), &keep("d")).digest, found.digest, "a link is not a file with its text");
}

#[test]
fn links_that_cannot_be_kept_say_why() {
    let dir = Dir::new();
    dir.write("out", "").write("d/deep/er/x", "").write("d/no.log", "").write(".gitignore", "*.log\n");
    dir.link("../out", "d/1-out").link("gone", "d/2-gone").link("3-loop", "d/3-loop").link("no.log", "d/5-left");
    dir.link(dir.at("d/deep").to_str().unwrap(), "d/4-absolute")
        .link("deep/er", "d/6-ok")
        .link("6-ok/../../..", "d/7-out");
    let (_, d) = refused(&dir.open(), &keep("d"), &["bundle.symlink"; 6]);
    let why: Vec<_> = d.0.iter().map(|d| d.hints[0].rsplit("has a").next().unwrap().trim().to_owned()).collect();
    assert_eq!(
        why,
        [
            "target outside the folder",
            "target that does not exist",
            "target that cannot be reached, as in a loop",
            "n absolute target",
            "target that is left out of the folder",
            "target outside the folder",
        ]
    );
}

#[test]
fn targets_are_read_by_text_and_on_disk() {
    let dir = Dir::new();
    dir.write("out", "").write("d/deep/er/x", "").write("d/s/t/out", "");
    dir.link("../..", "d/s/t/up").link("up/../out", "d/s/t/1-out-on-disk");
    dir.link("deep/er", "d/in").link("in/../../deep/er/x", "d/2-out-by-text");
    let (_, d) = refused(&dir.open(), &keep("d"), &["bundle.symlink"; 2]);
    assert!(d.0.iter().all(|d| d.hints[0].ends_with("it has a target outside the folder")), "{}", messages(&d));
}

#[test]
fn no_path_leaves_the_root_through_a_link() {
    let outer = Dir::new();
    outer.write("secret/x", "s").write("p/ok/a", "1").link("../secret", "p/out").link("ok", "p/in");
    let project = Project::open(&outer.at("p"), ".", None).unwrap();
    refused(&project, &tree("out"), &["bundle.outside"]);
    assert_eq!(project.read_text("out/x").unwrap_err().code.code, "bundle.outside");
    assert!(Blobs::open(&project, "out/x", &Digest::of(b"s")).is_err());
    assert!(Blobs::open(&project, "../secret/x", &Digest::of(b"s")).is_err());
    assert_eq!(names(&set(&project, &tree("in"))), ["a"]);
    assert_eq!(&*project.read_text("in/a").unwrap(), "1");
}

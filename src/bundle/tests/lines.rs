//! Line ends: a CRLF check-out and an LF one are the same bytes.

use super::*;
use crate::control::Blobs;
use crate::model::Digest;

const LF: &str = "one\ntwo\n";
const CRLF: &str = "one\r\ntwo\r\n";

/// The digest of the one file `d/a.md`, and the proof that it can be opened by that digest.
fn digest(dir: &Dir) -> Digest {
    let project = dir.open();
    let (set, _, diagnostics) = project.files(&tree("d"));
    assert!(!diagnostics.has_errors(), "{}", messages(&diagnostics));
    let digest = set.unwrap().entries[0].sha256;
    let bytes = Blobs::open(&project, "d/a.md", &digest).unwrap();
    assert_eq!(Digest::of(&bytes), digest);
    digest
}

#[test]
fn a_tracked_file_has_the_line_ends_of_its_blob() {
    let dir = Dir::repository();
    dir.write("d/a.md", LF).commit();
    assert_eq!(digest(&dir), Digest::of(LF.as_bytes()));
    dir.write("d/a.md", CRLF);
    assert_eq!(digest(&dir), Digest::of(LF.as_bytes()), "checked out with CRLF");
    let dos = Dir::repository();
    dos.write("d/a.md", CRLF).commit();
    assert_eq!(digest(&dos), Digest::of(CRLF.as_bytes()), "Git itself holds CRLF");
}

#[test]
fn without_git_and_attributes_bytes_are_bytes() {
    let dir = Dir::new();
    dir.write("d/a.md", CRLF);
    assert_eq!(digest(&dir), Digest::of(CRLF.as_bytes()));
    let untracked = Dir::repository();
    untracked.write("d/a.md", CRLF);
    assert_eq!(digest(&untracked), Digest::of(CRLF.as_bytes()));
}

#[test]
fn attributes_decide_with_and_without_git() {
    for dir in [Dir::new(), Dir::repository()] {
        dir.write("d/a.md", CRLF);
        for (attributes, converts) in [
            ("*.md text\n", true),
            ("* text=auto\n", true),
            ("*.md eol=crlf\n", true),
            ("*.md -text\n", false),
            ("* binary\n", false),
        ] {
            dir.write(".gitattributes", attributes);
            let wanted = if converts { LF } else { CRLF };
            assert_eq!(digest(&dir), Digest::of(wanted.as_bytes()), "{attributes}");
        }
        dir.write(".gitattributes", "* -text\n")
            .write("d/.gitattributes", "a.md text\n")
            .write(".checkfuignore", ".gitattributes\n");
        assert_eq!(digest(&dir), Digest::of(LF.as_bytes()), "the deeper file wins");
    }
}

#[test]
fn auto_leaves_binary_files_and_blobs_with_cr_alone() {
    let dir = Dir::repository();
    dir.write("d/a.md", "a\r\n\0").write(".gitattributes", "* text=auto\n");
    assert_eq!(digest(&dir), Digest::of(b"a\r\n\0"));
    let blob = Dir::repository();
    blob.write("d/a.md", CRLF).commit();
    blob.write(".gitattributes", "* text=auto\n");
    assert_eq!(digest(&blob), Digest::of(CRLF.as_bytes()));
}

#[test]
fn memories_are_measured_after_line_ends() {
    let dir = Dir::repository();
    dir.write("m/a.md", "x\n".repeat(51_200)).commit();
    dir.write("m/a.md", "x\r\n".repeat(51_200));
    let found = set(&dir.open(), &BundleWant::new("m", Purpose::Memory));
    assert_eq!(found.entries[0].size, 102_400);
}

#[test]
fn files_under_filters_and_pointers_are_errors() {
    let dir = Dir::new();
    dir.write("d/a.bin", "x").write("d/b.txt", "x").write(".gitattributes", "*.bin filter=lfs -text\n*.txt ident\n");
    let (_, d) = refused(&dir.open(), &tree("d"), &["bundle.attribute"; 2]);
    assert_eq!(d.0[0].message, "`d/a.bin` has the Git attribute `filter=lfs`");
    let pointer = Dir::new();
    pointer.write("d/a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
    refused(&pointer.open(), &tree("d"), &["bundle.lfs_pointer"]);
}

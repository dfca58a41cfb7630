//! Texts and bodies: what is read, and what is refused.

use super::*;
use crate::control::{BlobError, Blobs};
use crate::model::Digest;

fn code(project: &Project, path: &str) -> &'static str {
    project.read_text(path).unwrap_err().code.code
}

#[test]
fn texts_are_utf8_files_as_they_are() {
    let dir = Dir::new();
    dir.write("a.md", "\u{feff}é\r\n").write("bad.md", b"ok\nx\xff").write("d/x", "");
    let project = dir.open();
    assert_eq!(&*project.read_text("./d/../a.md").unwrap(), "\u{feff}é\r\n");
    let error = project.read_text("bad.md").unwrap_err();
    assert_eq!((error.code.code, error.place().unwrap().line), ("bundle.not_utf8", 2));
    assert_eq!(error.message, "`bad.md` is not UTF-8 text: byte 4, in line 2");
    assert_eq!(code(&project, "d"), "bundle.not_a_folder");
    assert_eq!(code(&project, "a.md/x"), "bundle.missing");
    assert_eq!(project.read_text("d/X").unwrap_err().fix.as_deref(), Some("d/x"));
    assert_eq!(code(&project, "../a.md"), "bundle.outside");
    assert_eq!(code(&project, "/a.md"), "bundle.bad_path");
    assert_eq!(code(&project, &"x".repeat(300)), "bundle.unreadable");
    fs::File::create(dir.at("huge.md")).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_eq!(code(&project, "huge.md"), "bundle.too_large");
    assert_eq!(project.content_reads(), 0, "texts are not hashed");
}

#[test]
fn a_text_for_agents_is_no_secret_and_on_every_check_out() {
    let dir = Dir::repository();
    dir.write("a.md", "").write(".gitignore", "drafts/\n*.local.md\n").commit();
    dir.write(".env", "API_KEY=1").write("drafts/b.md", "").write("c.local.md", "").write("new.md", "");
    let project = dir.open();
    let said = |path: &str, meant: &[&str]| {
        let meant: Vec<String> = meant.iter().map(|m| (*m).to_owned()).collect();
        project.check_text(path, &meant).0.into_iter().map(|d| (d.code.code, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(said("a.md", &[]), []);
    assert_eq!(said("gone.md", &[]), [], "what is not there is told when it is read");
    let secret = "`.env` has a name that looks like a secret".to_owned();
    assert_eq!(said("./.env", &[]), [("bundle.secret_name", secret)]);
    assert_eq!(said(".env", &["./.env"]), [("bundle.untracked", "`.env` is not tracked by Git".to_owned())]);
    assert_eq!(said("new.md", &[])[0].0, "bundle.untracked");
    let left_out = |path: &str, rule: &str| {
        let message = format!("`{path}` is read though it is left out: {rule} in .gitignore");
        assert_eq!(said(path, &[]), [("bundle.untracked", message)]);
    };
    left_out("drafts/b.md", "`drafts/`");
    left_out("c.local.md", "`*.local.md`");
    #[cfg(unix)]
    {
        dir.link(".env", "harmless.md");
        assert_eq!(said("harmless.md", &[])[0].0, "bundle.secret_name", "a link leads to what it is");
        assert_eq!(said("harmless.md", &["harmless.md"])[0].0, "bundle.untracked");
    }
    let plain = Dir::new();
    plain.write("a.md", "");
    assert!(plain.open().check_text("a.md", &[]).0.is_empty(), "without Git nothing is untracked");
}

#[cfg(unix)]
#[test]
fn a_fifo_is_no_text() {
    let dir = Dir::new();
    assert!(std::process::Command::new("mkfifo").arg(dir.at("f.md")).status().unwrap().success());
    assert_eq!(code(&dir.open(), "f.md"), "bundle.special");
}

#[test]
fn bodies_are_proved_by_their_digest() {
    let dir = Dir::new();
    dir.write("d/a", "1");
    let project = dir.open();
    assert_eq!(Blobs::open(&project, "d/a", &Digest::of(b"1")).unwrap(), b"1");
    dir.write("d/a", "2");
    match Blobs::open(&project, "d/a", &Digest::of(b"1")) {
        Err(BlobError::Changed { found, .. }) => assert_eq!(found, Digest::of(b"2")),
        other => panic!("{other:?}"),
    }
    assert!(matches!(Blobs::open(&project, "d/b", &Digest::of(b"1")), Err(BlobError::Io { .. })));
    assert!(matches!(Blobs::open(&project, "d", &Digest::of(b"1")), Err(BlobError::Io { .. })));
}

/// As root every file can be read, so the test starts itself again as nobody.
#[cfg(target_os = "linux")]
#[test]
fn unreadable_files_are_told_and_the_others_read() {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let name = "bundle::tests::open::unreadable_files_are_told_and_the_others_read";
        let status = std::process::Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let dir = Dir::new();
    dir.write("d/a", "").write("d/b", "").write("d/e/c", "").write("d/bad\u{20}name ", "");
    dir.mode("d/a", 0).mode("d/e", 0);
    let (_, diagnostics) =
        refused(&dir.open(), &tree("d"), &["bundle.unreadable", "bundle.windows_name", "bundle.unreadable"]);
    assert!(diagnostics.0[2].message.starts_with("`d/e` cannot be read"));
    dir.mode("d/e", 0o755);
    let plain = Dir::new();
    plain.write("d/a", "1");
    fs::create_dir(plain.at(".checkfu")).unwrap();
    plain.mode(".checkfu", 0o555).mode("", 0o555);
    let project = Project::open(plain.path(), ".", Some(plain.at(".checkfu/cache"))).unwrap();
    assert_eq!(names(&set(&project, &tree("d"))), ["a"], "a read-only folder");
    drop(project);
    plain.mode("", 0o755).mode(".checkfu", 0o755);
}

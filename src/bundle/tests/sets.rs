//! Which files are in a set, which names are refused, and what the digest depends on.

use super::*;
use crate::diag::Severity;
use crate::model::Digest;

#[test]
fn the_digest_depends_on_paths_modes_and_bytes_alone() {
    let dir = Dir::new();
    dir.write("d/b/c.txt", "c").write("d/a.txt", "a").write("d/z", "").write("d/all", (0..=255).collect::<Vec<u8>>());
    let first = set(&dir.open(), &tree("d"));
    assert_eq!(names(&first), ["a.txt", "all", "b/c.txt", "z"]);
    assert_eq!(first.entries[3].sha256, Digest::of(b""));
    let other = Dir::new();
    other.write("e/z", "").write("e/all", (0..=255).collect::<Vec<u8>>()).write("e/a.txt", "a").write("e/b/c.txt", "c");
    let file = fs::File::options().append(true).open(other.at("e/z")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(set(&other.open(), &tree("./e/")).digest, first.digest);
    other.write("e/z", "1");
    assert_ne!(set(&other.open(), &tree("e")).digest, first.digest);
    #[cfg(unix)]
    {
        dir.mode("d/a.txt", 0o755);
        let flipped = set(&dir.open(), &tree("d"));
        assert!(flipped.entries[0].executable && flipped.digest != first.digest);
    }
}

#[test]
fn one_file_is_a_tree_of_one() {
    let dir = Dir::new();
    dir.write("d/a.txt", "a");
    assert_eq!(names(&set(&dir.open(), &tree("d/a.txt"))), ["a.txt"]);
    refused(&dir.open(), &BundleWant::new("d/a.txt", Purpose::Skill), &["bundle.not_a_folder"]);
}

#[test]
fn globs_stay_in_a_folder_and_folders_stand_for_what_is_below() {
    let dir = Dir::new();
    for file in ["a.md", "x/b.md", "x/y/c.md", "drafts/d.md", "e.txt"] {
        dir.write(&format!("d/{file}"), "x");
    }
    let with = |include: &[&str], exclude: &[&str]| BundleWant {
        include: include.iter().map(|s| (*s).to_owned()).collect(),
        exclude: exclude.iter().map(|s| (*s).to_owned()).collect(),
        ..tree("d")
    };
    let project = dir.open();
    assert_eq!(names(&set(&project, &with(&["**/*.md"], &["drafts/**"]))), ["a.md", "x/b.md", "x/y/c.md"]);
    assert_eq!(names(&set(&project, &with(&["*.md"], &[]))), ["a.md"]);
    assert_eq!(names(&set(&project, &with(&["x"], &["x/y/"]))), ["x/b.md"]);
    let (_, report, _) = project.files(&with(&["x/*.md"], &["drafts"]));
    let left: Vec<_> = report.left_out.iter().map(|(p, why)| format!("{p} {why}")).collect();
    let glob = "matches no glob of `include`";
    assert_eq!(
        left,
        [
            format!("d/a.md {glob}"),
            "d/drafts/ `exclude` has `drafts`".into(),
            format!("d/e.txt {glob}"),
            format!("d/x/y/c.md {glob}")
        ]
    );
    refused(&project, &with(&["a{"], &["[z-a]"]), &["bundle.bad_glob", "bundle.bad_glob"]);
    refused(&project, &with(&["nothing"], &[]), &["bundle.empty"]);
}

#[test]
fn empty_is_a_warning_and_left_out_whole_an_error() {
    let dir = Dir::new();
    fs::create_dir(dir.at("d")).unwrap();
    let (set, _, diagnostics) = dir.open().files(&tree("d"));
    assert_eq!((set.unwrap().entries.len(), codes(&diagnostics)), (0, vec!["bundle.empty"]));
    assert_eq!(diagnostics.0[0].severity, Severity::Warning);
    dir.write(".gitignore", "dist/\n").write("dist/a", "");
    let (report, diagnostics) = refused(&dir.open(), &tree("dist"), &["bundle.empty"]);
    assert_eq!(report.left_out, [("dist/".to_owned(), "`dist/` in .gitignore".to_owned())]);
    assert_eq!(diagnostics.0[0].hints, ["`dist/`: `dist/` in .gitignore"]);
    dir.write(".checkfuignore", "!dist/\n");
    assert_eq!(names(&super::set(&dir.open(), &tree("dist"))), ["a"]);
}

#[test]
fn what_is_left_out_is_listed_with_its_reason() {
    let dir = Dir::new();
    dir.write("d/keep", "").write("d/a.log", "").write("d/tmp/x", "").write("d/no", "").write("d/.hidden", "");
    dir.write(".gitignore", "*.log\n").write("d/.gitignore", "tmp/\n").write("d/.checkfuignore", "no\n");
    dir.write("d/.checkfu/workspace.db", "").write("d/.git", "gitdir: nowhere\n");
    let (set, report, _) = dir.open().files(&tree("d"));
    assert_eq!(names(&set.unwrap()), [".gitignore", ".hidden", "keep"]);
    let left: Vec<_> = report.left_out.iter().map(|(p, why)| (p.as_str(), why.as_str())).collect();
    assert_eq!(
        left,
        [
            ("d/.checkfu/", "belongs to checkfu"),
            ("d/.checkfuignore", "rules for checkfu, no content"),
            ("d/.git", "belongs to Git"),
            ("d/a.log", "`*.log` in .gitignore"),
            ("d/no", "`no` in d/.checkfuignore"),
            ("d/tmp/", "`tmp/` in d/.gitignore"),
        ]
    );
}

#[test]
fn the_project_folder_itself_is_a_tree_without_our_files() {
    let dir = Dir::new();
    dir.write("a", "").write("d/b", "").write(".checkfu/workspace.db", "");
    assert_eq!(names(&set(&dir.open(), &tree("."))), ["a", "d/b"]);
    dir.write("d/.gitignore", "[z-a]\n");
    let (found, _, diagnostics) = dir.open().files(&tree("."));
    assert_eq!((found.is_some(), codes(&diagnostics)), (true, vec!["bundle.bad_ignore"]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_very_deep_folder_ends_in_an_error_soon() {
    let dir = Dir::new();
    let mut path = dir.path().to_owned();
    fs::create_dir(path.join("d")).unwrap();
    path.push("d");
    while path.as_os_str().len() < 1400 {
        path.push("xxxxxxxxx");
    }
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("f"), "").unwrap();
    refused(&dir.open(), &tree("d"), &["bundle.bad_path"]);
    let (_, diagnostics) = dir.open().discover(&crate::model::config::Discover::default(), &|_, _| None);
    assert_eq!(codes(&diagnostics), ["bundle.bad_path"]);
}

#[cfg(target_os = "linux")]
#[test]
fn twins_of_case_and_form_are_errors() {
    let dir = Dir::new();
    dir.write("d/A.md", "").write("d/a.md", "").write("n/\u{e9}", "").write("n/e\u{301}", "");
    dir.write("f/Docs/x", "").write("f/docs/y", "").write("f/docs/z", "").write("f/x/docs/q", "");
    let (_, d) = refused(&dir.open(), &tree("d"), &["bundle.case_twin"]);
    assert_eq!(d.0[0].message, "`A.md` and `a.md` differ only in case");
    let (_, d) = refused(&dir.open(), &tree("n"), &["bundle.case_twin"]);
    assert!(d.0[0].message.ends_with("differ only in Unicode form"));
    let (_, d) = refused(&dir.open(), &tree("f"), &["bundle.case_twin"]);
    assert_eq!(d.0[0].message, "`Docs` and `docs` differ only in case");
}

#[cfg(target_os = "linux")]
#[test]
fn names_are_composed_or_refused() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Dir::new();
    dir.write("d/e\u{301}/x", "1");
    let project = dir.open();
    let found = set(&project, &tree("d"));
    assert_eq!(names(&found), ["\u{e9}/x"]);
    let bytes = crate::control::Blobs::open(&project, "d/\u{e9}/x", &found.entries[0].sha256).unwrap();
    assert_eq!(bytes, b"1");
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"d/\xff")), "").unwrap();
    refused(&dir.open(), &tree("d"), &["bundle.bad_path"]);
    let long = Dir::new();
    long.write(&format!("d/{}", ["x".repeat(250).as_str(); 4].join("/")), "");
    assert_eq!(set(&long.open(), &tree("d")).entries[0].path.len(), 1003);
    long.write(&format!("d/{}", ["y".repeat(204).as_str(); 5].join("/")), "");
    assert_eq!(set(&long.open(), &tree("d")).entries[1].path.len(), 1024);
    long.write(&format!("d/{}z", ["y".repeat(204).as_str(); 5].join("/")), "");
    refused(&long.open(), &tree("d"), &["bundle.bad_path"]);
}

#[cfg(unix)]
#[test]
fn names_that_windows_cannot_hold() {
    let dir = Dir::repository();
    dir.write("d/a:b", "").write("d/con.md", "");
    refused(&dir.open(), &tree("d"), &["bundle.untracked", "bundle.windows_name", "bundle.windows_name"]);
    dir.commit();
    let (set, _, diagnostics) = dir.open().files(&tree("d"));
    assert_eq!(codes(&diagnostics), ["bundle.windows_name"; 2]);
    assert!(set.is_some() && !diagnostics.has_errors());
}

#[test]
fn names_of_secrets_are_refused_unless_meant() {
    let dir = Dir::new();
    dir.write("d/.env", "A=1").write("d/keys/id_rsa", "").write("d/x.md", "");
    refused(&dir.open(), &tree("d"), &["bundle.secret_name"; 2]);
    let allow_secret_names = vec!["./d/.env".to_owned(), "d/keys/id_rsa".to_owned()];
    assert_eq!(set(&dir.open(), &BundleWant { allow_secret_names, ..tree("d") }).entries.len(), 3);
}

#[test]
fn skills_hold_one_skill_file_of_the_right_name() {
    let dir = Dir::new();
    dir.write("skills/a/SKILL.md", "x").write("skills/a/sub/SKILL.md", "x").write("skills/b/Skill.md", "x");
    let skill = |path: &str| BundleWant::new(path, Purpose::Skill);
    let (set, _, diagnostics) = dir.open().files(&skill("skills/a"));
    assert!(set.is_some());
    assert_eq!(codes(&diagnostics), ["bundle.nested_skill"]);
    refused(&dir.open(), &skill("skills/b"), &["bundle.skill_file_name"]);
    for i in 0..200 {
        dir.write(&format!("skills/a/{i}"), "");
    }
    let (set, _, diagnostics) = dir.open().files(&skill("skills/a"));
    assert_eq!(
        (set.unwrap().entries.len(), codes(&diagnostics)),
        (202, vec!["bundle.many_files", "bundle.nested_skill"])
    );
}

#[test]
fn memories_are_text_of_a_bounded_size() {
    let dir = Dir::new();
    dir.write("m/ok.md", "é".repeat(51_200)).write("m/bin", b"\xff\xfe");
    refused(&dir.open(), &BundleWant::new("m", Purpose::Memory), &["bundle.not_utf8"]);
    dir.write("m/bin", "x".repeat(102_401)).write("m/huge", "x".repeat(300_000));
    let (_, d) = refused(&dir.open(), &BundleWant::new("m", Purpose::Memory), &["bundle.limit"; 2]);
    assert!(d.0[0].message.contains("102,401 bytes") && d.0[0].hints[0].starts_with("largest: m/huge (300,000"));
}

#[test]
fn too_many_files_are_not_read() {
    let dir = Dir::new();
    for i in 0..1025 {
        dir.write(&format!("d/{i}"), "");
    }
    let project = dir.open();
    refused(&project, &tree("d"), &["bundle.limit"]);
    assert_eq!(project.content_reads(), 0);
}

#[cfg(unix)]
#[test]
fn devices_and_fifos_are_refused_without_waiting() {
    let dir = Dir::new();
    dir.write("d/a", "");
    for fifo in ["d/f", "top"] {
        assert!(std::process::Command::new("mkfifo").arg(dir.at(fifo)).status().unwrap().success());
    }
    let _socket = std::os::unix::net::UnixListener::bind(dir.at("d/s")).unwrap();
    refused(&dir.open(), &tree("d"), &["bundle.special"; 2]);
    refused(&dir.open(), &tree("top"), &["bundle.special"]);
}

#[test]
fn missing_folders_are_told_with_the_nearest() {
    let dir = Dir::new();
    dir.write("docs/a", "");
    let (_, d) = refused(&dir.open(), &tree("dcos"), &["bundle.missing"]);
    assert_eq!(d.0[0].fix.as_deref(), Some("docs"));
    refused(&dir.open(), &tree("/etc"), &["bundle.bad_path"]);
    refused(&dir.open(), &tree("../x"), &["bundle.outside"]);
}

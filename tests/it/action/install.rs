//! `action/install.sh`, step by step as the action runs it, with nothing on PATH but the tools that it may need: the
//! program that is given, a release from a mirror on loopback, a build by a cargo of the tests' own.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::repo;

/// All that the script may call, beside cargo, rustc and gh.
const TOOLS: &[&str] = &[
    "bash",
    "basename",
    "chmod",
    "cp",
    "curl",
    "cut",
    "dirname",
    "find",
    "grep",
    "gzip",
    "head",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "sed",
    "sha256sum",
    "sort",
    "tar",
    "wc",
];
const TARGET: &str = "x86_64-unknown-linux-musl";
const ARCHIVE: &str = "checkfu-1.2.3-x86_64-unknown-linux-musl.tar.gz";
const PATH: &str = "/v1.2.3/checkfu-1.2.3-x86_64-unknown-linux-musl.tar.gz";

/// A program that says that it is `checkfu VERSION`.
fn says(version: &str) -> String {
    format!("#!/bin/sh\necho 'checkfu {version}'\n")
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The action's check-out and a runner.
struct Stage {
    temp: tempfile::TempDir,
}

/// What a step left behind.
#[derive(Debug)]
struct Ran {
    ok: bool,
    log: String,
    outputs: BTreeMap<String, String>,
}

impl Ran {
    fn failed(&self, why: &str) {
        assert!(!self.ok && self.log.contains("::error title=checkfu::") && self.log.contains(why), "{self:?}");
        assert!(!self.outputs.contains_key("path"), "{self:?}");
    }
}

impl Stage {
    fn new() -> Self {
        let stage = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir_all(stage.at("action/action")).unwrap();
        fs::create_dir_all(stage.at("action/src")).unwrap();
        fs::create_dir_all(stage.at("runner")).unwrap();
        fs::create_dir_all(stage.at("bin")).unwrap();
        fs::copy(repo::root().join("action/install.sh"), stage.at("action/action/install.sh")).unwrap();
        fs::write(stage.at("action/Cargo.toml"), "[package]\n").unwrap();
        fs::write(stage.at("action/src/main.rs"), "fn main() {}\n").unwrap();
        let paths: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
        for tool in TOOLS {
            let found = paths.iter().map(|p| p.join(tool)).find(|p| p.is_file()).unwrap_or_else(|| panic!("{tool}"));
            symlink(found, stage.at("bin").join(tool)).unwrap();
        }
        stage
    }

    fn at(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    /// A cargo that builds at once and counts how often.
    fn with_cargo(self) -> Self {
        script(&self.at("bin/rustc"), "#!/bin/sh\necho 'rustc 1.92.0'\n");
        let cargo = "#!/bin/sh\nset -e\necho \"$@\" >>\"$COUNT\"\npwd >>\"$COUNT\"\n\
                     mkdir -p \"$CARGO_TARGET_DIR/release\"\ncp \"$BUILT\" \"$CARGO_TARGET_DIR/release/checkfu\"\n";
        script(&self.at("bin/cargo"), cargo);
        script(&self.at("built"), &says("1.2.3"));
        self
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.at("count")).map_or(0, |text| text.lines().count() / 2)
    }

    /// One step of the action; its outputs may be those of an earlier one.
    fn step(&self, name: &str, more: &[(&str, &str)]) -> Ran {
        let output = tempfile::NamedTempFile::new_in(self.temp.path()).unwrap();
        let mut command = Command::new(self.at("bin/bash"));
        command.args(["--noprofile", "--norc"]).arg(self.at("action/action/install.sh")).arg(name);
        command.current_dir(self.temp.path()).env_clear().env("PATH", self.at("bin"));
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64").env("RUNNER_TEMP", self.at("runner"));
        command
            .env("RUNNER_TOOL_CACHE", self.at("tools"))
            .env("COUNT", self.at("count"))
            .env("BUILT", self.at("built"));
        command.env("GITHUB_OUTPUT", output.path()).env("GITHUB_PATH", self.at("path")).envs(more.iter().copied());
        let ran = command.output().unwrap();
        let text = fs::read_to_string(output.path()).unwrap();
        Ran {
            ok: ran.status.success(),
            log: String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr),
            outputs: text.lines().map(|l| l.split_once('=').unwrap()).map(|(k, v)| (k.into(), v.into())).collect(),
        }
    }

    /// Both steps.
    fn run(&self, more: &[(&str, &str)]) -> Ran {
        let first = self.step("resolve", more);
        if !first.ok {
            return first;
        }
        let (source, dir) = (first.outputs["source"].as_str(), first.outputs.get("dir").map_or("", String::as_str));
        self.step("get", &[&[("CHECKFU_SOURCE", source), ("CHECKFU_DIR", dir)], more].concat())
    }

    /// Puts a release of this source into the mirror and its hashes into the check-out; gives the archive's bytes.
    fn release(&self, version: &str) -> Vec<u8> {
        script(&self.at("pack/checkfu"), &says(version));
        let made =
            Command::new("tar").args(["-czf", ARCHIVE, "checkfu"]).current_dir(self.at("pack")).status().unwrap();
        assert!(made.success());
        let repository = "https://github.com/acme/checkfu";
        let text = self.step("manifest", &[]);
        assert!(!text.ok, "a manifest of nothing: {text:?}");
        let mut command = Command::new(self.at("bin/bash"));
        command.arg(self.at("action/action/install.sh")).args(["manifest", "1.2.3", repository]).arg(self.at("pack"));
        let printed = command.env_clear().env("PATH", self.at("bin")).output().unwrap();
        assert!(printed.status.success());
        let value: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!((&value["version"], &value["repository"]), (&"1.2.3".into(), &repository.into()));
        assert_eq!(value["targets"][TARGET]["file"], ARCHIVE);
        fs::write(self.at("action/action/release.json"), printed.stdout).unwrap();
        fs::read(self.at("pack").join(ARCHIVE)).unwrap()
    }

    fn edit_manifest(&self, from: &str, to: &str) {
        let path = self.at("action/action/release.json");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

/// A mirror: one file, of which `sent` bytes are sent, and what was asked for.
pub(crate) struct Mirror {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Mirror {
    pub(crate) fn start(path: &str, file: Vec<u8>, sent: usize) -> Self {
        let wanted = format!("GET {path} ");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&asked);
        // Ends with the process: a listener has no other end.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|l| !l.unwrap().is_empty()) {}
                let found = first.starts_with(&wanted);
                book.lock().unwrap().push(first);
                let (status, body) = if found { ("200 OK", &file[..]) } else { ("404 Not Found", &b""[..]) };
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                stream.write_all(head.as_bytes()).unwrap();
                stream.write_all(&body[..sent.min(body.len())]).unwrap();
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[test]
fn a_program_that_is_given_is_used() {
    let stage = Stage::new();
    script(&stage.at("own/checkfu"), &says("9.0.0"));
    let own = stage.at("own/checkfu");
    let ran = stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/checkfu"), ("CHECKFU_CI_MODE", "plan")]);
    assert!(ran.ok, "{ran:?}");
    assert_eq!((ran.outputs["path"].as_str(), ran.outputs["version"].as_str()), (own.to_str().unwrap(), "9.0.0"));
    assert_eq!(ran.outputs["built"], "false");
    assert!(!stage.at("path").exists(), "only setup touches PATH");
    stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/none")]).failed("is no file");
    fs::write(stage.at("own/text"), "").unwrap();
    stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/text")]).failed("not executable");
    script(&stage.at("own/other"), "#!/bin/sh\necho '::add-mask::x'\n");
    let other = stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/other")]);
    other.failed("not checkfu");
    assert!(!other.log.contains("add-mask"), "{other:?}");
}

#[test]
fn setup_puts_it_on_path() {
    let stage = Stage::new();
    script(&stage.at("own/checkfu"), &says("9.0.0"));
    let ran = stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/checkfu"), ("CHECKFU_CI_MODE", "setup")]);
    assert!(ran.ok, "{ran:?}");
    assert_eq!(fs::read_to_string(stage.at("path")).unwrap().trim(), stage.at("own").to_str().unwrap());
    script(&stage.at("own/checkfu-9"), &says("9.0.0"));
    stage.run(&[("CHECKFU_CI_CHECKFU_PATH", "own/checkfu-9"), ("CHECKFU_CI_MODE", "setup")]).failed("setup needs");
}

#[test]
fn wrong_inputs_are_told_before_anything_is_done() {
    let stage = Stage::new().with_cargo();
    let one = "0".repeat(64);
    for (wrong, why) in [
        (vec![("CHECKFU_CI_VERIFY", "yes")], "verify is"),
        (vec![("CHECKFU_CI_CACHE", "no")], "cache is"),
        (vec![("CHECKFU_CI_VERSION", "../../1.2.3")], "version is"),
        (vec![("CHECKFU_CI_VERSION", "1.2.3\n::error::x")], "version is"),
        (vec![("CHECKFU_CI_VERSION", "1.2.3"), ("CHECKFU_CI_CHECKSUM", "abc")], "checksum is"),
        (vec![("CHECKFU_CI_CHECKSUM", one.as_str())], "give both"),
        (vec![("CHECKFU_CI_VERSION", "1.2.3")], "give checksum"),
        (vec![("CHECKFU_CI_VERIFY", "attestation")], "nothing attests"),
    ] {
        let ran = stage.step("resolve", &wrong);
        ran.failed(why);
        assert!(ran.outputs.is_empty() && !ran.log.contains("::error::x"), "{ran:?}");
    }
    assert_eq!(stage.builds(), 0);
}

#[test]
fn source_is_built_once_for_each_of_its_states() {
    let stage = Stage::new().with_cargo();
    let first = stage.step("resolve", &[]);
    assert_eq!(first.outputs["source"], "build");
    let cold = stage.run(&[]);
    assert!(cold.ok && cold.outputs["built"] == "true" && stage.builds() == 1, "{cold:?}");
    let asked = fs::read_to_string(stage.at("count")).unwrap();
    assert!(asked.contains("--release --locked"), "{asked}");
    // Not in the user's repository, whose configuration of cargo could run anything.
    assert_eq!(asked.lines().nth(1).unwrap(), stage.at("action").to_str().unwrap());
    let warm = stage.run(&[]);
    assert!(warm.ok && warm.outputs["built"] == "false" && stage.builds() == 1, "{warm:?}");
    let only: Vec<_> = fs::read_dir(&first.outputs["dir"]).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(only, ["checkfu"], "the cache holds the program and nothing else");
    fs::write(stage.at("action/src/main.rs"), "fn main() { }\n").unwrap();
    let second = stage.step("resolve", &[]);
    assert_ne!(first.outputs["key"], second.outputs["key"]);
    fs::write(stage.at("action/README.md"), "more\n").unwrap();
    assert_eq!(second.outputs["key"], stage.step("resolve", &[]).outputs["key"]);
    script(&stage.at("bin/rustc"), "#!/bin/sh\necho 'rustc 1.93.0'\n");
    assert_ne!(second.outputs["key"], stage.step("resolve", &[]).outputs["key"], "another compiler");
}

#[test]
fn without_cargo_the_two_ways_out_are_named() {
    let ran = Stage::new().run(&[]);
    ran.failed("install Rust");
    ran.failed("checkfu-path");
    let stage = Stage::new().with_cargo();
    script(&stage.at("bin/cargo"), "#!/bin/sh\nexit 101\n");
    stage.run(&[]).failed("the build failed");
}

#[test]
fn a_release_is_fetched_once_and_its_hash_checked_at_each_use() {
    let stage = Stage::new();
    let file = stage.release("1.2.3");
    let mirror = Mirror::start(PATH, file.clone(), file.len());
    let from: &[(&str, &str)] = &[("CHECKFU_RELEASES", &mirror.url)];
    let ran = stage.run(from);
    assert!(ran.ok && ran.outputs["version"] == "1.2.3" && ran.outputs["built"] == "false", "{ran:?}");
    assert!(Command::new(&ran.outputs["path"]).output().unwrap().stdout.starts_with(b"checkfu 1.2.3"));
    let kept = stage.at("tools/checkfu/1.2.3").join(TARGET);
    assert!(kept.join(ARCHIVE).is_file() && kept.with_extension("complete").is_file());
    assert!(stage.run(from).ok);
    assert_eq!(mirror.asked(), 1, "the second came from the tool cache");
    // Somebody else's job on this runner put another one there.
    fs::write(kept.join(ARCHIVE), b"something else").unwrap();
    assert!(stage.run(from).ok);
    assert_eq!(mirror.asked(), 2);
    assert_eq!(fs::read(kept.join(ARCHIVE)).unwrap(), file);
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1, "no part is left");
}

#[test]
fn nothing_of_a_wrong_archive_is_run() {
    for (name, alter, sent, why) in
        [("other bytes", true, usize::MAX, "SHA-256 is another"), ("cut off", false, 50, "cannot be downloaded")]
    {
        let stage = Stage::new();
        let mut file = stage.release("1.2.3");
        if alter {
            *file.last_mut().unwrap() ^= 1;
        }
        let mirror = Mirror::start(PATH, file, sent);
        let ran = stage.run(&[("CHECKFU_RELEASES", &mirror.url)]);
        ran.failed(why);
        assert!(!stage.at("runner/checkfu-release/1.2.3/checkfu").exists(), "{name}");
        let kept = stage.at("tools/checkfu/1.2.3").join(TARGET);
        assert_eq!(fs::read_dir(kept).unwrap().count(), 0, "{name}: nothing is left of it");
    }
    let stage = Stage::new();
    let file = stage.release("1.2.4");
    let mirror = Mirror::start(PATH, file, usize::MAX);
    stage.run(&[("CHECKFU_RELEASES", &mirror.url)]).failed("not the version");
    let stage = Stage::new();
    stage.release("1.2.3");
    for elsewhere in ["http://mirror.example", "ftp://mirror.example", "file:///tmp"] {
        stage.run(&[("CHECKFU_RELEASES", elsewhere)]).failed("by https");
    }
}

#[test]
fn without_a_hash_nothing_is_downloaded() {
    let stage = Stage::new().with_cargo();
    let file = stage.release("1.2.3");
    let mirror = Mirror::start(PATH, file.clone(), usize::MAX);
    let from = ("CHECKFU_RELEASES", mirror.url.as_str());
    let version = ("CHECKFU_CI_VERSION", "1.2.3");
    // No release for this system: built, or refused where a release was asked for.
    let odd = ("RUNNER_ARCH", "RISCV64");
    assert_eq!(stage.step("resolve", &[odd]).outputs["source"], "build");
    stage.step("resolve", &[odd, version]).failed("no releases for this system");
    // Not the source that was released: built.
    fs::write(stage.at("action/src/main.rs"), "fn main() { }\n").unwrap();
    assert_eq!(stage.step("resolve", &[]).outputs["source"], "build");
    assert_eq!(stage.step("resolve", &[version]).outputs["source"], "release", "asked for by name");
    // A row without a whole hash.
    stage.edit_manifest("\"sha256\": \"", "\"sha256\": \"x");
    stage.step("resolve", &[version, from]).failed("no SHA-256");
    stage.edit_manifest(TARGET, "other-target");
    stage.step("resolve", &[version, from]).failed("give checksum");
    assert_eq!(mirror.asked(), 0);
    let sum = checkfu::model::Digest::of(&file).to_string();
    let ran = stage.run(&[version, from, ("CHECKFU_CI_CHECKSUM", sum.trim_start_matches("sha256:"))]);
    assert!(ran.ok && mirror.asked() == 1, "{ran:?}");
}

#[test]
fn two_jobs_of_one_runner_do_not_disturb_each_other() {
    let stage = Stage::new();
    let file = stage.release("1.2.3");
    let mirror = Mirror::start(PATH, file.clone(), usize::MAX);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (stage, url) = (&stage, &mirror.url);
            scope.spawn(move || {
                let temp = stage.at(&format!("runner-{n}"));
                fs::create_dir(&temp).unwrap();
                let ran = stage.run(&[("CHECKFU_RELEASES", url), ("RUNNER_TEMP", temp.to_str().unwrap())]);
                assert!(ran.ok, "{ran:?}");
            });
        }
    });
    assert_eq!(fs::read(stage.at("tools/checkfu/1.2.3").join(TARGET).join(ARCHIVE)).unwrap(), file);
}

#[test]
fn an_attestation_is_checked_where_it_can_be_and_may_be_a_must() {
    let stage = Stage::new();
    let file = stage.release("1.2.3");
    let mirror = Mirror::start(PATH, file, usize::MAX);
    let from = ("CHECKFU_RELEASES", mirror.url.as_str());
    let (must, token) = (("CHECKFU_CI_VERIFY", "attestation"), ("CHECKFU_GITHUB_TOKEN", "ghs_1"));
    stage.run(&[from, must, token]).failed("needs gh");
    let gh = |holds: bool| {
        let verify = format!(
            "#!/bin/sh\necho \"$GH_TOKEN $@\" >>\"$COUNT\"\n[ \"$4\" != --repo ] || exit {}\n",
            i32::from(!holds)
        );
        script(&stage.at("bin/gh"), &verify);
    };
    gh(true);
    stage.run(&[from, must]).failed("needs gh");
    let ran = stage.run(&[from, must, token]);
    assert!(ran.ok, "{ran:?}");
    let asked = fs::read_to_string(stage.at("count")).unwrap();
    assert!(asked.lines().last().unwrap().starts_with("ghs_1 attestation verify "), "{asked}");
    assert!(
        asked.ends_with("--repo acme/checkfu --signer-workflow acme/checkfu/.github/workflows/release.yml\n"),
        "{asked}"
    );
    gh(false);
    stage.run(&[from, must, token]).failed("does not hold");
    let auto = stage.run(&[from, token]);
    assert!(auto.ok && auto.log.contains("::notice title=checkfu::"), "{auto:?}");
    fs::remove_file(stage.at("count")).unwrap();
    assert!(stage.run(&[from, token, ("CHECKFU_CI_VERIFY", "checksum")]).ok);
    assert!(!stage.at("count").exists(), "gh was not asked");
}

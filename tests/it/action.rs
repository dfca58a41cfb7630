//! `action.yml` and `action/install.sh`: the action is what the tables of inputs and outputs say, puts no input into a
//! script, pins what it uses, and finds the program by a path, by a release whose hash it knows, or by a build. No test
//! builds anything or leaves the machine: cargo, rustc and gh are scripts, and releases come from a loopback mirror.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use checkfu::ci::inputs::{INPUTS, Reader, TOKEN_VARIABLE};
use checkfu::ci::outputs::OUTPUTS;
use checkfu::diag::LineIndex;
use checkfu::manifest::yaml;
use serde_json::Value;

use crate::repo;

fn parsed(path: &str) -> Value {
    let (documents, diagnostics) = yaml::parse(&LineIndex::new(path, repo::text(path)));
    assert!(diagnostics.0.is_empty(), "{path}: {diagnostics:?}");
    assert_eq!(documents.len(), 1, "{path}");
    documents[0].to_json()
}

/// What is wrong with the steps of an action or a job.
fn broken(steps: &Value) -> Vec<String> {
    let mut bad = Vec::new();
    for step in steps.as_array().into_iter().flatten() {
        let name = step["id"].as_str().or(step["uses"].as_str()).unwrap_or("a step without id");
        if step["run"].as_str().unwrap_or_default().contains("${{") {
            bad.push(format!("{name}: an expression in a script is a way in; hand it over in env"));
        }
        let uses = step["uses"].as_str().filter(|u| *u != "./");
        let pin = uses.map(|u| u.rsplit_once('@').map_or("", |(_, pin)| pin));
        if pin.is_some_and(|p| p.len() != 40 || !p.bytes().all(|b| b.is_ascii_hexdigit())) {
            bad.push(format!("{name}: not pinned to a commit"));
        }
    }
    bad
}

#[test]
fn no_script_holds_an_expression_and_all_that_is_used_is_pinned() {
    let action = parsed("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    assert_eq!(broken(&action["runs"]["steps"]), Vec::<String>::new());
    for entry in fs::read_dir(repo::root().join(".github/workflows")).unwrap() {
        let path = format!(".github/workflows/{}", entry.unwrap().file_name().to_string_lossy());
        for (name, job) in parsed(&path)["jobs"].as_object().unwrap() {
            assert_eq!(broken(&job["steps"]), Vec::<String>::new(), "{path}: {name}");
        }
    }
    let bad = serde_json::json!([{"run": "echo ${{ inputs.x }}"}, {"uses": "a/b@v1"}, {"uses": "a/b"}]);
    assert_eq!(broken(&bad).len(), 3);
}

#[test]
fn inputs_are_those_of_the_table() {
    let action = parsed("action.yml");
    let told: BTreeMap<&str, (&str, &str)> = action["inputs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, i)| {
            (name.as_str(), (i["default"].as_str().unwrap_or_default(), i["description"].as_str().unwrap()))
        })
        .collect();
    let table: BTreeMap<&str, (&str, &str)> = INPUTS.iter().map(|i| (i.name, (i.default, i.doc))).collect();
    assert_eq!(told, table);
    for (name, input) in action["inputs"].as_object().unwrap() {
        assert_eq!(input["required"].as_bool().unwrap_or_default(), input.get("default").is_none(), "{name}");
    }
}

#[test]
fn outputs_are_those_of_the_table() {
    let action = parsed("action.yml");
    let outputs = action["outputs"].as_object().unwrap();
    let told: BTreeMap<&str, &str> =
        outputs.iter().map(|(name, o)| (name.as_str(), o["description"].as_str().unwrap())).collect();
    assert_eq!(told, OUTPUTS.iter().map(|o| (o.name, o.doc)).collect());
    for (name, output) in outputs {
        let from = match name.as_str() {
            "checkfu-version" => "${{ steps.get.outputs.version }}".to_owned(),
            "checkfu-path" => "${{ steps.get.outputs.path }}".to_owned(),
            _ => format!("${{{{ steps.run.outputs.{name} }}}}"),
        };
        assert_eq!(output["value"], from, "{name}");
    }
}

#[test]
fn each_input_reaches_who_reads_it() {
    let action = parsed("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    let env = |id: &str| -> BTreeMap<String, String> {
        let step = steps.iter().find(|s| s["id"] == id).unwrap();
        let pairs = step["env"].as_object().unwrap().iter();
        pairs.map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect()
    };
    let variables = |reader: Reader| -> BTreeMap<String, String> {
        let of = INPUTS.iter().filter(|i| i.reader == reader);
        of.map(|i| {
            let variable = if i.name == "github-token" { TOKEN_VARIABLE.to_owned() } else { i.variable() };
            (variable, format!("${{{{ inputs.{} }}}}", i.name))
        })
        .collect()
    };
    let mut program = variables(Reader::Program);
    program.insert("CHECKFU_BIN".to_owned(), "${{ steps.get.outputs.path }}".to_owned());
    assert_eq!(env("run"), program);
    let script = variables(Reader::Script);
    assert_eq!(env("resolve"), script);
    let text = repo::text("action/install.sh");
    for (variable, from) in &script {
        assert!(text.contains(&format!("${{{variable}:-")), "install.sh does not read {variable}");
        assert_eq!(env("get").get(variable), Some(from));
    }
}

/// A copy of the action with a small source, a folder for each thing that a runner has, and a PATH with nothing but what
/// the script needs.
struct Runner {
    temp: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

/// What a step left.
struct Ran {
    code: i32,
    log: String,
    outputs: BTreeMap<String, String>,
    path: String,
}

const TOOLS: [&str; 25] = [
    "basename",
    "bash",
    "cat",
    "chmod",
    "cp",
    "curl",
    "cut",
    "dirname",
    "env",
    "find",
    "grep",
    "gzip",
    "head",
    "mkdir",
    "mktemp",
    "mv",
    "perl",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "shasum",
    "sort",
    "tar",
    "wc",
];

impl Runner {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for folder in ["act/action", "act/src", "temp", "tools", "bin", "mirror/v1.2.3"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::copy(repo::root().join("action/install.sh"), at("act/action/install.sh")).unwrap();
        fs::write(at("act/Cargo.toml"), "[package]\n").unwrap();
        fs::write(at("act/src/main.rs"), "fn main() {}\n").unwrap();
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
        for tool in TOOLS {
            if let Some(found) = folders.iter().map(|f| f.join(tool)).find(|f| f.is_file()) {
                symlink(found, at("bin").join(tool)).unwrap();
            }
        }
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let env = [
            ("PATH", text(at("bin"))),
            ("HOME", text(at("temp"))),
            ("RUNNER_TEMP", text(at("temp"))),
            ("RUNNER_TOOL_CACHE", text(at("tools"))),
            ("RUNNER_OS", "Linux".to_owned()),
            ("RUNNER_ARCH", "X64".to_owned()),
        ];
        Self { env: env.map(|(k, v)| (k.to_owned(), v)).into(), temp }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.at(name).to_str().unwrap().to_owned()
    }

    fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn program(&self, name: &str, script: &str) -> String {
        let path = self.at(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.text(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.at("bin/bash"));
        command.args(["--noprofile", "--norc"]).arg(self.at("act/action/install.sh")).args(arguments);
        command.current_dir(self.temp.path()).env_clear().envs(&self.env);
        command
    }

    /// One step, with the outputs of the one before it.
    fn step(&self, name: &str, before: &BTreeMap<String, String>) -> Ran {
        let files = tempfile::tempdir().unwrap();
        let file = |name: &str| files.path().join(name);
        fs::write(file("output"), "").unwrap();
        fs::write(file("path"), "").unwrap();
        let mut command = self.command(&[name]);
        command.env("GITHUB_OUTPUT", file("output")).env("GITHUB_PATH", file("path"));
        for (variable, output) in [("CHECKFU_SOURCE", "source"), ("CHECKFU_DIR", "dir")] {
            command.env(variable, before.get(output).map_or("", String::as_str));
        }
        let output = command.output().unwrap();
        let text = fs::read_to_string(file("output")).unwrap();
        Ran {
            code: output.status.code().unwrap(),
            log: String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
            outputs: text.lines().filter_map(|l| l.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect(),
            path: fs::read_to_string(file("path")).unwrap(),
        }
    }

    /// Both steps, as the action runs them.
    fn run(&self) -> Ran {
        let resolved = self.step("resolve", &BTreeMap::new());
        if resolved.code != 0 {
            return resolved;
        }
        let mut got = self.step("get", &resolved.outputs);
        let outputs = resolved.outputs.into_iter().chain(got.outputs).collect();
        got.outputs = outputs;
        got
    }

    /// Archives of a release and the `release.json` that knows them.
    fn release(&mut self) {
        self.archive("x86_64-unknown-linux-musl", "1.2.3");
        self.manifest();
        let mirror = serve(self.at("mirror"));
        self.set("CHECKFU_RELEASES", &mirror);
    }

    fn manifest(&self) {
        let folder = self.text("mirror/v1.2.3");
        let printed = self.command(&["manifest", "1.2.3", "https://github.com/o/r", &folder]).output().unwrap();
        assert!(printed.status.success(), "{printed:?}");
        let told: Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(told["version"], "1.2.3");
        fs::write(self.at("act/action/release.json"), printed.stdout).unwrap();
    }

    fn archive(&self, target: &str, version: &str) {
        self.program("checkfu", &format!("echo checkfu {version}"));
        let file = self.at("mirror/v1.2.3").join(format!("checkfu-1.2.3-{target}.tar.gz"));
        let made = Command::new("tar").arg("-czf").arg(file).arg("-C").arg(self.temp.path()).arg("checkfu").status();
        assert!(made.unwrap().success());
    }
}

/// Serves a folder until the process ends; tells where.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines: Vec<String> =
                BufReader::new(&stream).lines().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
            let name = lines.first().and_then(|l| l.split(' ').nth(1)).unwrap_or_default().trim_start_matches('/');
            let (status, body) = fs::read(folder.join(name)).map_or(("404 Not Found", Vec::new()), |b| ("200 OK", b));
            let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            // A client that went away is its own affair.
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    format!("http://{address}")
}

fn refused(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 1, "{}", ran.log);
    assert!(ran.log.contains("::error title=checkfu::") && ran.log.contains(why), "{why} is not in {}", ran.log);
    assert!(!ran.outputs.contains_key("path"), "{:?}", ran.outputs);
}

#[test]
fn a_program_that_is_given_is_used() {
    let mut runner = Runner::new();
    let none = runner.text("nowhere");
    refused(&runner.set("CHECKFU_CI_CHECKFU_PATH", &none).run(), "checkfu-path is no file");
    let plain = runner.text("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    refused(&runner.set("CHECKFU_CI_CHECKFU_PATH", &plain).run(), "not executable");
    let other = runner.program("other", "echo '::warning::owned'");
    let ran = runner.set("CHECKFU_CI_CHECKFU_PATH", &other).run();
    refused(&ran, "the program is not checkfu");
    assert!(!ran.log.contains("owned"), "{}", ran.log);

    let ran = runner.set("CHECKFU_CI_CHECKFU_PATH", env!("CARGO_BIN_EXE_checkfu")).run();
    assert_eq!(ran.code, 0, "{}", ran.log);
    assert_eq!(ran.outputs["path"], env!("CARGO_BIN_EXE_checkfu"));
    assert_eq!(ran.outputs["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((ran.outputs["built"].as_str(), ran.path.as_str()), ("false", ""));

    let folder = Path::new(env!("CARGO_BIN_EXE_checkfu")).parent().unwrap();
    let ran = runner.set("CHECKFU_CI_MODE", "setup").run();
    assert_eq!(ran.path, format!("{}\n", folder.display()), "{}", ran.log);
    let named = runner.program("named-otherwise", "echo checkfu 1.2.3");
    let ran = runner.set("CHECKFU_CI_CHECKFU_PATH", &named).run();
    assert!(ran.code == 1 && ran.path.is_empty() && ran.log.contains("mode: setup needs"), "{}", ran.log);
}

#[test]
fn inputs_that_cannot_hold_are_refused_and_are_no_commands() {
    for (name, value, why) in [
        ("VERIFY", "maybe", "verify is"),
        ("CACHE", "yes", "cache is"),
        ("VERSION", "1.2", "version is one version"),
        ("VERSION", "1.2.3\n::warning::owned", "version is one version"),
        ("VERSION", "../../x", "version is one version"),
        ("CHECKSUM", "abc", "checksum is 64"),
        ("CHECKSUM", &"0".repeat(64), "checksum belongs to version"),
        ("VERSION", "1.2.3", "the hash of this version is not known here"),
        ("VERIFY", "attestation", "nothing attests it"),
    ] {
        let mut runner = Runner::new();
        let ran = runner.set(&format!("CHECKFU_CI_{name}"), value).run();
        refused(&ran, why);
        assert!(!ran.log.contains("owned"), "{}", ran.log);
    }
}

#[test]
fn a_commit_that_is_no_release_is_built_once() {
    let runner = Runner::new();
    refused(&runner.run(), "there is no cargo");
    runner.program("bin/rustc", "echo rustc 1.0");
    let log = runner.text("built");
    let cargo = format!(
        "echo \"$@\" >>'{log}'\nmkdir -p \"$CARGO_TARGET_DIR/release\"\n\
         printf '#!/bin/sh\\necho checkfu 9.9.9\\n' >\"$CARGO_TARGET_DIR/release/checkfu\"\n\
         chmod +x \"$CARGO_TARGET_DIR/release/checkfu\""
    );
    runner.program("bin/cargo", &cargo);
    let cold = runner.run();
    assert_eq!(cold.code, 0, "{}", cold.log);
    assert_eq!((cold.outputs["source"].as_str(), cold.outputs["built"].as_str()), ("build", "true"));
    assert_eq!(cold.outputs["version"], "9.9.9");
    assert!(cold.outputs["path"].starts_with(&cold.outputs["dir"]), "{:?}", cold.outputs);
    let warm = runner.run();
    assert_eq!((warm.outputs["built"].as_str(), &warm.outputs["key"]), ("false", &cold.outputs["key"]));
    assert_eq!(fs::read_to_string(&log).unwrap(), "build --release --locked --quiet --bin checkfu\n");

    // Another compiler or another source is another program.
    runner.program("bin/rustc", "echo rustc 2.0");
    let compiler = runner.step("resolve", &BTreeMap::new());
    fs::write(runner.at("act/src/main.rs"), "fn main() { }\n").unwrap();
    let source = runner.step("resolve", &BTreeMap::new());
    assert!(compiler.outputs["key"] != cold.outputs["key"] && source.outputs["key"] != compiler.outputs["key"]);
    runner.program("bin/cargo", "exit 101");
    refused(&runner.run(), "the build failed");
}

#[test]
fn a_release_is_the_one_whose_hash_is_known() {
    let mut runner = Runner::new();
    runner.release();
    let archive = runner.at("mirror/v1.2.3/checkfu-1.2.3-x86_64-unknown-linux-musl.tar.gz");
    let good = fs::read(&archive).unwrap();

    fs::write(&archive, &good[..good.len() / 2]).unwrap();
    refused(&runner.run(), "its SHA-256 is another");
    fs::write(&archive, [&good[..], b"more"].concat()).unwrap();
    refused(&runner.run(), "its SHA-256 is another");
    assert!(!runner.at("temp/checkfu-release").exists());
    fs::remove_file(&archive).unwrap();
    refused(&runner.run(), "cannot be downloaded");

    fs::write(&archive, &good).unwrap();
    let ran = runner.run();
    assert_eq!(ran.code, 0, "{}", ran.log);
    assert_eq!((ran.outputs["source"].as_str(), ran.outputs["version"].as_str()), ("release", "1.2.3"));

    // What the tool cache keeps is used without the network, and never unread.
    fs::remove_file(&archive).unwrap();
    assert_eq!(runner.run().code, 0);
    let kept = runner.at("tools/checkfu/1.2.3/x86_64-unknown-linux-musl").join(archive.file_name().unwrap());
    fs::write(&kept, "another").unwrap();
    refused(&runner.run(), "cannot be downloaded");

    fs::write(&archive, &good).unwrap();
    refused(&runner.set("CHECKFU_RELEASES", "http://releases.example").run(), "releases come by https");
}

#[test]
fn a_release_is_for_its_system_its_source_and_its_version() {
    let mut runner = Runner::new();
    runner.release();
    // Not there for this system: built, or refused where a version is asked for.
    runner.set("RUNNER_ARCH", "ARM64");
    refused(&runner.run(), "there is no cargo");
    refused(&runner.set("CHECKFU_CI_VERSION", "1.2.3").run(), "the hash of this version is not known here");
    refused(&runner.set("RUNNER_ARCH", "RISCV").run(), "there are no releases for this system");
    runner.set("RUNNER_ARCH", "X64");
    refused(&runner.set("CHECKFU_CI_CHECKSUM", &"0".repeat(64)).run(), "checksum is not that of this version");
    runner.set("CHECKFU_CI_CHECKSUM", "").set("CHECKFU_CI_VERSION", "");
    // A commit after the release is another program.
    fs::write(runner.at("act/src/main.rs"), "fn main() { }\n").unwrap();
    refused(&runner.run(), "there is no cargo");

    let mut runner = Runner::new();
    runner.release();
    runner.archive("x86_64-unknown-linux-musl", "6.6.6");
    runner.manifest();
    refused(&runner.run(), "not the version that it should be");
}

#[test]
fn two_jobs_at_once_get_the_same_program() {
    let mut runner = Runner::new();
    runner.release();
    let codes: Vec<(i32, String)> = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..2).map(|_| scope.spawn(|| runner.run())).collect();
        jobs.into_iter().map(|j| j.join().unwrap()).map(|r| (r.code, r.log)).collect()
    });
    assert!(codes.iter().all(|(code, _)| *code == 0), "{codes:?}");
    let left: Vec<_> = fs::read_dir(runner.at("tools/checkfu/1.2.3/x86_64-unknown-linux-musl")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn an_attestation_is_asked_for_and_must_hold_where_it_must() {
    let mut runner = Runner::new();
    runner.release();
    runner.set("CHECKFU_CI_VERIFY", "attestation").set("CHECKFU_GITHUB_TOKEN", "ghs_x");
    refused(&runner.run(), "needs gh");
    let log = runner.text("asked");
    let gh = |ends: &str| format!("case \"$*\" in *--help) exit 0 ;; esac\necho \"$GH_TOKEN $*\" >>'{log}'\n{ends}");
    runner.program("bin/gh", &gh("exit 1"));
    refused(&runner.run(), "does not hold");
    let ran = runner.set("CHECKFU_CI_VERIFY", "auto").run();
    assert!(ran.code == 0 && ran.log.contains("::notice title=checkfu::"), "{}", ran.log);
    runner.program("bin/gh", &gh("exit 0"));
    let ran = runner.set("CHECKFU_CI_VERIFY", "attestation").run();
    assert_eq!(ran.code, 0, "{}", ran.log);
    assert!(!ran.log.contains("ghs_x"));
    let asked = fs::read_to_string(&log).unwrap();
    assert_eq!(asked.lines().count(), 3, "{asked}");
    let ends = "--repo o/r --signer-workflow o/r/.github/workflows/release.yml";
    assert!(asked.lines().all(|l| l.starts_with("ghs_x attestation verify /") && l.ends_with(ends)), "{asked}");
    runner.set("CHECKFU_CI_VERIFY", "checksum").run();
    assert_eq!(fs::read_to_string(&log).unwrap(), asked);
}

//! A folder and a home of its own for the binary: nothing of the machine reaches a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// An empty home with a project folder in it. Both go with it.
pub(crate) struct Sandbox {
    home: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("not one JSON document: {e}\n{self:?}"))
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        self
    }
}

impl Sandbox {
    /// Without any file.
    pub(crate) fn empty() -> Self {
        let sandbox = Self { home: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(sandbox.dir()).unwrap();
        sandbox
    }

    /// With files of the project folder.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::empty();
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox
    }

    /// The project folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// A path in the project folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir().join(path)
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces a text that is in a file once.
    #[track_caller]
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {path}");
        self.write(path, &text.replace(from, to));
    }

    /// A file's text.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Removes a file or folder.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }

    /// A command in the project folder, with an environment of its own.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_checkfu"));
        command.env_clear().env("HOME", self.home.path()).current_dir(self.dir()).args(args);
        command
    }

    /// Runs a command in the project folder.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(&self.command(args).output().unwrap())
    }

    /// Every file below the project folder, and what is in it.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut out = Vec::new();
        collect(&self.dir(), &self.dir(), &mut out);
        out.sort();
        out
    }
}

/// An output as text.
pub(crate) fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

fn collect(top: &Path, dir: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, out);
        } else {
            let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
            out.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// A configuration for an owner.
pub(crate) fn config(owner: &str) -> String {
    format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: {owner}\n")
}

/// An agent with some front matter lines and a prompt.
pub(crate) fn agent(lines: &str, prompt: &str) -> String {
    format!("---\nmodel: claude-sonnet-5\ntools: [{{type: agent_toolset_20260401}}]\n{lines}---\n{prompt}")
}

/// A skill.
pub(crate) fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it for {name}.\n---\n{body}\n")
}

/// Forty lines.
pub(crate) fn prompt() -> String {
    (1..=40).map(|i| format!("Rule {i}: be kind and answer in short sentences.\n")).collect::<Vec<_>>().concat()
}

/// Two agents that pin a skill, one that follows it.
pub(crate) fn team() -> Sandbox {
    Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("agents/support.md", &agent("skills: [triage]\n", &prompt())),
        ("agents/billing.md", &agent("skills: [triage]\n", "You answer questions about bills.\n")),
        ("agents/faq.md", &agent("skills: [{skill: triage, follow: latest}]\n", "You answer simple questions.\n")),
        ("skills/triage/SKILL.md", &skill("triage", "Ask what happened first.")),
    ])
}

//! What a run is told: the inputs of the action, which reach the program as variables `CHECKFU_CI_…`. One table, from
//! which `action.yml`, the documentation and the reader are made or checked; all that is wrong is told at once.

use std::collections::BTreeMap;

use crate::diag::codes::ci as codes;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Digest;
use crate::model::config::Allowance;

/// What stands before the name of an input in the environment.
pub const PREFIX: &str = "CHECKFU_CI_";

/// Who reads an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// This program.
    Program,
    /// The script that finds the program.
    Script,
}

/// A row of the table of inputs. All are texts.
#[derive(Debug)]
pub struct Input {
    /// As in `action.yml`.
    pub name: &'static str,
    /// What holds when it is not given.
    pub default: &'static str,
    /// The modes that look at it; empty: all.
    pub modes: &'static [Mode],
    /// Who reads it.
    pub reader: Reader,
    /// What it means, in one sentence or two.
    pub doc: &'static str,
}

impl Input {
    /// The variable that carries it.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.replace('-', "_").to_ascii_uppercase())
    }
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Check every file.
    Validate,
    /// Show what apply would do.
    Plan,
    /// Do it.
    Apply,
    /// Tell what moved live.
    Drift,
    /// Only put the program on PATH.
    Setup,
}

impl Mode {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Drift => "drift",
            Self::Setup => "setup",
        }
    }
}

const LIVE: &[Mode] = &[Mode::Plan, Mode::Apply, Mode::Drift];
const PLANS: &[Mode] = &[Mode::Plan, Mode::Apply];
const DRIFT: &[Mode] = &[Mode::Drift];

macro_rules! inputs {
    ($($name:literal, $default:literal, $modes:expr, $reader:ident, $doc:literal;)*) => {
        /// All inputs, in the order of `action.yml`.
        pub static INPUTS: &[Input] = &[
            $(Input { name: $name, default: $default, modes: $modes, reader: Reader::$reader, doc: $doc }),*
        ];
    };
}

inputs! {
    "mode", "", &[], Program, "validate, plan, apply, drift, or setup, which only puts checkfu on PATH";
    "working-directory", ".", &[], Program, "The folder with checkfu.yaml, from the top of the repository";
    "target", "", LIVE, Program, "A target of checkfu.yaml; empty takes its default_target";
    "key", "", LIVE, Program,
        "Tells comments, issues and plan files of one repository apart; empty makes it of working-directory and target";
    "only", "", LIVE, Program, "Addresses or files, one a line; all else is left alone";
    "exclude", "", LIVE, Program, "Addresses or files that are left alone, one a line";
    "allow", "", PLANS, Program, "Findings that are answered, one RULE[=ADDRESS] a line";
    "allowed-origins", "", LIVE, Program,
        "Servers that a token may be sent to, one https://HOST[:PORT] a line; empty takes those of checkfu.yaml on the \
         base branch";
    "comment", "always", PLANS, Program,
        "always, changes (no new comment without changes; one that is there is kept true) or never";
    "comment-style", "update", PLANS, Program, "update edits the comment; new writes another and folds the old one";
    "pr-number", "", PLANS, Program, "The pull request to comment on; empty takes it from the event";
    "summary", "true", &[], Program, "Write the job summary: true or false";
    "annotations", "true", &[Mode::Validate, Mode::Plan, Mode::Apply], Program,
        "Mark lines that cause errors, warnings and actions: true or false";
    "fail-on", "error", &[], Program, "What fails the step: error, warnings, changes, retirements or drift";
    "plan-file", "", PLANS, Program,
        "Where plan writes the plan and apply reads it; empty is below RUNNER_TEMP, named by the key";
    "plan-digest", "", &[Mode::Apply], Program, "Apply refuses a plan with another digest";
    "approval", "plan", &[Mode::Apply], Program,
        "plan (of plan-file, or of the digest), pull-request (what its comment showed) or none (what is planned now)";
    "issue", "true", DRIFT, Program, "Keep one issue about drift: true or false";
    "issue-labels", "checkfu-drift", DRIFT, Program, "Labels of the issue, one a line; the first one is how it is found";
    "issue-assignees", "", DRIFT, Program, "Logins, one a line";
    "pull-request", "false", DRIFT, Program,
        "Keep one pull request that brings what moved live into the files: true or false";
    "report-file", "", &[], Program, "Write the whole report as Markdown to this file";
    "sarif-file", "", &[Mode::Validate, Mode::Plan], Program, "Write findings as SARIF 2.1.0 to this file";
    "github-token", "${{ github.token }}", &[], Program, "The token for comments and issues";
    "version", "", &[], Script, "The exact version of a release; empty is the one of this action. Another one needs checksum";
    "checksum", "", &[], Script, "SHA-256 of the release's archive";
    "verify", "auto", &[], Script, "auto, checksum, or attestation (must hold)";
    "checkfu-path", "", &[], Script, "Use this program: for runners without a network, and for tests";
    "cache", "true", &[], Script, "Cache what is built from source: true or false";
}

/// When a comment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comment {
    /// Always.
    Always,
    /// Where there are changes; one that is there is kept true.
    Changes,
    /// Never.
    Never,
}

/// What becomes of an older comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentStyle {
    /// It is edited.
    Update,
    /// It is folded, and another is written.
    New,
}

/// What fails a run, each beside errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// Errors alone.
    Error,
    /// Warnings.
    Warnings,
    /// Pending changes.
    Changes,
    /// Retirements.
    Retirements,
    /// What moved live.
    Drift,
}

/// What an apply goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// A plan file, or the digest of a plan.
    Plan,
    /// The comment of the pull request that was merged.
    PullRequest,
    /// What is planned now.
    None,
}

/// The inputs as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// What to do.
    pub mode: Mode,
    /// From the top of the repository.
    pub working_directory: String,
    /// Target; `None` is the default one.
    pub target: Option<String>,
    /// Key as given.
    pub key: Option<String>,
    /// Addresses or files.
    pub only: Vec<String>,
    /// Addresses or files.
    pub exclude: Vec<String>,
    /// What is answered.
    pub allow: Vec<Allowance>,
    /// Servers; empty: those of the base.
    pub allowed_origins: Vec<String>,
    /// When to comment.
    pub comment: Comment,
    /// What becomes of the old one.
    pub comment_style: CommentStyle,
    /// The pull request.
    pub pr_number: Option<u64>,
    /// Write the summary.
    pub summary: bool,
    /// Mark lines.
    pub annotations: bool,
    /// What fails.
    pub fail_on: FailOn,
    /// The plan file, as given.
    pub plan_file: Option<String>,
    /// The reviewed digest.
    pub plan_digest: Option<Digest>,
    /// What apply goes by.
    pub approval: Approval,
    /// Keep an issue.
    pub issue: bool,
    /// At least one where `issue` holds.
    pub issue_labels: Vec<String>,
    /// Logins.
    pub issue_assignees: Vec<String>,
    /// Keep a pull request.
    pub pull_request: bool,
    /// Markdown.
    pub report_file: Option<String>,
    /// SARIF.
    pub sarif_file: Option<String>,
    /// Of the code host. Never shown.
    pub github_token: Option<Token>,
}

/// The token of the code host. Its text is in no output.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The variable of the token; not one that the tools of a later step read by themselves.
pub const TOKEN_VARIABLE: &str = "CHECKFU_GITHUB_TOKEN";

struct Given<'a> {
    texts: &'a BTreeMap<String, String>,
    found: Diagnostics,
}

impl Given<'_> {
    fn text(&self, name: &str) -> String {
        let row = INPUTS.iter().find(|i| i.name == name);
        let given = self.texts.get(name).map(|t| t.trim()).filter(|t| !t.is_empty());
        given.map_or_else(|| row.map(|r| r.default.to_owned()).unwrap_or_default(), str::to_owned)
    }

    fn optional(&self, name: &str) -> Option<String> {
        let text = self.text(name);
        (!text.is_empty()).then_some(text)
    }

    fn wrong(&mut self, name: &str, text: &str, fix: &str) {
        let message = format!("input {name} cannot be {}", crate::diag::bounded(&format!("{text:?}")));
        self.found.push(Diagnostic::new(&codes::INPUT, message).fix(fix));
    }

    fn one_of<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(name);
        let found = words.iter().find(|(w, _)| *w == text).map(|(_, v)| *v);
        if found.is_none() {
            let list: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
            self.wrong(name, &text, &format!("{name} is one of {}", list.join(", ")));
        }
        found
    }

    fn yes(&mut self, name: &str) -> bool {
        self.one_of(name, &[("true", true), ("false", false)]).unwrap_or_default()
    }

    fn lines(&self, name: &str) -> Vec<String> {
        self.text(name).lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect()
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &str, fix: &str) -> Option<T> {
        let text = self.optional(name)?;
        let value = text.parse().ok();
        if value.is_none() {
            self.wrong(name, &text, fix);
        }
        value
    }
}

impl Inputs {
    /// Reads the inputs by name, as `fail-on`; what is not there, or blank, has its default.
    ///
    /// # Errors
    /// Everything that is wrong: an input that is not known, a word that is none of those that may stand there.
    pub fn read(texts: &BTreeMap<String, String>) -> Result<Self, Diagnostics> {
        let mut given = Given { texts, found: Diagnostics::default() };
        for name in texts.keys().filter(|n| INPUTS.iter().all(|i| i.name != n.as_str())) {
            let names: Vec<&str> = INPUTS.iter().map(|i| i.name).collect();
            let fix = format!("the inputs are {}", names.join(", "));
            let message = format!("there is no input {}", crate::diag::bounded(name));
            given.found.push(Diagnostic::new(&codes::INPUT, message).fix(fix));
        }
        let modes = [Mode::Validate, Mode::Plan, Mode::Apply, Mode::Drift, Mode::Setup].map(|m| (m.as_str(), m));
        let mode = given.one_of("mode", &modes);
        let inputs = given.rest(mode.unwrap_or(Mode::Validate));
        if given.found.0.is_empty() { Ok(inputs) } else { Err(given.found) }
    }

    /// The key: as given, or made of folder and target.
    pub fn key(&self) -> String {
        let made = || {
            let folder = self.working_directory.trim_matches(|c| c == '/' || c == '.');
            let parts = [folder, self.target.as_deref().unwrap_or_default()];
            let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
            if parts.is_empty() { "default".to_owned() } else { parts.join("-").replace('/', "-") }
        };
        self.key.clone().unwrap_or_else(made)
    }
}

impl Given<'_> {
    fn rest(&mut self, mode: Mode) -> Inputs {
        let mut allow = Vec::new();
        for line in self.lines("allow") {
            match line.parse::<Allowance>() {
                Ok(allowance) => allow.push(allowance),
                Err(why) => self.wrong("allow", &line, &why),
            }
        }
        let key = self.optional("key");
        let plain = |k: &str| k.len() <= 64 && k.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if let Some(key) = key.as_deref().filter(|k| !plain(k)) {
            self.wrong("key", key, "key is at most 64 letters, digits, `-`, `_` and `.`");
        }
        Inputs {
            mode,
            working_directory: self.text("working-directory"),
            target: self.optional("target"),
            key,
            only: self.lines("only"),
            exclude: self.lines("exclude"),
            allow,
            allowed_origins: self.lines("allowed-origins"),
            comment: self
                .one_of(
                    "comment",
                    &[("always", Comment::Always), ("changes", Comment::Changes), ("never", Comment::Never)],
                )
                .unwrap_or(Comment::Always),
            comment_style: self
                .one_of("comment-style", &[("update", CommentStyle::Update), ("new", CommentStyle::New)])
                .unwrap_or(CommentStyle::Update),
            pr_number: self.parsed("pr-number", "pr-number is the number of a pull request, as 12"),
            summary: self.yes("summary"),
            annotations: self.yes("annotations"),
            fail_on: self
                .one_of(
                    "fail-on",
                    &[
                        ("error", FailOn::Error),
                        ("warnings", FailOn::Warnings),
                        ("changes", FailOn::Changes),
                        ("retirements", FailOn::Retirements),
                        ("drift", FailOn::Drift),
                    ],
                )
                .unwrap_or(FailOn::Error),
            plan_file: self.optional("plan-file"),
            plan_digest: self.parsed("plan-digest", "plan-digest is sha256: and 64 hexadecimal digits"),
            approval: self
                .one_of(
                    "approval",
                    &[("plan", Approval::Plan), ("pull-request", Approval::PullRequest), ("none", Approval::None)],
                )
                .unwrap_or(Approval::Plan),
            issue: self.yes("issue"),
            issue_labels: self.lines("issue-labels"),
            issue_assignees: self.lines("issue-assignees"),
            pull_request: self.yes("pull-request"),
            report_file: self.optional("report-file"),
            sarif_file: self.optional("sarif-file"),
            // The text of the default is for the action's runner; outside of it there is no token.
            github_token: self.optional("github-token").filter(|t| !t.starts_with("${{")).map(Token::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Inputs, Diagnostics> {
        Inputs::read(&pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let inputs = read(&[("mode", "plan"), ("target", " ")]).unwrap();
        assert_eq!((inputs.mode, inputs.target.clone(), inputs.key()), (Mode::Plan, None, "default".to_owned()));
        assert_eq!((inputs.comment, inputs.fail_on), (Comment::Always, FailOn::Error));
        assert!(inputs.summary && inputs.issue && !inputs.pull_request && inputs.github_token.is_none());
        let inputs = read(&[("mode", "drift"), ("working-directory", "./a/b/"), ("target", "prod")]).unwrap();
        assert_eq!(inputs.key(), "a-b-prod");
        assert_eq!(inputs.issue_labels, ["checkfu-drift"]);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let found = read(&[
            ("mode", "deploy"),
            ("fail_on", "error"),
            ("comment", "sometimes"),
            ("summary", "yes"),
            ("pr-number", "seven"),
            ("plan-digest", "abc"),
            ("allow", "retire=Agent/*\nnothing"),
            ("key", "a/b"),
        ])
        .unwrap_err();
        let told: Vec<&str> = found.0.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(told.len(), 8, "{told:#?}");
        assert!(found.0.iter().all(|d| d.code.code == "ci.input" && d.fix.is_some()));
        assert!(found.0[1].fix.as_deref().unwrap().contains("validate, plan, apply, drift, setup"), "{:?}", found.0[1]);
    }

    #[test]
    fn a_list_is_one_a_line_and_a_token_is_never_shown() {
        let inputs = read(&[("mode", "plan"), ("only", "Agent/a\n\n  Skill/*  \n"), ("github-token", "ghs_secret")]);
        let inputs = inputs.unwrap();
        assert_eq!(inputs.only, ["Agent/a", "Skill/*"]);
        assert!(!format!("{inputs:?}").contains("ghs_secret"));
        assert_eq!(inputs.github_token.unwrap().reveal(), "ghs_secret");
    }
}

//! The command line as types. Nothing here acts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::config::Allowance;
use crate::model::{Address, Digest, Owner};

/// GitOps for the agents a team runs.
#[derive(Debug, Parser)]
#[command(name = "checkfu", version, about, long_about = None, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 nothing to do, or all done; 1 error; 2 changes are pending; 3 live moved; 4 conflict, stale, \
owned by another; 5 refused by policy; 6 some done, some failed; 130 interrupted. \
`plan` gives 2 and 3 with --detailed-exitcode only.

Environment: CHECKFU_TARGET (as --target), CHECKFU_ACTOR (who acts, for the audit), VISUAL and EDITOR (for `edit`), \
NO_COLOR.";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Act as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Target of checkfu.yaml to plan and apply against [default: its default_target]
    #[arg(long, value_name = "NAME", global = true)]
    pub target: Option<String>,
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown, at most 60,000 bytes
    #[arg(long, global = true)]
    pub markdown: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    pub color: Color,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: values in full, what is unchanged
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a small project that applies
    Init(Init),
    /// Write one new agent or skill
    New(New),
    /// Check every file; nothing is called, and nothing is written but the cache `.checkfu/cache`
    Validate(Validate),
    /// Show what apply would do; nothing is written but the cache `.checkfu/cache`
    Plan(Plan),
    /// Show what the files change against an earlier commit: no workspace is asked, and no token is needed
    Diff(Diff),
    /// Do what the plan says
    Apply(Apply),
    /// Retire everything that this project owns
    Destroy(Destroy),
    /// Tell what moved live, who moved it, and what is not applied yet; writes nothing
    Drift(Drift),
    /// Put back what moved live, as apply does
    Revert(Revert),
    /// Change what is live at once, with a reason (break-glass); it stays until it is put back or pulled into the files
    Edit(Edit),
    /// List live resources of this project, or show one
    Get(Get),
    /// Write what is live as manifests and folders
    Pull(Pull),
    /// Write `adopt:` lines: live resources that this project is to own
    Adopt(Adopt),
    /// List applies, newest first
    History(History),
    /// Show an apply with its receipt, or a plan file
    Show(Show),
    /// Go back to what an earlier apply left: a plan as any other, and what it undoes does not come back by itself
    Rollback(Rollback),
    /// Print a JSON Schema
    Schema(Schema),
    /// Explain a code, a kind, a field, or a key of checkfu.yaml
    Explain(Explain),
    /// Validate, plan, apply or drift in continuous integration: comments, issues, annotations, outputs, report files
    Ci(Ci),
    /// Serve a workspace over HTTP, until Ctrl-C or SIGTERM
    Serve(Serve),
    /// Make, list and end the tokens of a workspace that is served
    Token(Token),
    /// Copy a workspace into one file, also while it is served
    Backup(Backup),
    /// Put a backup in the place of a workspace
    Restore(Restore),
    /// Look for what could be wrong with this setup
    Doctor,
    /// Print a completion script
    Completions(Completions),
}

/// `init`
#[derive(Debug, Args)]
pub struct Init {
    /// Where; made if it is not there [default: the current directory]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The authoring owner [default: my-team/FOLDER, with the folder's name]
    #[arg(long, value_name = "OWNER")]
    pub owner: Option<String>,
}

/// `new`
#[derive(Debug, Args)]
pub struct New {
    /// What to write
    #[arg(value_enum)]
    pub what: NewWhat,
    /// Its name: lower-case letters, digits and single hyphens
    pub name: String,
}

/// What `new` can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewWhat {
    /// `agents/NAME.md`
    Agent,
    /// `skills/NAME/SKILL.md`
    Skill,
}

/// `validate`
#[derive(Debug, Args)]
pub struct Validate {
    /// The rules to check by [default: checkfu]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<ProfileArg>,
}

/// A rule set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    /// What checkfu applies.
    Checkfu,
    /// The open Agent Skills specification, to the letter.
    Agentskills,
    /// What Claude accepts.
    Claude,
}

/// What is planned, and what is allowed.
#[derive(Debug, Clone, Default, Args)]
pub struct What {
    /// Only these addresses or files, and what they need. Globs as in 'Agent/*' are allowed; an agent takes along the
    /// mounts written in it
    #[arg(value_name = "ADDRESS|PATH")]
    pub only: Vec<String>,
    /// Leave these addresses or files out, with globs as above
    #[arg(long, value_name = "ADDRESS|PATH")]
    pub exclude: Vec<String>,
    /// Only resources with this label
    #[arg(short = 'l', long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Put back what moved live at this address; globs as above
    #[arg(long, value_name = "ADDRESS", value_parser = address_or_glob)]
    pub revert: Vec<String>,
    /// Put back everything that moved live
    #[arg(long)]
    pub revert_all: bool,
    /// Answer a finding: retire, empty, session-memory, same-name, loosened or source; a destroy is answered by
    /// `checkfu destroy --allow destroy=OWNER`
    #[arg(long, value_name = "RULE[=ADDRESS]")]
    pub allow: Vec<Allowance>,
    /// Write the plan to a file
    #[arg(short = 'o', long = "out", value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `plan`
#[derive(Debug, Args)]
pub struct Plan {
    /// What, and what is allowed.
    #[command(flatten)]
    pub what: What,
    /// Exit 2 when changes are pending, 3 when only live moved
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Write the `moved:` lines that are offered into checkfu.yaml, then plan
    #[arg(long)]
    pub write_moved: bool,
}

/// `diff`
#[derive(Debug, Args)]
pub struct Diff {
    /// Compare with the last commit that HEAD has in common with this branch, tag or commit
    #[arg(long, value_name = "REF")]
    pub base: String,
    /// Only these addresses or files, and what they need. Globs as in 'Agent/*' are allowed
    #[arg(value_name = "ADDRESS|PATH")]
    pub only: Vec<String>,
    /// Leave these addresses or files out, with globs as above
    #[arg(long, value_name = "ADDRESS|PATH")]
    pub exclude: Vec<String>,
    /// Only resources with this label
    #[arg(short = 'l', long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Answer a finding: retire, empty or loosened
    #[arg(long, value_name = "RULE[=ADDRESS]")]
    pub allow: Vec<Allowance>,
    /// Exit 2 when something changes
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// `apply`
#[derive(Debug, Args)]
pub struct Apply {
    /// What, and what is allowed.
    #[command(flatten)]
    pub what: What,
    /// Apply this saved plan
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["only", "exclude", "labels", "revert", "revert_all", "allow", "out"]
    )]
    pub plan: Option<PathBuf>,
    /// Refuse unless the plan has this digest
    #[arg(long, value_name = "DIGEST")]
    pub plan_digest: Option<Digest>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// `destroy`
#[derive(Debug, Args)]
pub struct Destroy {
    /// destroy=OWNER, instead of typing the owner's name
    #[arg(long, value_name = "destroy=OWNER")]
    pub allow: Vec<Allowance>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// `get`
#[derive(Debug, Args)]
pub struct Get {
    /// A kind, or one resource [default: everything that this project owns]
    #[arg(value_name = "KIND[/NAME]")]
    pub what: Option<String>,
}

/// `history`
#[derive(Debug, Args)]
pub struct History {
    /// How many, at most 1000
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
}

/// `show`
#[derive(Debug, Args)]
pub struct Show {
    /// An apply's id, or a plan file
    #[arg(value_name = "APPLY|PLANFILE")]
    pub what: String,
}

/// `ci`
#[derive(Debug, Args)]
pub struct Ci {
    /// validate, plan, apply, drift or setup [default: the input `mode`]
    #[arg(value_name = "MODE")]
    pub mode: Option<String>,
    /// Who runs it [default: as the environment says]
    #[arg(long, value_enum, value_name = "PROVIDER")]
    pub provider: Option<ProviderArg>,
    /// An input, as comment=changes; it wins over its variable CHECKFU_CI_NAME. docs/ci.md lists them
    #[arg(short = 'i', long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
}

/// Who runs a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderArg {
    /// GitHub Actions.
    Github,
    /// GitLab CI.
    Gitlab,
    /// Any other: report files alone.
    Plain,
}

/// `serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// The workspace's database; made if it is not there
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8600")]
    pub listen: std::net::SocketAddr,
    /// Serve HTTPS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

/// `token`
#[derive(Debug, Args)]
pub struct Token {
    /// What to do.
    #[command(subcommand)]
    pub what: TokenWhat,
}

/// What can be done with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenWhat {
    /// Make a token; its secret is printed this once
    Create(TokenCreate),
    /// List tokens, without their secrets
    List(TokenDb),
    /// End a token, from the next request on
    Revoke(TokenRevoke),
}

/// Which workspace.
#[derive(Debug, Args)]
pub struct TokenDb {
    /// The workspace's database [default: the target of checkfu.yaml, where a server needs an admin token]
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    pub db: Option<PathBuf>,
}

/// `token create`
#[derive(Debug, Args)]
pub struct TokenCreate {
    /// What the audit calls its holder, 1 to 64 characters [default: its scope and owners]
    pub name: Option<String>,
    /// What it may do
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub scope: ScopeArg,
    /// An owner that it may act as: acme/support, 'acme/*' or '*'; needed for the scopes plan and apply
    #[arg(long = "owner", value_name = "OWNER", required_if_eq_any([("scope", "apply"), ("scope", "plan")]))]
    pub owners: Vec<String>,
    /// Its holder is an agent's session
    #[arg(long)]
    pub session: bool,
    /// When it ends: after a time as 30d or 12h, or with the beginning of a date, in UTC [default: when it is revoked]
    #[arg(long, value_name = "TIME|DATE")]
    pub expires: Option<String>,
    /// Which workspace.
    #[command(flatten)]
    pub db: TokenDb,
}

/// A scope, each with all that the one before has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// Read.
    Read,
    /// Plan.
    Plan,
    /// Write as its owners.
    Apply,
    /// Tokens, break-glass.
    Admin,
}

/// `token revoke`
#[derive(Debug, Args)]
pub struct TokenRevoke {
    /// Its id, or its name
    #[arg(value_name = "ID|NAME")]
    pub token: String,
    /// Which workspace.
    #[command(flatten)]
    pub db: TokenDb,
}

/// `backup`
#[derive(Debug, Args)]
pub struct Backup {
    /// The workspace's database
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Replace OUT, where it is a workspace that nobody has open
    #[arg(long)]
    pub force: bool,
}

/// `restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// The workspace's database
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// The backup
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// Replace the workspace that is there, where nobody has it open
    #[arg(long)]
    pub force: bool,
}

/// `schema`
#[derive(Debug, Args)]
pub struct Schema {
    /// A kind, or manifest, config, plan, receipt, diagnostics, … [default: list them]
    #[arg(value_name = "KIND|NAME")]
    pub name: Option<String>,
}

/// `explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// As in manifest.unknown_key, Agent, Agent.model, Config, Config.policy
    #[arg(value_name = "CODE|KIND[.FIELD]|Config[.KEY]")]
    pub topic: String,
}

/// `completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `rollback`
#[derive(Debug, Args)]
pub struct Rollback {
    /// The apply to go back to, as `checkfu history` names it
    #[arg(value_name = "APPLY")]
    pub apply: String,
    /// What, and what is allowed.
    #[command(flatten)]
    pub what: What,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// `drift`
#[derive(Debug, Args)]
pub struct Drift {
    /// Only these addresses or files. Globs as in 'Agent/*' are allowed
    #[arg(value_name = "ADDRESS|PATH")]
    pub only: Vec<String>,
    /// Leave these addresses or files out, with globs as above
    #[arg(long, value_name = "ADDRESS|PATH")]
    pub exclude: Vec<String>,
    /// Only resources with this label
    #[arg(short = 'l', long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Name every live resource that nobody owns, not the first 20
    #[arg(long)]
    pub all: bool,
}

/// `edit`
#[derive(Debug, Args)]
pub struct Edit {
    /// What is opened in $VISUAL or $EDITOR: the fields of an agent, environment, store, tree or mount, the SKILL.md of
    /// a skill
    #[arg(value_name = "ADDRESS")]
    pub address: Address,
    /// Why; kept in the audit. On a server this needs an admin token
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: String,
}

/// `revert`
#[derive(Debug, Args)]
pub struct Revert {
    /// What is put back as it was applied, or made anew where it was archived or deleted. Globs as in 'Agent/*' are
    /// allowed
    #[arg(value_name = "ADDRESS", required = true, value_parser = address_or_glob)]
    pub addresses: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// `pull`
#[derive(Debug, Default, Args)]
pub struct Pull {
    /// Kinds, addresses with globs as in 'Agent/*', or live ids, with what they need [default: everything that this
    /// project owns]
    #[arg(value_name = "KIND[/NAME]|ID")]
    pub what: Vec<String>,
    /// What nobody owns, too: it gets names, and `adopt:` lines
    #[arg(long)]
    pub unowned: bool,
    /// Of what nobody owns, only what has this label
    #[arg(short = 'l', long = "label", value_name = "KEY=VALUE", value_parser = label, requires = "unowned")]
    pub labels: Vec<(String, String)>,
    /// Bring only what moved live into the files that declare it, value by value and line by line
    #[arg(long, conflicts_with_all = ["unowned", "force", "version", "owner", "from"])]
    pub drift: bool,
    /// Replace files that differ, and remove those of a folder that are not live
    #[arg(long)]
    pub force: bool,
    /// With one MemoryStore: its memories as of this version
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub version: Option<u64>,
    /// Make a new project here, with this authoring owner
    #[arg(long, value_name = "OWNER")]
    pub owner: Option<String>,
    /// Of a new project: its workspace, as a database or the URL of a server
    #[arg(long, value_name = "FILE|URL", requires = "owner")]
    pub workspace: Option<String>,
    /// Read a project of the `ant` tool instead: its claude-lock.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "unowned", "version", "workspace"])]
    pub from: Option<PathBuf>,
}

/// `adopt`
#[derive(Debug, Args)]
pub struct Adopt {
    /// Which resource gets which address
    #[arg(value_name = "ADDRESS=ID", value_parser = adoption, required_unless_present = "all")]
    pub which: Vec<(Address, String)>,
    /// Everything that nobody owns and that has these labels
    #[arg(long, requires = "labels", conflicts_with = "which")]
    pub all: bool,
    /// With --all: only what has this label
    #[arg(short = 'l', long = "label", value_name = "KEY=VALUE", value_parser = label, requires = "all")]
    pub labels: Vec<(String, String)>,
    /// The owner that loses it
    #[arg(long, value_name = "OWNER", conflicts_with = "all")]
    pub take_over: Option<Owner>,
}

fn adoption(text: &str) -> Result<(Address, String), String> {
    let (address, id) = text.split_once('=').filter(|(_, id)| !id.is_empty()).ok_or("write ADDRESS=ID")?;
    Ok((address.parse().map_err(|e: crate::model::address::AddressError| e.to_string())?, id.to_owned()))
}

fn address_or_glob(text: &str) -> Result<String, String> {
    if text.contains(['*', '?', '[', '{']) {
        globset::Glob::new(text).map_err(|e| e.to_string())?;
    } else {
        text.parse::<Address>().map_err(|e| e.to_string())?;
    }
    Ok(text.to_owned())
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn apply_takes_a_saved_plan_or_a_scope_never_both() {
        let parse = |args: &[&str]| Cli::try_parse_from([&["checkfu", "apply"], args].concat()).is_ok();
        assert!(parse(&["--plan", "p.json"]));
        assert!(parse(&["Agent/a", "-l", "team=a", "--allow", "retire=Skill/x", "--revert", "Agent/a"]));
        assert!(!parse(&["--plan", "p.json", "Agent/a"]));
        assert!(!parse(&["--plan", "p.json", "--allow", "retire"]));
        assert!(!parse(&["-l", "team"]));
        assert!(!parse(&["--allow", "everything"]));
        assert!(!parse(&["--plan-digest", "sha256:12"]));
    }
}

//! The authored `spec` of an Agent as types; JSON Schema and docs come from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::kinds::file_tree_mount::{TreeSelection, Writeback};
use crate::model::kinds::memory_mount::MemorySelection;
use crate::model::kinds::mount::{Access, Latest, Reference};

/// `spec` of an Agent; in a Markdown agent, its front matter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name shown to people, 1–256 characters on one line. Default: `metadata.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    /// Which model answers: its id, or an object.
    pub model: Model,
    /// What the agent is for. At most 2,048 characters. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub description: Option<String>,
    /// Texts put before the instructions, each a file relative to this one. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preamble: Vec<String>,
    /// The system prompt: a text, `{file: PATH}`, or a list of these joined by a blank line. At most 100,000
    /// characters once joined. In a Markdown agent the prose is this. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// What the agent may do: toolsets and custom tools, at most 256 tools over all. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// MCP servers, at most 20, names unique. Each is named by an `mcp_toolset`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub mcp_servers: Vec<McpServer>,
    /// Skills, at most 20. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub skills: Vec<Skill>,
    /// Other agents that this one may use. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiagent: Option<Multiagent>,
    /// As whom its tools act. Default: the server chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_identity: Option<ExecutionIdentity>,
    /// How a long conversation is made shorter for the model; carried whole. Default: the server chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_policy: Option<Map<String, Value>>,
    /// Memory stores that it may attach: the short form of MemoryMount. At most 8. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<InlineMemory>,
    /// File trees that it may attach: the short form of FileTreeMount. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InlineFiles>,
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Model {
    /// The model's id.
    Id(#[schemars(length(min = 1, max = 256))] String),
    /// The model's id with how it is used.
    With(ModelConfig),
}

/// A model and how it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The model's id. 1–256 characters.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// How hard it thinks. Default: the server chooses, and the choice is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortForm>,
    /// How fast it answers. Default `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Where inference runs. Default: the server chooses, and the choice is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub inference_geo: Option<String>,
}

/// How hard a model thinks: a word, or `{type: WORD}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EffortForm {
    /// The word.
    Word(Effort),
    /// The word as an object.
    Typed(TypedEffort),
}

/// How hard a model thinks, as an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypedEffort {
    /// How hard.
    #[serde(rename = "type")]
    pub type_: Effort,
}

/// How hard a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Effort {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How fast a model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Speed {
    Standard,
    Fast,
}

/// A prompt: one part, or several joined by a blank line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Instructions {
    /// The text.
    Text(String),
    /// A file.
    File(FileText),
    /// Parts, joined by a blank line.
    Parts(Vec<Part>),
}

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Part {
    /// The text.
    Text(String),
    /// A file.
    File(FileText),
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileText {
    /// UTF-8 file, relative to this one.
    #[schemars(length(min = 1))]
    pub file: String,
}

/// Does a tool ask before it acts?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionPolicy {
    /// `always_allow`, `always_ask` or `auto`.
    #[serde(rename = "type")]
    pub type_: Permission,
}

/// Does a tool ask before it acts?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It acts.
    AlwaysAllow,
    /// It asks first.
    AlwaysAsk,
    /// The platform decides case by case.
    Auto,
}

/// What holds for all tools of a toolset that have no `configs` entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolDefaults {
    /// May it be used? Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Does it ask? Default `{type: always_allow}` for the agent toolset, `{type: always_ask}` for MCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_policy: Option<PermissionPolicy>,
}

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum BuiltIn {
    Bash,
    Edit,
    Read,
    Write,
    Glob,
    Grep,
    WebFetch,
    WebSearch,
}

/// What holds for one built-in tool. The keys after `permission_policy` are for web tools only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuiltInConfig {
    /// Which tool.
    pub name: BuiltIn,
    /// The same word as `name`. Default: that.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<BuiltIn>,
    /// May it be used? Default: what `default_config` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Does it ask? Default: what `default_config` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_policy: Option<PermissionPolicy>,
    /// The only domains that it may use, 1–64; not together with `blocked_domains`. Order does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that it may not use, 1–64; not together with `allowed_domains`. Order does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub blocked_domains: Option<Vec<String>>,
    /// `web_fetch` only: the most tokens that a page may take, from 1. Default: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_content_tokens: Option<u64>,
    /// `web_fetch` only: where addresses may come from; carried whole. Default: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_sources: Option<Value>,
    /// `web_search` only: about where the user is; carried whole. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_location: Option<Map<String, Value>>,
}

/// What holds for one tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpToolConfig {
    /// The tool's name on the server. 1–128 characters.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// May it be used? Default: what `default_config` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Does it ask? Default: what `default_config` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_policy: Option<PermissionPolicy>,
}

/// The input of a custom tool: a JSON Schema whose `type` is `object`; carried whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputSchema {
    /// The word `object`.
    #[serde(rename = "type")]
    pub type_: ObjectType,
    /// The rest of the schema.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The word `object`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectType {
    /// A JSON object.
    Object,
}

/// A toolset or a custom tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tool {
    /// The built-in tools: bash, edit, read, write, glob, grep, web_fetch, web_search.
    #[serde(rename = "agent_toolset_20260401")]
    AgentToolset {
        /// What holds for tools that are not in `configs`. Default: enabled, `always_allow`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_config: Option<ToolDefaults>,
        /// What holds for single tools, told apart by `name`. Default: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        configs: Vec<BuiltInConfig>,
    },
    /// The tools of an MCP server.
    McpToolset {
        /// A name in `mcp_servers`. 1–255 characters.
        #[schemars(length(min = 1, max = 255))]
        mcp_server_name: String,
        /// What holds for tools that are not in `configs`. Default: enabled, `always_ask`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_config: Option<ToolDefaults>,
        /// What holds for single tools, told apart by `name`. Default: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        configs: Vec<McpToolConfig>,
    },
    /// A tool that your own program carries out.
    Custom {
        /// Its name: 1–128 letters, digits, `_` and `-`.
        #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,128}$"))]
        name: String,
        /// What it does, for the model. 1–4,096 characters.
        #[schemars(length(min = 1, max = 4096))]
        description: String,
        /// Its input.
        input_schema: InputSchema,
    },
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// The word `url`. Default: that.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<McpServerType>,
    /// Its name, unique in the agent. 1–255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// Its address, `https://…` or `http://…`.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpServerType {
    /// By its address.
    Url,
}

/// A skill of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Skill {
    /// A skill of this project, pinned to the version that this apply publishes; or `owner:Skill/name`.
    Name(String),
    /// A skill with a choice of version.
    With(SkillEntry),
}

/// `{skill}` with at most one of `follow`, `pin` and `version`; or `{anthropic}` with at most `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillEntry {
    /// Which skill: a name of this project, `owner:Skill/name`, or `{id: …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Reference>,
    /// `latest`: resolved again at every user turn, moves without a plan of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<Latest>,
    /// The newest version with this content: `sha256:` and 64 hex digits. Equal on every workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    pub pin: Option<String>,
    /// A version number, from 1, with a meaning on one workspace only; with `anthropic` a version as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<SkillVersion>,
    /// A skill of the platform, by its id, as `xlsx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub anthropic: Option<String>,
}

/// A version of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SkillVersion {
    /// A number of the workspace.
    Number(u64),
    /// A version of a platform skill, as its text.
    Text(String),
}

/// Other agents that an agent may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Multiagent {
    /// It hands work to a fixed roster.
    Coordinator {
        /// 1–20 distinct agents that are not multiagent themselves.
        #[schemars(length(min = 1, max = 20))]
        agents: Vec<RosterEntry>,
    },
    /// It may ask an advisor, start subagents and run workflows.
    #[serde(rename = "multiagent_20261001")]
    Multiagent20261001 {
        /// A stronger model to ask. Default `{type: disabled}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advisor: Option<Advisor>,
        /// Agents that it may start. Default enabled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagents: Option<Helpers>,
        /// Workflows that it may run. Default enabled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflows: Option<Helpers>,
    },
}

/// An agent of a roster: a reference, `{agent, version}`, `{type: self}` or `{type: advisor, model}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RosterEntry {
    /// A name of this project, or `owner:Agent/name`.
    Name(String),
    /// The other forms.
    With(RosterObject),
}

/// `{id}`, `{agent, version}`, `{type: self}` or `{type: advisor, model}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RosterObject {
    /// An agent by its live id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Which agent: a name of this project, `owner:Agent/name`, or `{id: …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Reference>,
    /// A version number of the agent, from 1. Default: the newest when this agent is saved, not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub version: Option<u64>,
    /// `self`: a copy of this agent; `advisor`: a model to ask.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<RosterType>,
    /// `advisor` only: which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
}

/// Members of a roster that are no agents of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RosterType {
    /// A copy of this agent.
    #[serde(rename = "self")]
    This,
    /// A model to ask.
    Advisor,
}

/// A stronger model to ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Advisor {
    /// There is one.
    Enabled {
        /// Which model.
        model: Model,
    },
    /// There is none.
    Disabled {},
}

/// Agents that may be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Helpers {
    /// They may be.
    Enabled {
        /// At most 20 agents that exist. Default: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(length(max = 20))]
        predefined_agents: Vec<RosterEntry>,
        /// Agents made up on the way. Default enabled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inline_agents: Option<Switch>,
    },
    /// They may not.
    Disabled {},
}

/// On or off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// `enabled` or `disabled`.
    #[serde(rename = "type")]
    pub type_: OnOff,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum OnOff {
    Enabled,
    Disabled,
}

/// As whom the tools of an agent act.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionIdentity {
    /// The workspace's service account.
    ServiceAccount {},
    /// A role of AWS.
    AwsRole {
        /// Its ARN. 1–2,048 characters.
        #[schemars(length(min = 1, max = 2048))]
        role_arn: String,
    },
}

/// A memory store that the agent may attach: the short form of MemoryMount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InlineMemory {
    /// The store.
    pub store: Reference,
    /// Where: an absolute, normalized path, at most 1,024 bytes.
    #[schemars(length(min = 1))]
    pub at: String,
    /// The most that a session may do. Default `read_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Which version of the store. Default `latest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<MemorySelection>,
    /// What the agent is told about this memory. At most 4,096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub instructions: Option<String>,
}

/// A file tree that the agent may attach: the short form of FileTreeMount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InlineFiles {
    /// The tree.
    pub tree: Reference,
    /// Where: an absolute, normalized path, at most 1,024 bytes.
    #[schemars(length(min = 1))]
    pub at: String,
    /// The most that a session may do. Default `read_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Which revision of the tree. Default `latest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<TreeSelection>,
    /// Publishes what a run wrote. Needs `access: read_write` and a tree with a Git source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback: Option<Writeback>,
}

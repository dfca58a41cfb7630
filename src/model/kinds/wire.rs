//! What a wire body may hold, as types: the JSON Schemas of requests and answers over HTTP come from them. Only
//! their schemas are used; bodies themselves stay JSON, since what is unknown in an answer is kept.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::Kind;
use crate::model::kinds::agent::spec::{ExecutionIdentity, McpServer, Model, OnOff, Switch, Tool};
use crate::model::kinds::environment::{Config, Scope};
use crate::model::kinds::file_tree::{Provider, Refresh};
use crate::model::kinds::file_tree_mount::Writeback;
use crate::model::kinds::mount::Access;

/// Labels. In an update, null removes one.
type Metadata = BTreeMap<String, Option<String>>;

/// Body of an Agent.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Agent {
    /// The name shown to people.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Which model answers: its id, or an object.
    pub model: Model,
    /// What the agent is for.
    #[schemars(length(max = 2048))]
    pub description: Option<String>,
    /// The system prompt.
    #[schemars(length(max = 100_000))]
    pub system: Option<String>,
    /// What the agent may do.
    #[schemars(length(max = 256))]
    pub tools: Option<Vec<Tool>>,
    /// MCP servers; each is named by an `mcp_toolset`.
    #[schemars(length(max = 20))]
    pub mcp_servers: Option<Vec<McpServer>>,
    /// Skills.
    #[schemars(length(max = 20))]
    pub skills: Option<Vec<Skill>>,
    /// Other agents that this one may use.
    pub multiagent: Option<Multiagent>,
    /// Labels.
    pub metadata: Option<Metadata>,
    /// As whom its tools act.
    pub execution_identity: Option<ExecutionIdentity>,
    /// How a long conversation is made shorter for the model; carried whole.
    pub compaction_policy: Option<Map<String, Value>>,
}

/// A skill of an agent.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Skill {
    /// Whose it is.
    #[serde(rename = "type")]
    pub ty: SkillType,
    /// Its id.
    #[schemars(length(min = 1))]
    pub skill_id: String,
    /// `skver_…`, a version of a platform skill, or `latest`; absent = the newest.
    pub version: Option<String>,
}

/// Whose a skill is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillType {
    /// The platform's.
    Anthropic,
    /// The workspace's.
    Custom,
}

/// Other agents that an agent may use.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Multiagent {
    /// It hands work to a fixed roster.
    Coordinator {
        /// Distinct agents that are not multiagent themselves.
        #[schemars(length(min = 1, max = 20))]
        agents: Vec<Member>,
    },
    /// It may ask an advisor, start subagents and run workflows.
    #[serde(rename = "multiagent_20261001")]
    Multiagent20261001 {
        /// A stronger model to ask.
        advisor: Option<Advisor>,
        /// Agents that it may start.
        subagents: Option<Roster>,
        /// Workflows that it may run.
        workflows: Option<Roster>,
    },
}

/// An agent of a roster.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Member {
    /// An agent's id.
    Id(String),
    /// The other forms.
    With(MemberForm),
}

/// An agent of a roster, as an object.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MemberForm {
    /// An agent.
    Agent {
        /// Its id.
        id: String,
        /// A version; absent = the newest now.
        version: Option<u32>,
    },
    /// A copy of this agent.
    #[serde(rename = "self")]
    This {},
    /// A model to ask.
    Advisor {
        /// Which model.
        model: Model,
    },
}

/// A stronger model to ask: `enabled` needs `model`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Advisor {
    /// Is there one?
    #[serde(rename = "type")]
    pub ty: Option<OnOff>,
    /// Which model.
    pub model: Option<Model>,
}

/// Agents that may be started.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Roster {
    /// May they be?
    #[serde(rename = "type")]
    pub ty: Option<OnOff>,
    /// Agents that exist.
    #[schemars(length(max = 20))]
    pub predefined_agents: Option<Vec<Member>>,
    /// Agents made up on the way.
    pub inline_agents: Option<Switch>,
}

/// Body of an Environment.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Environment {
    /// The name shown to people, unique in the workspace.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// What it is for.
    #[schemars(length(max = 2048))]
    pub description: Option<String>,
    /// Where work runs.
    pub config: Option<Config>,
    /// Who may use it.
    pub scope: Option<Scope>,
    /// Labels.
    pub metadata: Option<Metadata>,
}

/// Body of a Skill.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SkillBody {
    /// The name in `SKILL.md`.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub name: Option<String>,
    /// The name shown to people. Default: the name.
    #[schemars(length(min = 1, max = 255))]
    pub display_name: Option<String>,
}

/// Body of a FileTree.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FileTree {
    /// The name shown to people.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// Where the files come from.
    pub source: Option<Source>,
    /// The principal that reads the repository.
    pub acted_as: Option<String>,
    /// Labels.
    pub metadata: Option<Metadata>,
}

/// Where the files of a tree come from.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// They are sent.
    Upload {},
    /// A repository.
    Git {
        /// Who hosts it.
        provider: Option<Provider>,
        /// `owner/repo`
        repository: String,
        /// Branch, tag or commit.
        #[serde(rename = "ref")]
        ref_: String,
        /// The Connection to read it through.
        connection_id: String,
        /// When the ref is resolved again.
        refresh: Option<Refresh>,
    },
}

/// Body of a FileTreeMount.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FileTreeMount {
    /// The agent that may attach the tree.
    #[schemars(length(min = 1))]
    pub agent_id: String,
    /// The tree.
    #[schemars(length(min = 1))]
    pub file_tree_id: String,
    /// The most that a session may do. Default `read_only`.
    pub access: Option<Access>,
    /// Which revision. Default the newest.
    pub selection: Option<TreeSelection>,
    /// Where: an absolute path.
    #[schemars(length(min = 2, max = 1024), regex(pattern = r"^/[^/]"))]
    pub mount_path: Option<String>,
    /// Publishes what a run wrote.
    pub writeback: Option<Writeback>,
    /// Labels.
    pub metadata: Option<Metadata>,
}

/// Which revision of a tree a session sees.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TreeSelection {
    /// The newest.
    Latest {},
    /// One.
    Pinned {
        /// Its number.
        #[schemars(range(min = 1))]
        revision: u32,
    },
    /// The newest of a Git ref.
    Ref {
        /// Its name.
        #[serde(rename = "ref")]
        ref_: String,
    },
}

/// Body of a MemoryMount.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MemoryMount {
    /// The agent that may attach the store.
    #[schemars(length(min = 1))]
    pub agent_id: String,
    /// The store.
    #[schemars(length(min = 1))]
    pub memory_store_id: String,
    /// The most that a session may do. Default `read_only`.
    pub access: Option<Access>,
    /// Which version. Default the newest.
    pub selection: Option<StoreSelection>,
    /// Where: an absolute path.
    #[schemars(length(min = 2, max = 1024), regex(pattern = r"^/[^/]"))]
    pub mount_path: Option<String>,
    /// What the agent is told about this memory.
    #[schemars(length(max = 4096))]
    pub instructions: Option<String>,
    /// Labels.
    pub metadata: Option<Metadata>,
}

/// Which version of a store a session sees.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StoreSelection {
    /// The newest.
    Latest {},
    /// One.
    Version {
        /// Its number.
        #[schemars(range(min = 1))]
        version: u32,
    },
    /// A named ref.
    Ref {
        /// Its name.
        #[serde(rename = "ref")]
        ref_: String,
    },
}

/// Body of a MemoryStore.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MemoryStore {
    /// The name shown to people.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// What is in it; agents read this.
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Whose memory it is. Default the workspace's.
    pub owner: Option<StoreOwner>,
    /// Labels.
    pub metadata: Option<Metadata>,
}

/// Whose memory a store is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StoreOwner {
    /// The workspace's.
    Workspace {},
    /// An agent's.
    Agent {
        /// Its id.
        agent_id: String,
    },
    /// A principal's.
    Principal {
        /// Its id.
        principal_id: String,
    },
    /// A collaboration space's.
    CollaborationSpace {
        /// Its id.
        collaboration_space_id: String,
    },
}

/// The JSON Schema of the wire fields that a create or an update of a kind takes, with nothing to refer to outside
/// of it.
pub fn schema(kind: Kind, update: bool) -> Value {
    fn of<T: JsonSchema>() -> Value {
        let mut settings = SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }
    let mut schema = match kind {
        Kind::Agent => of::<Agent>(),
        Kind::Environment => of::<Environment>(),
        Kind::FileTree => of::<FileTree>(),
        Kind::FileTreeMount => of::<FileTreeMount>(),
        Kind::MemoryMount => of::<MemoryMount>(),
        Kind::MemoryStore => of::<MemoryStore>(),
        Kind::Skill => of::<SkillBody>(),
    };
    if let Some(metadata) = schema.pointer_mut("/properties/metadata") {
        *metadata = json!({
            "description": "Labels; in an update null removes one.",
            "type": ["object", "null"],
            "maxProperties": if update { 256 } else { 16 },
            "propertyNames": {"minLength": 1, "maxLength": 64},
            "additionalProperties": {"type": ["string", "null"], "maxLength": 512},
        });
    }
    if update {
        if let Some(map) = schema.as_object_mut() {
            map.remove("required");
        }
        // What is omitted inside of it is kept too, its type among that.
        if kind == Kind::Environment
            && let Some(config) = schema.pointer_mut("/properties/config")
        {
            *config = json!({
                "type": ["object", "null"],
                "properties": {
                    "type": {"enum": ["cloud", "self_hosted"]},
                    "networking": {"type": ["object", "null"]},
                    "packages": {"type": ["object", "null"]},
                },
                "additionalProperties": false,
            });
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kinds::KINDS;

    #[test]
    fn every_kind_has_fields_with_words() {
        for def in KINDS {
            for update in [false, true] {
                let schema = schema(def.kind, update);
                assert_eq!(schema["additionalProperties"], false, "{}", def.kind);
                assert!(jsonschema::draft202012::new(&schema).is_ok(), "{}", def.kind);
                for (name, field) in schema["properties"].as_object().unwrap() {
                    assert!(name == "config" || field["description"].is_string(), "{}.{name}: {field}", def.kind);
                }
            }
        }
    }
}

//! The kind Agent: a model with instructions, tools, skills and what it may attach.

use serde_json::{Value, json};

use crate::model::Kind;
use crate::model::kinds::{Default_, Field, KindDef, List, Retire, schema, shape};

mod answered;
mod check;
mod forms;
mod multiagent;
mod skills;
pub mod spec;
#[cfg(test)]
mod tests;
mod tools;

pub use spec::Spec;

/// The row of Agent.
pub static DEF: KindDef = KindDef {
    kind: Kind::Agent,
    plural: "agents",
    id_prefix: "agent_",
    doc: "A model with instructions, tools, skills and what it may attach; every change makes the next immutable version.",
    retire: Retire::Archive,
    comes_back: false,
    unique_name: false,
    fields: FIELDS,
    example: EXAMPLE,
    replaces: |_, _| Vec::new(),
    schema: || schema::of_spec::<Spec>(),
    full_schema: || schema::full::<Spec>(),
    check: check::check,
    canonical: forms::canonical,
    to_wire: |spec, ids, only| {
        let mut body = shape::Body::new(spec, only);
        body.same("name", "name", Value::Null)?;
        body.put("model", "model", Value::Null, |v| Ok(forms::model_to_wire(v)))?;
        body.same("description", "description", Value::Null)?;
        body.same("instructions", "system", Value::Null)?;
        body.put("tools", "tools", json!([]), |v| Ok(tools::to_wire(v)))?;
        body.put("mcp_servers", "mcp_servers", json!([]), |v| Ok(tools::servers_to_wire(v)))?;
        body.put("skills", "skills", json!([]), |v| skills::to_wire(v, ids))?;
        body.put("multiagent", "multiagent", Value::Null, |v| multiagent::to_wire(v, ids))?;
        body.same("execution_identity", "execution_identity", Value::Null)?;
        body.same("compaction_policy", "compaction_policy", Value::Null)?;
        body.labels();
        Ok(body.finish())
    },
    from_wire: forms::from_wire,
    answered: answered::answered,
    refs: |spec| {
        let mut out = skills::refs(spec);
        out.extend(multiagent::refs(spec));
        out
    },
    wire_refs: |body| {
        let mut out = skills::wire_refs(body);
        out.extend(multiagent::wire_refs(body));
        out
    },
};

const FIELDS: &[Field] = &[
    Field {
        name: "name",
        default: Default_::Required,
        limit: "1\u{2013}256 characters, one line; default: `metadata.name`",
        clear: "remove the key: the default comes back",
        doc: "The name shown to people.",
        ..Field::TEXT
    },
    Field {
        name: "model",
        ty: "id, or `{id, effort, speed, inference_geo}`",
        default: Default_::Required,
        limit: "`effort` and `inference_geo` are the server's where absent; `speed` is `standard` where absent",
        clear: "",
        doc: "Which model answers, and how hard it thinks.",
        ..Field::TEXT
    },
    Field { name: "description", limit: "2,048 characters", doc: "What the agent is for.", ..Field::TEXT },
    Field {
        name: "instructions",
        ty: "text, `{file}`, or a list of these",
        limit: "100,000 characters once joined",
        doc: "The system prompt, the wire's `system`; the parts of a list and of `preamble` are joined by a blank line.",
        ..Field::TEXT
    },
    Field {
        name: "tools",
        ty: "list of toolsets and custom tools",
        default: Default_::Json("[]"),
        limit: "256 tools over all toolsets",
        list: List::Ordered,
        clear: "remove the key or write `[]`",
        doc: "What the agent may do. Permission policies default to `always_allow` for the agent toolset and `always_ask` for MCP.",
        ..Field::TEXT
    },
    Field {
        name: "mcp_servers",
        ty: "list of `{name, url}`",
        default: Default_::Json("[]"),
        limit: "20 servers; names unique, 1\u{2013}255 characters; each is named by an `mcp_toolset`",
        list: List::SetBy("name"),
        clear: "remove the key or write `[]`",
        doc: "MCP servers that `mcp_toolset` tools use.",
        ..Field::TEXT
    },
    Field {
        name: "skills",
        ty: "list of skill references",
        default: Default_::Json("[]"),
        limit: "20 skills",
        list: List::SetBy("skill"),
        clear: "remove the key or write `[]`",
        doc: "Skills that the agent has: own ones pinned by content unless they follow `latest`.",
        ..Field::TEXT
    },
    Field {
        name: "multiagent",
        ty: "`{type: coordinator, agents}` or `{type: multiagent_20261001, advisor, subagents, workflows}`",
        limit: "1\u{2013}20 agents; they are not multiagent themselves",
        doc: "Other agents that this one may use.",
        ..Field::TEXT
    },
    Field {
        name: "execution_identity",
        ty: "`{type: service_account}` or `{type: aws_role, role_arn}`",
        default: Default_::Server,
        limit: "`role_arn` 2,048 characters",
        doc: "As whom its tools act.",
        ..Field::TEXT
    },
    Field {
        name: "compaction_policy",
        ty: "object",
        default: Default_::Server,
        doc: "How a long conversation is made shorter for the model; carried whole.",
        ..Field::TEXT
    },
    Field::LABELS,
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: Agent
metadata: {name: billing, labels: {team: billing}}
spec:
  name: Billing Bot
  model: {id: claude-sonnet-5, effort: high}
  description: Answers questions about invoices
  instructions: [{file: shared/safety.md}, {file: prompts/billing.md}]
  tools:
    - {type: agent_toolset_20260401, configs: [{name: bash, enabled: false}]}
    - {type: mcp_toolset, mcp_server_name: crm}
  mcp_servers: [{name: crm, url: \"https://crm.example.com/mcp\"}]
  skills: [upgrade-triage, {skill: faq, follow: latest}, {anthropic: xlsx}]
  memory: [{store: approved-answers, at: /mnt/memory/answers}]
  files: [{tree: product-docs, at: /workspace/docs}]
";

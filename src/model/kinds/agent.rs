//! The kind Agent.

use crate::model::Kind;
use crate::model::kinds::{KindDef, Retire};

/// The row of Agent.
pub static DEF: KindDef = KindDef {
    kind: Kind::Agent,
    plural: "agents",
    id_prefix: "agent_",
    doc: "",
    retire: Retire::Archive,
    comes_back: true,
    unique_name: false,
    fields: &[],
    schema: || serde_json::json!({}),
    check: |_| Vec::new(),
    canonical: |_, v, _| v.clone(),
    to_wire: |v, _, _| Ok(v.as_object().cloned().unwrap_or_default()),
    from_wire: |v, _, _| v.clone(),
    refs: |_| Vec::new(),
    wire_refs: |_| Vec::new(),
};

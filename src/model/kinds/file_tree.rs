//! The kind FileTree.

use crate::model::Kind;
use crate::model::kinds::{KindDef, Retire};

/// The row of FileTree.
pub static DEF: KindDef = KindDef {
    kind: Kind::FileTree,
    plural: "file_trees",
    id_prefix: "ftree_",
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

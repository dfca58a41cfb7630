//! The kind FileTreeMount.

use crate::model::Kind;
use crate::model::kinds::{KindDef, Retire};

/// The row of FileTreeMount.
pub static DEF: KindDef = KindDef {
    kind: Kind::FileTreeMount,
    plural: "file_tree_mounts",
    id_prefix: "fmnt_",
    doc: "",
    retire: Retire::Delete,
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

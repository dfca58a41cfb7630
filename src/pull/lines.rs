//! `adopt:` lines for `checkfu.yaml`.

use serde_json::Value;

use crate::manifest::emit_in_order;
use crate::model::config::Adopt;

/// Adds lines to a configuration that has no `adopt:` yet.
pub fn append(text: &str, lines: &[Adopt]) -> String {
    let value: Value = lines.iter().map(|l| serde_json::to_value(l).unwrap_or_default()).collect();
    let block = emit_in_order(&serde_json::json!({ "adopt": value }), &["address", "target", "id", "from"]);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}{block}")
}

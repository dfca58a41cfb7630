//! JSON to YAML text that reads back as the same value, here and in other readers.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// Writes a value as YAML: texts of several lines as blocks, quotes where a reader could be misled.
pub fn emit(value: &Value) -> String {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    // Writing a JSON value into a string cannot fail: keys are texts, numbers are finite.
    serde_saphyr::to_string_with_options(&Yaml(value), options).unwrap_or_default()
}

struct Yaml<'a>(&'a Value);

impl Serialize for Yaml<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) if starts_with_tab(text) => serde_saphyr::DoubleQuoted(text.as_str()).serialize(s),
            Value::Array(items) => {
                let mut seq = s.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|v| seq.serialize_element(&Yaml(v)))?;
                seq.end()
            }
            Value::Object(map) => {
                let mut out = s.serialize_map(Some(map.len()))?;
                map.iter().try_for_each(|(k, v)| out.serialize_entry(k, &Yaml(v)))?;
                out.end()
            }
            other => other.serialize(s),
        }
    }
}

/// A block whose first line begins with a tab is refused by libyaml and PyYAML.
fn starts_with_tab(text: &str) -> bool {
    text.contains('\n') && text.trim_start_matches('\n').starts_with('\t')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diag::LineIndex;
    use crate::manifest::yaml;

    #[test]
    fn what_is_written_reads_back() {
        let nasty = [
            "",
            " ",
            "~",
            "null",
            "true",
            "on",
            "1.0",
            "0o14",
            "- a",
            "a: b",
            "a #b",
            "#",
            "{{x}}",
            "*a",
            "&a",
            "!t",
            "@x",
            "`x",
            "|",
            ">",
            "%",
            "'",
            "\"",
            "\\",
            "\ta",
            "\ta\nb",
            "\n\ta\nb",
            "a\n",
            "a\n\n",
            "\na",
            "  a\nb",
            "a\n b\n",
            "a\r\nb",
            "\u{7}",
            "\u{feff}",
            "é",
            "2026-01-01",
            "---",
            "...",
            "--- a\nb",
            "x ".repeat(200).leak(),
        ];
        for text in nasty {
            for value in [json!(text), json!({"k": text}), json!([text]), json!({"a": {"b": [{"c": text, "d": 1}]}})] {
                let yaml = emit(&value);
                let (docs, found) = yaml::parse(&LineIndex::new("a.yaml", yaml.clone()));
                assert!(found.0.is_empty(), "{text:?} gave {yaml:?}: {found:?}");
                assert_eq!(docs[0].to_json(), value, "{yaml:?}");
            }
        }
        assert!(emit(&json!({"a": "x\ny\n"})).contains("|\n"));
        assert_eq!(emit(&json!({"n": 1, "f": 1.5, "b": true, "z": null, "e": [], "m": {}})).lines().count(), 6);
    }

    #[test]
    fn a_block_never_begins_with_a_tab() {
        assert!(!emit(&json!({"a": "\tx\ny"})).contains('|'));
    }
}

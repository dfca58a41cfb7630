//! JSON to YAML text that reads back as the same value, here and in other readers.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// Writes a value as YAML: texts of several lines as blocks, quotes where a reader could be misled.
pub fn emit(value: &Value) -> String {
    write(value, &[], true)
}

/// As [`emit`], lists indented as people do; in every map the keys of `first` come first, in that order.
pub fn emit_in_order(value: &Value, first: &[&str]) -> String {
    write(value, first, false)
}

fn write(value: &Value, first: &[&str], compact: bool) -> String {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX, compact_list_indent: compact };
    // Writing a JSON value into a string cannot fail: keys are texts, numbers are finite.
    serde_saphyr::to_string_with_options(&Yaml(value, first), options).unwrap_or_default()
}

struct Yaml<'a>(&'a Value, &'a [&'a str]);

impl Serialize for Yaml<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let inner = |value| Yaml(value, self.1);
        match self.0 {
            Value::String(text) if !fits_block(text) => serde_saphyr::DoubleQuoted(text.as_str()).serialize(s),
            Value::Array(items) => {
                let mut seq = s.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|v| seq.serialize_element(&inner(v)))?;
                seq.end()
            }
            Value::Object(map) => {
                let mut out = s.serialize_map(Some(map.len()))?;
                let first = self.1.iter().filter_map(|key| map.get_key_value(*key));
                let rest = map.iter().filter(|(key, _)| !self.1.contains(&key.as_str()));
                first.chain(rest).try_for_each(|(k, v)| out.serialize_entry(k, &inner(v)))?;
                out.end()
            }
            other => other.serialize(s),
        }
    }
}

/// Can a text of several lines stand as a block? One whose first line begins with a tab is refused by libyaml and
/// PyYAML; a block has no escapes, so it holds only what can be printed.
fn fits_block(text: &str) -> bool {
    let one_line = !text.contains('\n');
    one_line || (!text.trim_start_matches('\n').starts_with('\t') && !text.contains(needs_escape))
}

fn needs_escape(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
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
            "\n",
            "\n\n\n",
            " \n a",
            "a \n\n\tb \n",
            "a\u{7}\nb",
            "a\nb\u{85}c\n",
            "a\u{2028}b\nc\u{2029}",
            "a\n\u{feff}b",
            "a\u{0}\nb\u{ffff}",
            "\u{202e}a\nb",
            "---\n...\n# a\n",
        ];
        for text in nasty {
            for value in [json!(text), json!({"k": text}), json!([text]), json!({"a": {"b": [{"c": text, "d": 1}]}})] {
                for yaml in [emit(&value), emit_in_order(&value, &["k"])] {
                    let (docs, found) = yaml::parse(&LineIndex::new("a.yaml", yaml.clone()));
                    assert!(found.0.is_empty(), "{text:?} gave {yaml:?}: {found:?}");
                    assert_eq!(docs[0].to_json(), value, "{yaml:?}");
                }
            }
        }
        assert!(emit(&json!({"a": "x\ny\n"})).contains("|\n"));
        assert_eq!(emit(&json!({"n": 1, "f": 1.5, "b": true, "z": null, "e": [], "m": {}})).lines().count(), 6);
    }

    #[test]
    fn keys_that_are_named_come_first() {
        let value = json!({"a": 1, "type": {"name": 2, "b": 3}});
        assert_eq!(emit_in_order(&value, &["type", "name"]), "type:\n  name: 2\n  b: 3\na: 1\n");
    }

    #[test]
    fn a_block_never_begins_with_a_tab() {
        assert!(!emit(&json!({"a": "\tx\ny"})).contains('|'));
    }
}

//! `SKILL.md`: every rule of the open format and of its readers. Everything is found here; `desired::profile`
//! says what counts for whom.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::json;
use unicode_normalization::UnicodeNormalization as _;

use crate::diag::codes;
use crate::diag::codes::skill as code;
use crate::diag::{Code, Diagnostic, Diagnostics, LineIndex, Severity};
use crate::manifest::check::written;
use crate::manifest::document::{Document, Form, Source};
use crate::manifest::front;
use crate::manifest::suggest::nearest;
use crate::manifest::yaml::{Kind as Yaml, Node, Style, quote};
use crate::manifest::{agent, stream, text};
use crate::model::address::is_name;
use crate::model::{Address, Kind};

/// The fields of the open format.
const FIELDS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// Characters of a name.
const MAX_NAME: usize = 64;
/// Characters of a description.
const MAX_DESCRIPTION: usize = 1024;
/// Characters of a compatibility.
const MAX_COMPATIBILITY: usize = 500;
/// Lines of the text that are advised at most.
const MANY_LINES: usize = 500;

/// The state of one reading.
struct Reader<'a> {
    index: &'a LineIndex,
    root: &'a Node,
    /// The name of the folder.
    folder: String,
    found: &'a mut Diagnostics,
}

pub(super) fn read(index: &LineIndex, start: usize, found: &mut Diagnostics) -> Option<Document> {
    let before = found.count(Severity::Error);
    let folder = index.file().rsplit('/').nth(1).unwrap_or_default().to_owned();
    let front = match front::split(index.text(), start) {
        Ok(front) => front,
        Err(why) => {
            found.push(agent::no_front(
                index,
                start,
                &why,
                &codes::skill::NO_FRONT_MATTER,
                &codes::skill::NOT_CLOSED,
                "name: …\ndescription: …",
            ));
            return None;
        }
    };
    let (root, style) = agent::matter(index, &front.matter, found)?;
    let mut reader = Reader { index, root: &root, folder: folder.clone(), found };
    reader.fields();
    reader.name();
    reader.description();
    reader.compatibility();
    reader.shapes();
    reader.style(&style);
    reader.body(front.body.clone());
    let broken = found.count(Severity::Error) > before;
    let places = BTreeMap::from([("content".to_owned(), start..start)]);
    Some(Document {
        address: Address::new(Kind::Skill, folder),
        form: Form::Skill,
        spec: json!({"source": {"path": "."}}),
        labels: BTreeMap::new(),
        fields: BTreeMap::new(),
        at: index.locate(start..start),
        places,
        broken,
        unnamed: false,
        source: Source {
            index: Arc::new(index.clone()),
            range: front.matter,
            prose: None,
            preamble: 0,
            inline: None,
            tree: Arc::default(),
        },
    })
}

/// The `name` in the front matter of a `SKILL.md`, in NFKC and without blanks around it; none if none can be read.
pub fn skill_name(content: &str) -> Option<String> {
    let start = if content.starts_with(text::BOM) { text::BOM.len_utf8() } else { 0 };
    let front = front::split(content, start).ok()?;
    let index = LineIndex::new("SKILL.md", content);
    let (root, _) = agent::matter(&index, &front.matter, &mut Diagnostics::default())?;
    let raw = written(&index, root.value("name")?)?;
    let name: String = raw.trim().nfkc().collect();
    (!name.is_empty()).then_some(name)
}

impl Reader<'_> {
    fn say(&mut self, code: &'static Code, message: impl Into<String>, at: Range<usize>) -> &mut Diagnostic {
        let d = Diagnostic::new(code, message).at(self.index.locate(at), "");
        let place = self.found.0.len();
        self.found.push(d);
        &mut self.found.0[place]
    }

    /// The text of a field as written, and whether a typed reader would see something else.
    fn text(&self, field: &str) -> Option<(String, bool, Range<usize>)> {
        let node = self.root.value(field)?;
        let text = written(self.index, node)?;
        let plain = self.index.text().get(node.span.clone()) == Some(text.as_str());
        let typed = !matches!(node.get(), Yaml::Str(_)) || (plain && is_typed_in_1_1(&text));
        Some((text, typed, node.place()))
    }

    fn fields(&mut self) {
        for (key, _) in self.root.as_map().unwrap_or_default() {
            if FIELDS.contains(&key.text.as_str()) {
                continue;
            }
            let near = nearest(&key.text, FIELDS);
            let d = self.say(
                &code::UNKNOWN_FIELD,
                format!("the field `{}` is not part of the open format", key.text),
                key.span.clone(),
            );
            d.fix = near.map(|n| format!("did you mean `{n}`?"));
        }
        for field in ["name", "description", "compatibility"] {
            let Some(node) = self.root.value(field) else { continue };
            if matches!(node.get(), Yaml::Seq(_) | Yaml::Map(_)) {
                let range = self.root.entry(field).map_or(0..0, |(k, _)| k.span.clone());
                self.say(&code::FIELD_TYPE, format!("`{field}` must be a text"), range);
            } else if let Some((text, true, at)) = self.text(field) {
                let message = format!("`{text}` without quotes is no text to other readers");
                self.say(&code::TYPED_SCALAR, message, at).fix = Some(format!("{field}: {}", quote(&text)));
            }
        }
    }

    fn name(&mut self) {
        let folder = self.folder.clone();
        let Some((raw, _, at)) = self.text("name") else {
            if !matches!(self.root.value("name").map(Node::get), Some(Yaml::Seq(_) | Yaml::Map(_) | Yaml::Refused)) {
                let at = self.field_or_start("name");
                self.say(&code::NAME_MISSING, "`name` is missing", at).fix = Some(format!("name: {folder}"));
            }
            return;
        };
        let name = raw.trim();
        if name.is_empty() {
            self.say(&code::NAME_MISSING, "`name` is empty", at).fix = Some(format!("name: {folder}"));
            return;
        }
        if name.len() < raw.len() {
            self.say(&code::OUTER_BLANKS, "the name has blanks around it", at.clone()).fix =
                Some(format!("name: {name}"));
        }
        let wide: String = name.nfkc().collect();
        if let Some(why) = refused(&wide) {
            let fix = stream::slug(&wide);
            self.say(&code::NAME_FORM, format!("the name `{name}` {why}"), at.clone()).fix = fix;
        } else if !is_name(name) {
            let message = format!("the name `{name}` has characters other than a-z, 0-9 and hyphens");
            self.say(&code::NAME_UNICODE, message, at.clone());
        }
        if wide != folder.nfkc().collect::<String>() {
            let message = format!("the name `{name}` is not the folder's, `{folder}`");
            self.say(&code::NAME_FOLDER, message, at.clone()).fix = Some(format!("name: {folder}"));
        } else if is_name(name) && !is_name(&folder) {
            let message = format!("the folder's name `{folder}` has characters other than a-z, 0-9 and hyphens");
            self.say(&code::NAME_UNICODE, message, at.clone());
        }
        if let Some(word) = ["claude", "anthropic"].into_iter().find(|w| wide.contains(w)) {
            self.say(&code::NAME_RESERVED, format!("the name holds the reserved word `{word}`"), at);
        }
    }

    fn description(&mut self) {
        let Some((text, _, at)) = self.text("description").filter(|(_, _, at)| !at.is_empty()) else {
            let node = self.root.value("description").map(Node::get);
            if !matches!(node, Some(Yaml::Seq(_) | Yaml::Map(_) | Yaml::Refused)) {
                let at = self.field_or_start("description");
                let d = self.say(&code::DESCRIPTION_MISSING, "`description` is missing or empty", at);
                d.fix = Some("description: what it does, and when to use it".to_owned());
            }
            return;
        };
        let is_null = matches!(self.root.value("description").map(Node::get), Some(Yaml::Null));
        if text.trim().is_empty() || is_null {
            let d = self.say(&code::DESCRIPTION_MISSING, "`description` is empty", at);
            d.fix = Some("description: what it does, and when to use it".to_owned());
            return;
        }
        let (all, kept) = (text.chars().count(), text.trim_end().chars().count());
        if kept > MAX_DESCRIPTION {
            let message = format!("`description` has {kept} characters, more than {MAX_DESCRIPTION}");
            self.say(&code::DESCRIPTION_LONG, message, at.clone());
        } else if all > MAX_DESCRIPTION {
            let message = format!("`description` has {all} characters with its last line end");
            self.say(&code::DESCRIPTION_BREAK, message, at.clone());
        }
        if text.contains(['<', '>']) {
            self.say(&code::DESCRIPTION_TAGS, "`description` has angle brackets", at.clone());
        }
        let file: &str = self.index.text();
        let span = self.root.value("description").map_or(at.clone(), |n| n.span.clone());
        let plain = !file[span.clone()].starts_with(['"', '\'']) && self.root.value("description").is_some();
        let line = file[span.end..].lines().next().unwrap_or_default();
        if plain && line.starts_with([' ', '\t']) && line.trim_start().starts_with('#') {
            let whole = format!("{}{}", &file[span.clone()], line.trim_end());
            let start = span.end + line.len() - line.trim_start().len();
            let message = "` #` begins a comment, so the description ends before it";
            let d = self.say(&code::DESCRIPTION_CUT, message, start..span.end + line.trim_end().len());
            d.fix = Some(format!("description: {}", quote(&whole)));
        }
    }

    fn compatibility(&mut self) {
        let Some((key, node)) = self.root.entry("compatibility") else { return };
        let key = key.span.clone();
        match (node.get(), self.text("compatibility")) {
            (Yaml::Seq(_) | Yaml::Map(_) | Yaml::Refused, _) => {}
            (Yaml::Null, _) | (_, None) => {
                self.say(&code::COMPATIBILITY_EMPTY, "`compatibility` is empty", key);
            }
            (_, Some((text, _, at))) => {
                let n = text.chars().count();
                if text.trim().is_empty() {
                    self.say(&code::COMPATIBILITY_EMPTY, "`compatibility` is empty", key);
                } else if n > MAX_COMPATIBILITY {
                    let message = format!("`compatibility` has {n} characters, more than {MAX_COMPATIBILITY}");
                    self.say(&code::COMPATIBILITY_LONG, message, at);
                }
            }
        }
    }

    /// `license`, `allowed-tools` and `metadata`.
    fn shapes(&mut self) {
        for field in ["license", "allowed-tools"] {
            let Some((key, node)) = self.root.entry(field) else { continue };
            if matches!(node.get(), Yaml::Seq(_) | Yaml::Map(_) | Yaml::Null) {
                let d = self.say(&code::FIELD_SHAPE, format!("`{field}` is not a text"), key.span.clone());
                d.fix = joined(node).map(|text| format!("{field}: {text}"));
            }
        }
        let Some((key, node)) = self.root.entry("metadata") else { return };
        match node.get() {
            Yaml::Map(entries) => {
                let odd = |n: &Node| matches!(n.get(), Yaml::Seq(_) | Yaml::Map(_) | Yaml::Null);
                if let Some((k, _)) = entries.iter().find(|(_, v)| odd(v)) {
                    let message = format!("`metadata.{}` is not a text", k.text);
                    self.say(&code::FIELD_SHAPE, message, k.span.clone());
                }
            }
            Yaml::Refused => {}
            _ => {
                self.say(&code::FIELD_SHAPE, "`metadata` is not a map of texts", key.span.clone());
            }
        }
    }

    fn style(&mut self, style: &Style) {
        if let Some(at) = &style.flow {
            let at = at.start..at.start + 1;
            self.say(&code::FLOW_STYLE, "`[…]` or `{…}` in the front matter", at);
        }
        if let Some(at) = &style.anchors {
            self.say(&code::ANCHORS, "an anchor, alias or merge key in the front matter", at.clone());
        }
    }

    fn body(&mut self, body: Range<usize>) {
        let text = &self.index.text()[body.clone()];
        let lines = text.lines().count();
        if text.trim().is_empty() {
            let at = body.start.saturating_sub(1);
            self.say(&code::BODY_EMPTY, "there is no text below the front matter", at..at);
        } else if lines > MANY_LINES {
            let message = format!("{lines} lines of text, more than {MANY_LINES}");
            self.say(&code::BODY_LONG, message, body.start..body.start);
        }
    }

    fn field_or_start(&self, field: &str) -> Range<usize> {
        let start = self.root.span.start;
        self.root.entry(field).map_or(start..start, |(k, _)| k.span.clone())
    }
}

/// Why a name (in NFKC) is refused by the open format.
fn refused(name: &str) -> Option<String> {
    let n = name.chars().count();
    if n > MAX_NAME {
        Some(format!("has {n} characters, more than {MAX_NAME}"))
    } else if name != name.to_lowercase() {
        Some("has upper-case letters".to_owned())
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("begins or ends with a hyphen".to_owned())
    } else if name.contains("--") {
        Some("has two hyphens in a row".to_owned())
    } else {
        let bad = name.chars().find(|c| !c.is_alphanumeric() && *c != '-')?;
        Some(match bad {
            ' ' => "has a blank".to_owned(),
            c if c.is_ascii_graphic() => format!("has the character `{c}`"),
            c => format!("has the character U+{:04X}", u32::from(c)),
        })
    }
}

/// Would a YAML 1.1 reader see a boolean or a date?
fn is_typed_in_1_1(text: &str) -> bool {
    let word = matches!(text.to_ascii_lowercase().as_str(), "yes" | "no" | "on" | "off");
    let b = text.as_bytes();
    let date = b.len() == 10
        && b.iter().enumerate().all(|(i, c)| if i == 4 || i == 7 { *c == b'-' } else { c.is_ascii_digit() });
    word || date
}

/// A list of texts as one text with blanks between.
fn joined(node: &Node) -> Option<String> {
    let Yaml::Seq(items) = node.get() else { return None };
    let texts: Option<Vec<&str>> = items.iter().map(Node::as_str).collect();
    texts.filter(|t| !t.is_empty()).map(|t| t.join(" "))
}

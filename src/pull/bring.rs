//! Fields that moved live → the files that declare them: the manifest value by value, texts line by line in whichever
//! file holds the lines. Everything else of the files stays byte for byte.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::desired::{TextPart, Wanted};
use crate::diag::LineIndex;
use crate::manifest::{self, Form as Written, front};
use crate::model::Kind;
use crate::pull::document::{Form, authored, is_prose};
use crate::pull::parts::distribute;
use crate::pull::patch::merge::{merge, relined};
use crate::pull::patch::{PatchError, read, rewrite};

type Object = Map<String, Value>;

/// A canonical field that moved live.
#[derive(Debug, Clone)]
pub struct Move {
    /// As in `instructions`, `labels.team`.
    pub field: String,
    /// What was last applied.
    pub applied: Option<Value>,
    /// What the file says.
    pub file: Option<Value>,
    /// What is live.
    pub live: Option<Value>,
}

/// What became of the fields of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    /// Fields in which a person has to decide: the texts have marks.
    pub conflicts: Vec<String>,
    /// Fields in which a person has to decide and no marks can stand: the file keeps what it says.
    pub kept: Vec<String>,
    /// Some text says more than what is live: the file had changed too, elsewhere.
    pub merged: bool,
}

/// Texts of files by project path.
pub type Texts = BTreeMap<String, String>;

/// Brings the fields of one resource into the texts of its files. `live` is its canonical live form, with references as
/// names. What cannot be written is an error, and then no text was changed.
///
/// # Errors
/// [`PatchError`].
pub fn bring(wanted: &Wanted, live: &Value, moves: &[Move], texts: &mut Texts) -> Result<Brought, PatchError> {
    let file = wanted.at.file.to_string();
    let mut out = Brought::default();
    let text = texts.get(&file).cloned().unwrap_or_default();
    let manifest = Manifest::find(wanted, &file, &text).ok_or_else(|| PatchError::NoSuchPlace(file.clone()))?;
    let mut target = read(&text, &manifest.document)?;
    let mut prose = None;
    let mut others = Texts::new();
    let forms = Forms::of(wanted, live);
    for moved in moves {
        if stays(moved) {
            out.kept.push(moved.field.clone());
            continue;
        }
        let text = merged(moved, &mut out);
        if moved.field == "instructions" && wanted.address.kind == Kind::Agent {
            let text = text.as_ref().and_then(Value::as_str);
            let parts = Instructions { wanted, manifest: &manifest, texts };
            parts.put(text, &mut target, &mut prose, &mut others);
        } else {
            let place =
                manifest.holder(&mut target, moved).ok_or_else(|| PatchError::NoSuchPlace(moved.field.clone()))?;
            forms.put(&manifest, place, moved, text);
        }
    }
    // What stands behind the front matter first: it moves nothing that is before it.
    let mut new = text.clone();
    if let (Some(prose), Some(body)) = (prose, manifest.body.clone()) {
        new.replace_range(body, &prose);
    }
    new = rewrite(&new, manifest.document.clone(), &target)?;
    texts.extend(others);
    texts.insert(file, new);
    Ok(out)
}

/// Did both sides move on, to different values, where no marks can stand? Then the file keeps what it says.
fn stays(moved: &Move) -> bool {
    if moved.file == moved.applied || moved.file == moved.live {
        return false;
    }
    let texts = [&moved.file, &moved.live].map(|v| v.as_ref().and_then(Value::as_str));
    let has_lines = [&moved.file, &moved.applied, &moved.live].iter().any(|v| text_of(v.as_ref()).contains('\n'));
    texts.contains(&None) || !(has_lines || moved.field == "instructions")
}

fn text_of(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// What a field is to be: what is live; a text of which both sides moved on is joined.
fn merged(moved: &Move, out: &mut Brought) -> Option<Value> {
    if moved.file == moved.applied || moved.file == moved.live {
        return moved.live.clone();
    }
    let live = text_of(moved.live.as_ref());
    let joined = merge(text_of(moved.file.as_ref()), text_of(moved.applied.as_ref()), live);
    out.merged |= joined.text != live;
    if joined.conflicts > 0 {
        out.conflicts.push(moved.field.clone());
    }
    Some(Value::String(joined.text))
}

/// Where a resource is declared.
struct Manifest {
    written: Written,
    /// The bytes of its YAML.
    document: Range<usize>,
    /// The bytes behind the front matter of an agent.
    body: Option<Range<usize>>,
    /// Of an inline mount: the list that holds it, and the key of its entries that names it, with that name.
    inline: Option<(&'static str, &'static str, String)>,
}

impl Manifest {
    fn find(wanted: &Wanted, file: &str, text: &str) -> Option<Self> {
        let written = match file {
            "checkfu.yaml" => Written::Config,
            f if f.rsplit_once('.').is_some_and(|(_, ext)| ext == "md") => Written::AgentMarkdown,
            _ => Written::Yaml,
        };
        let (mut address, mut inline) = (wanted.address.clone(), None);
        if let Some((agent, named)) = wanted.address.name.split_once('.') {
            inline = Some(match wanted.address.kind {
                Kind::MemoryMount => ("memory", "store", named.to_owned()),
                _ => ("files", "tree", named.to_owned()),
            });
            address = crate::model::Address::new(Kind::Agent, agent.to_owned());
        }
        let index = LineIndex::new(file, text);
        let documents = manifest::parse(written, &index).documents;
        let document = documents.into_iter().find(|d| d.address == address)?.source.range;
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let body = match written {
            Written::AgentMarkdown => Some(front::split(text, start).ok()?.body),
            _ => None,
        };
        Some(Self { written, document, body, inline })
    }

    /// The map of the written document that holds the fields of the spec.
    fn spec<'v>(&self, target: &'v mut Value) -> Option<&'v mut Object> {
        let spec = if self.written == Written::AgentMarkdown { target } else { target.get_mut("spec")? };
        let Some((list, key, name)) = &self.inline else { return spec.as_object_mut() };
        let entries = spec.get_mut(*list)?.as_array_mut()?;
        let entry = entries.iter_mut().find(|e| e.get(*key).and_then(Value::as_str) == Some(name))?;
        entry.as_object_mut()
    }

    /// The map that holds a field: the spec, the labels, or a map in the spec.
    fn holder<'v>(&self, target: &'v mut Value, moved: &Move) -> Option<&'v mut Object> {
        let Some((map, _)) = moved.field.split_once('.') else { return self.spec(target) };
        let above = match (map, self.written) {
            // A mount that is written in an agent has none.
            ("labels", _) if self.inline.is_some() => return None,
            ("labels", Written::AgentMarkdown) => target.as_object_mut()?,
            ("labels", _) => target.get_mut("metadata")?.as_object_mut()?,
            _ => self.spec(target)?,
        };
        above.entry(map).or_insert_with(|| Value::Object(Object::new())).as_object_mut()
    }

    /// The key under which a field is written.
    fn key<'f>(&self, field: &'f str) -> &'f str {
        match field.split_once('.') {
            Some((_, key)) => key,
            None if self.inline.is_some() && field == "mount_path" => "at",
            None => field,
        }
    }
}

/// The fields as a manifest would say them: wanted and live.
struct Forms {
    wanted: BTreeMap<String, Value>,
    live: BTreeMap<String, Value>,
}

impl Forms {
    fn of(wanted: &Wanted, live: &Value) -> Self {
        let skills = BTreeMap::new();
        let form = |spec: &Value| {
            authored(&Form {
                address: &wanted.address,
                spec,
                unowned: &[],
                links: false,
                mounts: Vec::new(),
                skills: &skills,
            })
        };
        Self { wanted: form(&wanted.spec), live: form(live) }
    }

    fn put(&self, manifest: &Manifest, holder: &mut Object, moved: &Move, text: Option<Value>) {
        let key = manifest.key(&moved.field);
        let is_key = moved.field.contains('.');
        let of = |form: &BTreeMap<String, Value>, canonical: &Option<Value>| {
            if is_key { canonical.clone() } else { form.get(&moved.field).cloned() }
        };
        let live = match text {
            text @ Some(Value::String(_)) if self.live.contains_key(&moved.field) => text,
            _ => of(&self.live, &moved.live),
        };
        match follow(holder.get(key), of(&self.wanted, &moved.file).as_ref(), live.as_ref()) {
            Some(value) => drop(holder.insert(key.to_owned(), value)),
            None => drop(holder.remove(key)),
        }
    }
}

/// The written value with what differs between wanted and live: what is equal in both stays as it is written, in
/// whichever form that is.
fn follow(written: Option<&Value>, wanted: Option<&Value>, live: Option<&Value>) -> Option<Value> {
    if wanted == live {
        return written.cloned();
    }
    match (written, wanted, live) {
        (Some(Value::Object(written)), Some(Value::Object(wanted)), Some(Value::Object(live))) => {
            let keys: std::collections::BTreeSet<&String> = written.keys().chain(live.keys()).collect();
            let entry = |k: &String| Some((k.clone(), follow(written.get(k), wanted.get(k), live.get(k))?));
            Some(Value::Object(keys.into_iter().filter_map(entry).collect()))
        }
        (Some(Value::Array(written)), Some(Value::Array(wanted)), Some(Value::Array(live)))
            if written.len() == wanted.len() =>
        {
            Some(Value::Array(follow_list(written, wanted, live)))
        }
        _ => live.cloned(),
    }
}

/// Items of a list: one that is wanted as it is live stays as it is written, of the others each follows the one in its
/// place.
fn follow_list(written: &[Value], wanted: &[Value], live: &[Value]) -> Vec<Value> {
    // A set is sorted in its canonical form, and may be written in any order.
    let mut of_wanted: Vec<Option<usize>> = wanted.iter().map(|w| written.iter().position(|x| x == w)).collect();
    let taken: Vec<usize> = of_wanted.iter().flatten().copied().collect();
    let mut free = (0..written.len()).filter(|i| !taken.contains(i));
    for slot in of_wanted.iter_mut().filter(|s| s.is_none()) {
        *slot = free.next();
    }
    let at = |i: usize| of_wanted.get(i).copied().flatten().and_then(|at| written.get(at));
    let same = |value: &Value| wanted.iter().position(|w| w == value);
    let kept: Vec<usize> = live.iter().filter_map(same).collect();
    let mut rest = (0..wanted.len()).filter(|i| !kept.contains(i));
    let mut items: Vec<(usize, Value)> = live
        .iter()
        .map(|value| match same(value) {
            Some(i) => (i, at(i).unwrap_or(value).clone()),
            None => match rest.next() {
                Some(i) => (i, follow(at(i), wanted.get(i), Some(value)).unwrap_or_else(|| value.clone())),
                None => (usize::MAX, value.clone()),
            },
        })
        .collect();
    let canonical_order: Vec<usize> = items.iter().map(|(i, _)| *i).collect();
    // Where the order is the canonical one, that of the file may be another one.
    if canonical_order.is_sorted() {
        items.sort_by_key(|(i, _)| of_wanted.get(*i).copied().flatten().unwrap_or(usize::MAX));
    }
    items.into_iter().map(|(_, value)| value).collect()
}

/// The instructions of an agent in their places.
struct Instructions<'a> {
    wanted: &'a Wanted,
    manifest: &'a Manifest,
    texts: &'a Texts,
}

impl Instructions<'_> {
    fn put(&self, live: Option<&str>, target: &mut Value, prose: &mut Option<String>, others: &mut Texts) {
        let parts = &self.wanted.instructions;
        let old = self.wanted.spec.get("instructions").and_then(Value::as_str).unwrap_or_default();
        let texts = live.and_then(|live| distribute(old, parts, live));
        match texts.filter(|texts| parts.iter().zip(texts).all(|(part, text)| self.holds(part, text))) {
            Some(texts) => {
                for (i, (part, text)) in parts.iter().zip(&texts).enumerate() {
                    if lines_of(old, part) != *text {
                        self.put_part(i, part, text, target, prose, others);
                    }
                }
            }
            None => self.put_whole(live, target, prose),
        }
    }

    /// Is this part a file of its own?
    fn is_file(&self, part: &TextPart) -> bool {
        part.at.file != self.wanted.at.file
    }

    /// Is this part the text below the front matter?
    fn is_prose(&self, part: &TextPart) -> bool {
        !self.is_file(part) && self.manifest.body.as_ref().is_some_and(|body| part.at.start >= body.start)
    }

    /// Can a part be this text?
    fn holds(&self, part: &TextPart, text: &str) -> bool {
        if self.is_prose(part) {
            return is_prose(text);
        }
        !self.is_file(part) || !(text.ends_with('\n') || text.starts_with('\u{feff}') || text.contains('\r'))
    }

    fn put_part(
        &self,
        i: usize,
        part: &TextPart,
        text: &str,
        target: &mut Value,
        prose: &mut Option<String>,
        others: &mut Texts,
    ) {
        if self.is_file(part) {
            let path = part.at.file.to_string();
            let raw = self.texts.get(&path).map(String::as_str).unwrap_or_default();
            others.insert(path, with_end(raw, text));
        } else if self.is_prose(part) {
            *prose = Some(self.below(text));
        } else if let Some(spec) = self.manifest.spec(target) {
            let value = Value::String(text.to_owned());
            let before = spec.get("preamble").and_then(Value::as_array).map_or(0, Vec::len);
            match spec.get_mut(key_of(spec)) {
                Some(Value::Array(list)) => {
                    if let Some(place) = list.get_mut(i.saturating_sub(before)) {
                        *place = value;
                    }
                }
                _ => drop(spec.insert(key_of(spec).to_owned(), value)),
            }
        }
    }

    /// One text in place of all parts.
    fn put_whole(&self, live: Option<&str>, target: &mut Value, prose: &mut Option<String>) {
        let Some(spec) = self.manifest.spec(target) else { return };
        let key = key_of(spec).to_owned();
        spec.remove("preamble");
        let in_body = self.manifest.body.is_some() && live.is_some_and(is_prose);
        if self.manifest.body.is_some() {
            *prose = Some(self.below(live.filter(|_| in_body).unwrap_or_default()));
        }
        match live.filter(|_| !in_body) {
            Some(text) => drop(spec.insert(key, Value::String(text.to_owned()))),
            None => drop(spec.remove(&key)),
        }
    }

    /// What stands below the front matter: blank lines around the text stay.
    fn below(&self, text: &str) -> String {
        let whole = self.texts.get(&*self.wanted.at.file).map(String::as_str).unwrap_or_default();
        let body = self.manifest.body.clone().unwrap_or_default();
        let raw = &whole[body];
        let start = raw.len() - raw.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        // The first line of the text may be indented: only whole blank lines are in front of it.
        let start = raw[..start].rfind(['\n', '\r']).map_or(0, |i| i + 1);
        format!("{}{}", &raw[..start], with_end(&raw[start..], text))
    }
}

/// `system` is the wire's name of the key.
fn key_of(spec: &Object) -> &'static str {
    if spec.contains_key("system") && !spec.contains_key("instructions") { "system" } else { "instructions" }
}

fn lines_of(text: &str, part: &TextPart) -> String {
    text.split('\n').skip(part.line).take(part.lines).collect::<Vec<_>>().join("\n")
}

/// A text in place of another one, with the line ends at the end that that one has; a new one gets one.
fn with_end(raw: &str, text: &str) -> String {
    let end = &raw[raw.trim_end_matches(['\n', '\r']).len()..];
    let ends = end.replace("\r\n", "\n").chars().count();
    let ends = if raw.is_empty() && !text.is_empty() { 1 } else { ends };
    relined(raw, &format!("{text}{}", "\n".repeat(ends)))
}

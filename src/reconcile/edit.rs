//! Break-glass by hand: what is live as a text, what was changed in it, and the one write that follows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::desired::alone;
use crate::diag::codes::edit as codes;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Location};
use crate::manifest::{self, Form};
use crate::model::kinds::{self, Change as Needs, Default_, Ids, List, MissingId, Ref, Selector};
use crate::model::op::{
    BlobGet, BlobPut, ContentOf, Context, Expect, Publish, Request, Resolve, Response, Summary, Update, Want, Written,
};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan;
use crate::pull;
use crate::reconcile::ask::Ask;

/// The file of a skill that is edited.
const SKILL: &str = "SKILL.md";

/// A live resource as a text.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What it is.
    pub address: Address,
    /// Its live id.
    pub id: String,
    /// The version that was read; another one is not written.
    pub version: u64,
    /// The name that a file of the text has.
    pub file: String,
    /// The text.
    pub text: String,
    /// As which address the text declares it: a mount that is written in an agent has a name that none can write.
    written: Address,
    form: Form,
    live: Value,
    skills: BTreeMap<String, Digest>,
    entries: Vec<Entry>,
}

/// What was changed in the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Nothing that means anything.
    Nothing,
    /// Canonical fields.
    Fields {
        /// The whole form.
        spec: Value,
        /// Those that changed; `labels.KEY` for single labels.
        fields: BTreeSet<String>,
        /// Live ids of what they refer to.
        ids: Ids,
    },
    /// The text of a skill's `SKILL.md`.
    Skill(String),
}

impl Change {
    /// What is changed, by name.
    pub fn fields(&self) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Fields { fields, .. } => fields.iter().cloned().collect(),
            Self::Skill(_) => vec![SKILL.to_owned()],
        }
    }
}

/// Reads what is live at an address of this owner. `None`: nothing is.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn open<C: ControlPlane>(
    control: &C,
    context: &Context,
    me: &Owner,
    address: &Address,
) -> Result<Option<Opened>, ControlError> {
    let ask = Ask { control, context, me };
    let is_it = |s: &Summary| s.address.as_ref() == Some(address) && !s.superseded && s.live_digest.is_some();
    let Some(summary) = ask.summaries(Some(address.kind)).await?.into_iter().find(is_it) else { return Ok(None) };
    let mut read = None;
    ask.bodies(std::slice::from_ref(&summary.id), |loaded| {
        read = loaded.bodies.into_iter().next().map(|body| (body, loaded.refs));
    })
    .await?;
    let Some((body, refs)) = read else { return Ok(None) };
    let def = kinds::def(address.kind);
    let applied = body.applied.as_ref().map(|a| &*a.spec);
    let mut live = (def.from_wire)(&body.body, &refs, applied);
    let mut opened = Opened {
        address: address.clone(),
        id: summary.id,
        version: summary.version,
        file: format!("skills/{}/{SKILL}", address.name),
        text: String::new(),
        written: match address.name.rsplit_once('.') {
            Some((_, name)) => Address::new(address.kind, name),
            None => address.clone(),
        },
        form: Form::Skill,
        skills: pinned(&(def.refs)(&live)),
        live: Value::Null,
        entries: body.entries,
    };
    if address.kind == Kind::Skill {
        opened.text = skill(control, context, &opened.entries).await?;
        return Ok(Some(opened));
    }
    if let Value::Object(map) = &mut live {
        map.retain(|name, _| def.field(name).is_none_or(|f| !matches!(f.change, Needs::Publish | Needs::Record)));
    }
    let form = pull::Form {
        address: &opened.written,
        spec: &live,
        unowned: &[],
        links: false,
        mounts: Vec::new(),
        skills: &opened.skills,
    };
    if let Some(pull::Text { path, text }) = pull::document(&form) {
        let is_markdown = Path::new(&path).extension().is_some_and(|e| e == "md");
        opened.form = if is_markdown { Form::AgentMarkdown } else { Form::Yaml };
        (opened.file, opened.text) = (path, text);
    }
    opened.live = live;
    Ok(Some(opened))
}

/// The content that each skill is pinned to, where it is one: the name alone stands for it.
fn pinned(refs: &[Ref]) -> BTreeMap<String, Digest> {
    let mut out: BTreeMap<String, Option<Digest>> = BTreeMap::new();
    for r in refs {
        let (kinds::Target::Own(address), Selector::Content(content)) = (&r.target, &r.selector) else { continue };
        let entry = out.entry(address.name.clone()).or_insert(Some(*content));
        *entry = entry.filter(|had| had == content);
    }
    out.into_iter().filter_map(|(name, content)| Some((name, content?))).collect()
}

async fn skill<C: ControlPlane>(control: &C, context: &Context, entries: &[Entry]) -> Result<String, ControlError> {
    let Some(entry) = entries.iter().find(|e| e.path == SKILL) else { return Ok(String::new()) };
    match control.call(context, Request::BlobGet(BlobGet { digest: entry.sha256 })).await? {
        Response::Bytes(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err(unexpected("blobs.get")),
    }
}

/// What a text says that is not live, or everything that is wrong with it. Places are in `file`.
///
/// # Errors
/// Whatever the workspace answers when it is asked what the text refers to.
pub async fn check<C: ControlPlane>(
    control: &C,
    context: &Context,
    me: &Owner,
    opened: &Opened,
    text: &str,
) -> Result<Result<Change, Diagnostics>, ControlError> {
    if text == opened.text {
        return Ok(Ok(Change::Nothing));
    }
    let mut parsed = manifest::parse(opened.form, &LineIndex::new(opened.file.as_str(), text));
    let mut found = std::mem::take(&mut parsed.found);
    let only = if parsed.documents.len() > 1 { None } else { parsed.documents.pop() };
    let Some(mut document) = only.filter(|d| d.address == opened.written) else {
        if !found.has_errors() {
            let message = format!("the text has to declare {}, and nothing else", opened.written);
            found.push(Diagnostic::new(&codes::NOT_HERE, message).at(Location::file(opened.file.as_str()), ""));
        }
        return Ok(Err(found));
    };
    if opened.form == Form::Skill {
        let change =
            Change::Skill(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n"));
        return Ok(if found.has_errors() { Err(found) } else { Ok(change) });
    }
    document.address = opened.address.clone();
    let (mut alone, told) = alone(document, me, &opened.skills);
    found.extend(told);
    let (fields, _) = differing(opened, &alone.spec);
    let refs: Vec<(Ref, Location)> = alone.refs.iter().filter(|(r, _)| carries(opened, &fields, r)).cloned().collect();
    let ids = resolve((control, context, me), &refs, &mut alone.spec, &mut found).await?;
    if refs.iter().any(|(r, _)| matches!(r.selector, Selector::Number(_))) {
        // Lists that are sets may sort otherwise now.
        let whole = (kinds::def(opened.address.kind).canonical)(&opened.address.name, alone.spec, &BTreeMap::new());
        alone.spec = whole;
    }
    let (fields, refused) = differing(opened, &alone.spec);
    for field in refused {
        let message = format!("`{field}` cannot be changed in place: it needs a new resource");
        let at = alone.document.locate(&format!("/{field}"), true);
        found.push(Diagnostic::new(&codes::NOT_HERE, message).at(at, ""));
    }
    if found.has_errors() {
        return Ok(Err(found));
    }
    Ok(Ok(if fields.is_empty() { Change::Nothing } else { Change::Fields { spec: alone.spec, fields, ids } }))
}

/// Is a reference sent with these fields: its own, or the one that selects its version?
fn carries(opened: &Opened, fields: &BTreeSet<String>, r: &Ref) -> bool {
    plan::carries(kinds::def(opened.address.kind), r, |name| fields.iter().any(|f| f == name))
}

/// The fields that differ and can be changed in place, and those that cannot.
fn differing(opened: &Opened, spec: &Value) -> (BTreeSet<String>, Vec<&'static str>) {
    let def = kinds::def(opened.address.kind);
    let fixed = def.replaced(&opened.live, spec);
    let (mut fields, mut refused) = (BTreeSet::new(), Vec::new());
    for field in def.fields.iter().filter(|f| !matches!(f.change, Needs::Publish | Needs::Record)) {
        let [before, after] = [&opened.live, spec].map(|spec| spec.get(field.name));
        // What the server chooses is left to it where the text says nothing.
        if before == after || (field.default == Default_::Server && after.is_none()) {
            continue;
        }
        if field.change != Needs::Update || fixed.contains(&field.name) {
            refused.push(field.name);
        } else if field.list == List::PerKey {
            let maps = [before, after].map(|v| v.and_then(Value::as_object));
            let keys: BTreeSet<&String> = maps.iter().flatten().flat_map(|m| m.keys()).collect();
            let differs = |key: &&&String| maps[0].and_then(|m| m.get(**key)) != maps[1].and_then(|m| m.get(**key));
            fields.extend(keys.iter().filter(differs).map(|key| format!("{}.{key}", field.name)));
        } else {
            fields.insert(field.name.to_owned());
        }
    }
    (fields, refused)
}

/// Live ids of what is referred to; numbers of versions in the form become their content.
async fn resolve<C: ControlPlane>(
    (control, context, me): (&C, &Context, &Owner),
    refs: &[(Ref, Location)],
    spec: &mut Value,
    found: &mut Diagnostics,
) -> Result<Ids, ControlError> {
    let want = |(r, _): &(Ref, Location)| {
        let content = if let Selector::Content(content) = r.selector { Some(content) } else { None };
        let number = if let Selector::Number(number) = r.selector { Some(number) } else { None };
        Want { key: r.target.key(), content, number }
    };
    let wants: Vec<Want> = refs.iter().map(want).collect();
    let mut ids = BTreeMap::new();
    if wants.is_empty() {
        return Ok(Ids(ids));
    }
    let request = Request::Resolve(Resolve { me: me.clone(), wants: wants.clone() });
    let Response::Resolved(answers) = control.call(context, request).await? else {
        return Err(unexpected("authoring.resolve"));
    };
    for ((want, (r, at)), answer) in wants.iter().zip(refs).zip(answers) {
        let versioned = want.content.is_some() || want.number.is_some();
        let (Some(id), false, true) = (answer.id, answer.archived, !versioned || answer.version.is_some()) else {
            let what = match (want.content, want.number) {
                (Some(content), _) => format!("{} with the content {}", want.key, content.short()),
                (None, Some(number)) => format!("version {number} of {}", want.key),
                (None, None) => want.key.clone(),
            };
            found.push(Diagnostic::new(&codes::REFERENCE, format!("{what} is not live")).at(at.clone(), ""));
            continue;
        };
        ids.insert(want.key.clone(), id);
        if let (Some(content), Some(version)) = (answer.content, answer.version) {
            if let Selector::Number(number) = r.selector {
                plan::pin(spec, r, number, &content);
            }
            ids.insert(format!("{}@{content}", want.key), version);
        }
    }
    Ok(Ids(ids))
}

/// Writes a change, if the resource is still what was opened.
///
/// # Errors
/// Whatever the workspace answers: `validation.conflict` where it is not.
pub async fn write<C: ControlPlane>(
    control: &C,
    context: &Context,
    opened: &Opened,
    change: &Change,
) -> Result<Option<Written>, ControlError> {
    let kind = opened.address.kind;
    let at = Expect { id: opened.id.clone(), version: Some(opened.version) };
    let request = match change {
        Change::Nothing => return Ok(None),
        Change::Fields { spec, fields, ids } => {
            let body = (kinds::def(kind).to_wire)(spec, ids, Some(fields)).map_err(|e| missing(&e))?;
            Request::Update(Update { kind, at, body, applied: None })
        }
        Change::Skill(text) => {
            let entry = put(control, context, text).await?;
            let others = opened.entries.iter().filter(|e| e.path != SKILL).cloned();
            let set = FileSet::new(others.chain([entry]).collect());
            let content = ContentOf { entries: set.entries, digest: set.digest };
            Request::Publish(Publish { kind, at, content, applied: None })
        }
    };
    match control.call(context, request).await? {
        Response::Written(written) | Response::Represented(written, _) => Ok(Some(written)),
        _ => Err(unexpected("update")),
    }
}

fn missing(id: &MissingId) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::REFERENCE.code, id.to_string())
}

async fn put<C: ControlPlane>(control: &C, context: &Context, text: &str) -> Result<Entry, ControlError> {
    let digest = Digest::of(text.as_bytes());
    let put = BlobPut { digest, bytes: text.as_bytes().to_vec() };
    control.call(context, Request::BlobPut(put)).await?;
    let path = SKILL.to_owned();
    Ok(Entry { path, executable: false, symlink: false, size: text.len() as u64, sha256: digest })
}

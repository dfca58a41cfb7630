//! Thin readers: what is live, what was applied. One question each, paged where the answer may be long.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::model::kinds::{self, Refs};
use crate::model::op::{
    ApplyInfo, ApplyList, BlobGet, Context, GetId, GetOf, ListOf, ListView, LoadedBody, OwnerState, Page, Request,
    Response, Summary, VersionOf, Want,
};
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::{self, FieldChange};
use crate::reconcile::ask::Ask;

/// What an owner has, of one kind or of all.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn summaries<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: &Owner,
    kind: Option<Kind>,
) -> Result<Vec<Summary>, ControlError> {
    Ask { control, context, me: owner }.summaries(kind).await
}

/// Applies, newest first; `owner` narrows to one owner's.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn history<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: Option<&Owner>,
    limit: u32,
) -> Result<Vec<ApplyInfo>, ControlError> {
    let request = Request::ApplyList(ApplyList { owner: owner.cloned(), page: None, limit: Some(limit) });
    match control.call(context, request).await? {
        Response::Applies(applies) => Ok(applies.data),
        _ => Err(unexpected("applies.list")),
    }
}

/// One Apply with its lines.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn show<C: ControlPlane>(control: &C, context: &Context, id: &str) -> Result<ApplyInfo, ControlError> {
    match control.call(context, Request::ApplyGet(GetId { id: id.to_owned() })).await? {
        Response::Apply(apply) => Ok(*apply),
        _ => Err(unexpected("applies.get")),
    }
}

/// Field changes by action, as far as the journal has the form before and the one after: of what was applied at an
/// address before, and by earlier actions of the same Apply.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn changes<C: ControlPlane>(
    control: &C,
    context: &Context,
    apply: &ApplyInfo,
) -> Result<BTreeMap<String, Vec<FieldChange>>, ControlError> {
    let ask = Ask { control, context, me: &apply.owner };
    let mut forms: BTreeMap<Address, Arc<Value>> = BTreeMap::new();
    if let Some(before) = before(control, context, apply).await? {
        forms.extend(ask.state(&before).await?.into_iter().map(|r| (r.address, r.applied.spec)));
    }
    let mut out = BTreeMap::new();
    for line in apply.lines.iter().filter(|line| line.outcome == "done" && line.id.is_some()) {
        let Some((Ok(address), verb)) = line.action.split_once('#').map(|(at, verb)| (at.parse(), verb)) else {
            continue;
        };
        // Of what goes, the line names the form that went.
        if ["retire", "release", "hand-over"].iter().any(|gone| verb.starts_with(gone)) {
            continue;
        }
        let Some(after) = line.spec.as_ref().and_then(|digest| apply.specs.get(&digest.to_string())) else { continue };
        let changes = forms.get(&address).map(|before| plan::between(before, after)).unwrap_or_default();
        if !changes.is_empty() {
            out.insert(line.action.clone(), changes);
        }
        forms.insert(address, Arc::new(after.clone()));
    }
    Ok(out)
}

/// Most resources of a page of a list of any kind.
const PAGE: u32 = 100;

/// A live resource, whoever owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its live id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Owner and address; `None` = unowned.
    pub owner: Option<(Owner, Address)>,
    /// Is it archived?
    pub archived: bool,
}

impl Found {
    fn of(kind: Kind, body: &Value) -> Option<Self> {
        let authoring = body.get("authoring");
        let text = |key: &str| authoring.and_then(|a| a.get(key)).and_then(Value::as_str);
        let owner = text("owner").and_then(|o| o.parse().ok()).zip(text("address").and_then(|a| a.parse().ok()));
        let archived = body.get("archived_at").is_some_and(|at| !at.is_null());
        Some(Self { id: body.get("id")?.as_str()?.to_owned(), kind, owner, archived })
    }
}

/// What nobody owns, of these kinds, with these labels; archived ones are not among it.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn unowned<C: ControlPlane>(
    control: &C,
    context: &Context,
    kinds: &[Kind],
    labels: &[(String, String)],
) -> Result<Vec<Found>, ControlError> {
    let mut out = Vec::new();
    for kind in kinds {
        let mut list = ListOf {
            kind: *kind,
            owner: None,
            labels: labels.iter().cloned().collect(),
            include_archived: false,
            view: ListView::Summary,
            created_from: None,
            created_to: None,
            source: None,
            page: None,
            limit: Some(PAGE),
        };
        loop {
            let Response::Bodies(Page { data, next_page }) = control.call(context, Request::List(list.clone())).await?
            else {
                return Err(unexpected("list"));
            };
            out.extend(data.iter().filter_map(|body| Found::of(*kind, body)).filter(|f| f.owner.is_none()));
            // A page that points at itself would never end.
            if next_page.is_none() || next_page == list.page {
                break;
            }
            list.page = next_page;
        }
    }
    Ok(out)
}

/// The Apply of the same owner that began before this one.
async fn before<C: ControlPlane>(
    control: &C,
    context: &Context,
    apply: &ApplyInfo,
) -> Result<Option<String>, ControlError> {
    let mut question = ApplyList { owner: Some(apply.owner.clone()), page: None, limit: Some(1_000) };
    let mut found = false;
    loop {
        let Response::Applies(page) = control.call(context, Request::ApplyList(question.clone())).await? else {
            return Err(unexpected("applies.list"));
        };
        for one in page.data {
            if found {
                return Ok(Some(one.id));
            }
            found = one.id == apply.id;
        }
        if page.next_page.is_none() || page.next_page == question.page {
            return Ok(None);
        }
        question.page = page.next_page;
    }
}

/// The resource of a live id, whoever owns it. `None`: the id is of no kind.
///
/// # Errors
/// Whatever the workspace answers; `resource.not_found` where there is none.
pub async fn one<C: ControlPlane>(control: &C, context: &Context, id: &str) -> Result<Option<Found>, ControlError> {
    let Some(def) = kinds::KINDS.iter().find(|def| id.starts_with(def.id_prefix)) else { return Ok(None) };
    let request = Request::Get(GetOf { kind: def.kind, id: id.to_owned(), version: None });
    match control.call(context, request).await? {
        Response::Body(body) => Ok(Found::of(def.kind, &body)),
        _ => Err(unexpected("get")),
    }
}

/// Bodies of these ids with what the ids in them mean, as `owner` sees it.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn bodies<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: &Owner,
    ids: &[String],
) -> Result<(Vec<LoadedBody>, Refs), ControlError> {
    let (mut all, mut refs) = (Vec::new(), Refs { me: Some(owner.clone()), ..Refs::default() });
    let ask = Ask { control, context, me: owner };
    ask.bodies(ids, |loaded| {
        all.extend(loaded.bodies);
        refs.resources.extend(loaded.refs.resources);
        refs.superseded.extend(loaded.refs.superseded);
        refs.contents.extend(loaded.refs.contents);
    })
    .await?;
    Ok((all, refs))
}

/// The files of the newest version of a skill or tree that has this content; none if there is no such version.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn entries_of<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: &Owner,
    (kind, id): (Kind, &str),
    content: Digest,
) -> Result<Option<Vec<Entry>>, ControlError> {
    let ask = Ask { control, context, me: owner };
    let want = Want { key: id.to_owned(), content: Some(content), number: None };
    let Some(version) = ask.resolve(&[want]).await?.into_iter().find_map(|r| r.version) else { return Ok(None) };
    let of = VersionOf { kind, id: id.to_owned(), version };
    let request = if kind == Kind::FileTree { Request::Tree(of) } else { Request::Content(of) };
    match control.call(context, request).await? {
        Response::Entries(entries) => Ok(Some(entries)),
        _ => Err(unexpected("versions.entries")),
    }
}

/// The record of an owner.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn owner<C: ControlPlane>(control: &C, context: &Context, owner: &Owner) -> Result<OwnerState, ControlError> {
    Ask { control, context, me: owner }.owner().await
}

/// Bytes that the workspace holds.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn bytes<C: ControlPlane>(control: &C, context: &Context, digest: Digest) -> Result<Vec<u8>, ControlError> {
    match control.call(context, Request::BlobGet(BlobGet { digest })).await? {
        Response::Bytes(bytes) => Ok(bytes),
        _ => Err(unexpected("blobs.get")),
    }
}

/// The same as a text; `None` where it is none, is too long, or is gone by now.
///
/// # Errors
/// Whatever else the workspace answers.
pub async fn text<C: ControlPlane>(
    control: &C,
    context: &Context,
    digest: Digest,
    longest: usize,
) -> Result<Option<String>, ControlError> {
    match bytes(control, context, digest).await {
        Ok(bytes) if bytes.len() <= longest && !bytes.contains(&0) => Ok(String::from_utf8(bytes).ok()),
        Ok(_) => Ok(None),
        Err(e) if e.kind == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The memories of a store at one of its versions, by path.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn memories_at<C: ControlPlane>(
    control: &C,
    context: &Context,
    store: &str,
    version: u64,
) -> Result<Vec<(String, Digest)>, ControlError> {
    let at = VersionOf { kind: Kind::MemoryStore, id: store.to_owned(), version: version.to_string() };
    let Response::Body(body) = control.call(context, Request::Version(at)).await? else {
        return Err(unexpected("memory_stores.version"));
    };
    let entries = body.get("entries").and_then(Value::as_array);
    let one = |e: &Value| Some((e.get("path")?.as_str()?.to_owned(), e.get("sha256")?.as_str()?.parse().ok()?));
    Ok(entries.into_iter().flatten().filter_map(one).collect())
}

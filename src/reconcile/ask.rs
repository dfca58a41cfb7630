//! Questions to a workspace, in batches and pages. Reads only; each function is one kind of question.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{
    ApplyInfo, ApplyList, Context, Digests, Find, IdList, Loaded, OwnerOf, OwnerState, Page, Recorded, Referrer,
    Request, Resolve, Resolved, Response, StateAt, Summaries, Summary, Want,
};
use crate::model::{Address, Digest, Kind, Owner};

/// Most items in one question.
const BATCH: usize = 1_000;
/// Most bytes of texts in a question that goes into a URL.
const URL: usize = 16 << 10;
/// Bodies are heavier.
const BODIES: usize = 500;
/// So are recorded forms, with the files of each.
const STATE: u32 = 200;
/// Questions of one kind that are open at once; a workspace over a network has its own bound.
const AT_ONCE: usize = 10;
/// Answers with bodies are held until their turn.
const BODIES_AT_ONCE: usize = 4;

/// Who asks whom.
pub(crate) struct Ask<'a, C> {
    pub(crate) control: &'a C,
    pub(crate) context: &'a Context,
    pub(crate) me: &'a Owner,
}

impl<C: ControlPlane> Ask<'_, C> {
    /// The owner's record and digest.
    pub(crate) async fn owner(&self) -> Result<OwnerState, ControlError> {
        let request = Request::Owner(OwnerOf { owner: self.me.clone() });
        match self.call(request).await? {
            Response::Owner(owner) => Ok(*owner),
            _ => Err(unexpected("authoring.owner")),
        }
    }

    /// Summaries of all that this owner has, or of one kind, paged, the kinds side by side.
    pub(crate) async fn summaries(&self, kind: Option<Kind>) -> Result<Vec<Summary>, ControlError> {
        let of =
            |kind| Summaries { owner: Some(self.me.clone()), kind: Some(kind), names: vec![], page: None, limit: None };
        let kinds = Kind::ALL.into_iter().filter(|k| kind.is_none_or(|only| only == *k));
        let kinds = kinds.map(|kind| self.pages(of(kind))).collect();
        self.side_by_side(kinds).await
    }

    /// Unowned resources with one of these shown names.
    pub(crate) async fn unowned(&self, names: &[String]) -> Result<Vec<Summary>, ControlError> {
        let of =
            |names: &[String]| Summaries { owner: None, kind: None, names: names.to_vec(), page: None, limit: None };
        let batches = in_urls(names).into_iter().map(|names| self.pages(of(names))).collect();
        self.side_by_side(batches).await
    }

    /// All unowned resources, the kinds side by side.
    pub(crate) async fn nobodys(&self) -> Result<Vec<Summary>, ControlError> {
        let of = |kind| Summaries { owner: None, kind: Some(kind), names: vec![], page: None, limit: None };
        self.side_by_side(Kind::ALL.into_iter().map(|kind| self.pages(of(kind))).collect()).await
    }

    /// What other owners have at these addresses, what is offered to this one there, and what has these ids.
    pub(crate) async fn find(&self, addresses: &[Address], ids: &[String]) -> Result<Vec<Summary>, ControlError> {
        let by_address = addresses.chunks(Find::MOST).map(|addresses| (addresses, &[][..]));
        let by_id = ids.chunks(Find::MOST).map(|ids| (&[][..], ids));
        let questions = by_address.chain(by_id).map(|(addresses, ids)| self.found(addresses, ids));
        self.side_by_side(questions.collect()).await
    }

    /// Bodies of these ids, one answer a batch, each handed on as it comes: all at once they are many times the
    /// files. Without an id there is still one answer: what was retired.
    pub(crate) async fn bodies(&self, ids: &[String], mut take: impl FnMut(Loaded)) -> Result<(), ControlError> {
        let mut batches: Vec<_> = ids.chunks(BODIES).map(|ids| self.loaded(ids)).collect();
        if batches.is_empty() {
            batches.push(self.loaded(&[]));
        }
        let mut answers = stream::iter(batches).buffered(BODIES_AT_ONCE);
        while let Some(loaded) = answers.try_next().await? {
            take(loaded);
        }
        Ok(())
    }

    /// What references mean in this workspace, in the order of the wants.
    pub(crate) async fn resolve(&self, wants: &[Want]) -> Result<Vec<Resolved>, ControlError> {
        self.side_by_side(wants.chunks(BATCH).map(|wants| self.resolved(wants)).collect()).await
    }

    /// Who refers to these ids.
    pub(crate) async fn referrers(&self, ids: &[String]) -> Result<Vec<Referrer>, ControlError> {
        self.side_by_side(in_urls(ids).into_iter().map(|ids| self.referring(ids)).collect()).await
    }

    /// Which of these blobs the workspace lacks.
    pub(crate) async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, ControlError> {
        self.side_by_side(digests.chunks(BATCH).map(|digests| self.lacking(digests)).collect()).await
    }

    /// What the owner of an Apply had once that had ended.
    pub(crate) async fn state(&self, apply: &str) -> Result<Vec<Recorded>, ControlError> {
        let mut question = StateAt { apply: apply.to_owned(), page: None, limit: Some(STATE) };
        let mut all = Vec::new();
        loop {
            let Response::State(Page { data, next_page }) = self.call(Request::ApplyState(question.clone())).await?
            else {
                return Err(unexpected("applies.state"));
            };
            all.extend(data);
            if next_page.is_none() || next_page == question.page {
                return Ok(all);
            }
            question.page = next_page;
        }
    }

    /// The newest applies of this owner, newest first.
    pub(crate) async fn applies(&self, most: u32) -> Result<Vec<ApplyInfo>, ControlError> {
        let question = ApplyList { owner: Some(self.me.clone()), page: None, limit: Some(most) };
        match self.call(Request::ApplyList(question)).await? {
            Response::Applies(page) => Ok(page.data),
            _ => Err(unexpected("applies.list")),
        }
    }

    async fn side_by_side<T, F>(&self, questions: Vec<F>) -> Result<Vec<T>, ControlError>
    where
        F: Future<Output = Result<Vec<T>, ControlError>>,
    {
        stream::iter(questions).buffered(AT_ONCE).try_concat().await
    }

    async fn pages(&self, mut question: Summaries) -> Result<Vec<Summary>, ControlError> {
        let mut all = Vec::new();
        loop {
            let Response::Summaries(Page { data, next_page }) = self.call(Request::Summaries(question.clone())).await?
            else {
                return Err(unexpected("authoring.summaries"));
            };
            all.extend(data);
            // A page that points at itself would never end.
            if next_page.is_none() || next_page == question.page {
                return Ok(all);
            }
            question.page = next_page;
        }
    }

    async fn found(&self, addresses: &[Address], ids: &[String]) -> Result<Vec<Summary>, ControlError> {
        let request = Request::Find(Find { me: self.me.clone(), addresses: addresses.to_vec(), ids: ids.to_vec() });
        match self.call(request).await? {
            Response::Summaries(page) => Ok(page.data),
            _ => Err(unexpected("authoring.find")),
        }
    }

    async fn loaded(&self, ids: &[String]) -> Result<Loaded, ControlError> {
        let request = Request::Bodies(IdList { ids: ids.to_vec(), me: Some(self.me.clone()) });
        match self.call(request).await? {
            Response::Loaded(loaded) => Ok(loaded),
            _ => Err(unexpected("authoring.bodies")),
        }
    }

    async fn resolved(&self, wants: &[Want]) -> Result<Vec<Resolved>, ControlError> {
        match self.call(Request::Resolve(Resolve { me: self.me.clone(), wants: wants.to_vec() })).await? {
            Response::Resolved(resolved) => Ok(resolved),
            _ => Err(unexpected("authoring.resolve")),
        }
    }

    async fn referring(&self, ids: &[String]) -> Result<Vec<Referrer>, ControlError> {
        match self.call(Request::Referrers(IdList { ids: ids.to_vec(), me: Some(self.me.clone()) })).await? {
            Response::Referrers(referrers) => Ok(referrers),
            _ => Err(unexpected("authoring.referrers")),
        }
    }

    async fn lacking(&self, digests: &[Digest]) -> Result<Vec<Digest>, ControlError> {
        match self.call(Request::BlobsMissing(Digests { digests: digests.to_vec() })).await? {
            Response::Missing(missing) => Ok(missing),
            _ => Err(unexpected("blobs.missing")),
        }
    }

    async fn call(&self, request: Request) -> Result<Response, ControlError> {
        self.control.call(self.context, request).await
    }
}

/// Batches that fit into a URL, where any byte but letters, digits and `_` takes three.
fn in_urls(texts: &[String]) -> Vec<&[String]> {
    let written = |text: &String| -> usize {
        8 + text.bytes().map(|b| if b.is_ascii_alphanumeric() || b == b'_' { 1 } else { 3 }).sum::<usize>()
    };
    let mut batches = Vec::new();
    let mut rest = texts;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take(BATCH).take_while(|text| {
            bytes += written(text);
            bytes <= URL
        });
        let (batch, more) = rest.split_at(fits.count().max(1));
        batches.push(batch);
        rest = more;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fit_into_urls() {
        let sizes = |texts: &[String]| in_urls(texts).iter().map(|b| b.len()).collect::<Vec<_>>();
        assert!(sizes(&[]).is_empty());
        assert_eq!(sizes(&vec!["a".repeat(32); 1_000]), [409, 409, 182]);
        assert_eq!(sizes(&vec![String::new(); 2_500]), [1_000, 1_000, 500]);
        assert_eq!(sizes(&vec!["\u{fc}".repeat(20_000); 2]), [1, 1]);
    }
}

//! Questions to a workspace, in batches and pages. Reads only; each function is one kind of question.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{
    Context, Digests, IdList, Loaded, OwnerOf, OwnerState, Page, Referrer, Request, Resolve, Resolved, Response,
    Summaries, Summary, Want,
};
use crate::model::{Digest, Kind, Owner};

/// Most items in one question.
const BATCH: usize = 1_000;
/// Bodies are heavier.
const BODIES: usize = 500;
/// Questions of one kind that are open at once.
const AT_ONCE: usize = 4;

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
        let batches = names.chunks(BATCH).map(|names| self.pages(of(names))).collect();
        self.side_by_side(batches).await
    }

    /// Bodies of these ids, one answer a batch, each handed on as it comes: all at once they are many times the
    /// files. Without an id there is still one answer: what was retired.
    pub(crate) async fn bodies(&self, ids: &[String], mut take: impl FnMut(Loaded)) -> Result<(), ControlError> {
        let mut batches: Vec<_> = ids.chunks(BODIES).map(|ids| self.loaded(ids)).collect();
        if batches.is_empty() {
            batches.push(self.loaded(&[]));
        }
        let mut answers = stream::iter(batches).buffered(AT_ONCE);
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
        self.side_by_side(ids.chunks(BATCH).map(|ids| self.referring(ids)).collect()).await
    }

    /// Which of these blobs the workspace lacks.
    pub(crate) async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, ControlError> {
        self.side_by_side(digests.chunks(BATCH).map(|digests| self.lacking(digests)).collect()).await
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

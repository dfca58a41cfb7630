//! One apply while it runs: begin, the walk over the graph; and its end.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;

use crate::apply::content::Uploads;
use crate::apply::line::{self, DONE, End};
use crate::apply::schedule::Schedule;
use crate::apply::send::{Sender, unexpected};
use crate::apply::step::{KeyScope, Known, Prepared, prepare};
use crate::apply::{ApplyError, ApplyOptions, Event};
use crate::control::{Blobs, ControlError, ControlPlane};
use crate::model::Digest;
use crate::model::op::{ApplyBegin, ApplyEnd, ApplyList, Began, Context, ReceiptLine, Request, Response};
use crate::plan::{Action, Plan};
use crate::receipt::Receipt;

/// All that an apply needs.
pub(crate) struct Job<'a, C, B> {
    pub(crate) plan: &'a Plan,
    /// Of the workspace.
    pub(crate) epoch: String,
    pub(crate) sender: Sender<'a, C>,
    pub(crate) blobs: &'a B,
    pub(crate) uploads: Uploads,
    pub(crate) context: Context,
    pub(crate) options: &'a ApplyOptions,
}

/// An apply whose actions are over. Its Apply is open until [`Walked::end`]; no resource is written by that, so
/// the workspace can be read back at the same time.
#[must_use = "the Apply is open"]
pub struct Walked<'a, C> {
    receipt: Receipt,
    open: Option<Open<'a, C>>,
}

/// An Apply that has begun.
struct Open<'a, C> {
    id: String,
    sender: Sender<'a, C>,
    context: Context,
}

impl<C: ControlPlane> Walked<'_, C> {
    /// Of an apply that began nothing.
    pub(crate) fn nothing(receipt: Receipt) -> Self {
        Self { receipt, open: None }
    }

    /// What happened; complete.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Ends the Apply, if one was begun.
    ///
    /// # Errors
    /// [`ApplyError::NotEnded`].
    pub async fn end(self) -> Result<Receipt, ApplyError> {
        let Self { receipt, open } = self;
        let Some(open) = open else { return Ok(receipt) };
        match open.end(&receipt).await {
            Ok(()) => Ok(receipt),
            Err(source) => Err(ApplyError::NotEnded { receipt: Box::new(receipt), source }),
        }
    }
}

impl<C: ControlPlane> Open<'_, C> {
    async fn end(self, receipt: &Receipt) -> Result<(), ControlError> {
        let Self { id, sender, context } = self;
        let lines = receipt.lines.iter().filter(|l| l.outcome != DONE).cloned().collect();
        let context = Context { key: Some(format!("{id}:end")), ..context };
        let request = Request::ApplyEnd(ApplyEnd { id, outcome: line::word(receipt.outcome).to_owned(), lines });
        sender.send(&context, request).await.map(|_| ())
    }
}

/// Begins the Apply and walks.
pub(crate) async fn run<C: ControlPlane, B: Blobs>(
    mut job: Job<'_, C, B>,
    schedule: Schedule,
) -> Result<Walked<'_, C>, ApplyError> {
    let began = job.begin().await.map_err(|source| ApplyError::Control { doing: "begin the Apply", source })?;
    let total = job.plan.actions.len();
    (job.sender.events)(Event::Began { apply: began.id.clone(), total, other: began.other.clone() });
    job.context.apply = Some(began.id.clone());
    let (lines, stopped) = Walk::new(&job, schedule).walk().await;
    let mut receipt = line::receipt(job.plan, Some(began.id.clone()), lines, stopped);
    receipt.other_apply = began.other;
    Ok(Walked { receipt, open: Some(Open { id: began.id, sender: job.sender, context: job.context }) })
}

/// The most Applies that are answered at once.
const APPLIES: u32 = 1_000;

/// Does all that this owner has in the workspace come from this very plan? With more Applies than can be seen at
/// once it does not: nobody breaks off one plan as often.
pub(crate) async fn only_of_this_plan<C: ControlPlane>(
    plan: &Plan,
    sender: &Sender<'_, C>,
    context: &Context,
) -> Result<bool, ControlError> {
    let request = Request::ApplyList(ApplyList { owner: Some(plan.owner.clone()), page: None, limit: Some(APPLIES) });
    let Response::Applies(applies) = sender.send(context, request).await? else {
        return Err(unexpected("applies.list"));
    };
    let all_seen = !applies.data.is_empty() && applies.data.len() < APPLIES as usize;
    Ok(all_seen && applies.data.iter().all(|a| a.plan_digest == plan.digest))
}

impl<C: ControlPlane, B: Blobs> Job<'_, C, B> {
    async fn begin(&self) -> Result<Began, ControlError> {
        let request = Request::ApplyBegin(ApplyBegin {
            plan_digest: self.plan.digest,
            owner: self.plan.owner.clone(),
            source: self.plan.source.clone(),
            addresses: {
                let mut all: Vec<_> = self.plan.actions.iter().filter_map(|a| a.address.clone()).collect();
                all.sort();
                all.dedup();
                all
            },
        });
        let key = self.options.run.as_ref().map(|run| {
            Digest::of_json(&("applies.begin", &self.epoch, &self.plan.owner, self.plan.digest, run)).to_string()
        });
        let context = Context { key, ..self.context.clone() };
        match self.sender.send(&context, request).await? {
            Response::Began(began) => Ok(began),
            _ => Err(unexpected("applies.begin")),
        }
    }

    /// Uploads what the action needs, then sends it.
    async fn perform(&self, index: usize, prepared: Prepared) -> (usize, End) {
        let action = &self.plan.actions[index];
        if let Err(error) = self.uploads.send_for(action, &self.sender, self.blobs, &self.context).await {
            return (index, End::no_body(&error));
        }
        let Prepared { request, key } = prepared;
        // Memory contents may come back to what they were, and then the same change is due, and has the same
        // key, a second time. The comparison by path, not the key, is what keeps such a write from being
        // repeated, so one that was undone since is sent once more under a key of this Apply.
        let again = matches!(request, Request::WriteContents(_)).then(|| request.clone());
        let mut answer = self.send_as(action, key.clone(), request).await;
        if let (Some(request), Ok(Response::Written(w))) = (again, &answer)
            && w.replayed
            && w.moved
        {
            let key = format!("{key}:{}", self.context.apply.as_deref().unwrap_or_default());
            answer = self.send_as(action, key, request).await;
        }
        let end = match answer {
            Ok(Response::Written(written)) => End::written(Some(written)),
            Ok(Response::Done) => End::written(None),
            Ok(_) => End::refused(&unexpected(&action.operation)),
            Err(error) => End::refused(&error),
        };
        (index, end)
    }

    async fn send_as(&self, action: &Action, key: String, request: Request) -> Result<Response, ControlError> {
        let context = Context { action: Some(action.id.clone()), key: Some(key), ..self.context.clone() };
        self.sender.send(&context, request).await
    }
}

/// The walk over the graph.
struct Walk<'a, C, B> {
    job: &'a Job<'a, C, B>,
    schedule: Schedule,
    known: Known,
    ends: Vec<Option<End>>,
    in_flight: BTreeSet<usize>,
    /// The action that found the workspace out of reach.
    lost: Option<usize>,
}

impl<'a, C: ControlPlane, B: Blobs> Walk<'a, C, B> {
    fn new(job: &'a Job<'a, C, B>, schedule: Schedule) -> Self {
        let ends = job.plan.actions.iter().map(|_| None).collect();
        Self { known: Known::new(job.plan.ids.clone()), job, schedule, ends, in_flight: BTreeSet::new(), lost: None }
    }

    /// Runs until nothing is in flight and nothing may start. Returns a line for every action, in plan order,
    /// and whether a person stopped it.
    async fn walk(mut self) -> (Vec<ReceiptLine>, bool) {
        let most = self.job.options.parallelism.max(1);
        let mut stop = Stop { signal: self.job.options.stop.clone(), closed: false };
        let mut stopped = false;
        let mut flights = FuturesUnordered::new();
        loop {
            if !stopped && stop.is_set() {
                stopped = true;
                self.tell(Event::Stopping { in_flight: flights.len() });
            }
            while !stopped && self.lost.is_none() && flights.len() < most {
                let Some(index) = self.schedule.next() else { break };
                if let Some(prepared) = self.start(index) {
                    flights.push(self.job.perform(index, prepared));
                }
            }
            if flights.is_empty() {
                break;
            }
            if !stopped && self.lost.is_none() && flights.len() < most && self.schedule.left() > 0 {
                let on = self.in_flight.iter().map(|i| self.action(*i).id.clone()).collect();
                self.tell(Event::Waiting { on, left: self.schedule.left() });
            }
            tokio::select! {
                biased;
                () = stop.set(), if !stopped => {}
                Some((index, end)) = flights.next() => self.ended(index, end),
            }
        }
        let lost = self.lost.map(|index| self.action(index));
        let lines = self.job.plan.actions.iter().zip(self.ends).map(|(action, end)| {
            let end = end.unwrap_or_else(|| End::not_started(lost));
            end.line(action)
        });
        (lines.collect(), stopped)
    }

    /// Makes the request of an action; without one it has failed.
    fn start(&mut self, index: usize) -> Option<Prepared> {
        let scope = KeyScope { epoch: &self.job.epoch, owner: &self.job.plan.owner };
        match prepare(self.action(index), &self.known, &scope) {
            Ok(prepared) => {
                self.in_flight.insert(index);
                self.tell(Event::Started { id: self.action(index).id.clone() });
                Some(prepared)
            }
            Err(error) => {
                self.ended(index, End::no_request(&error));
                None
            }
        }
    }

    fn ended(&mut self, index: usize, end: End) {
        self.in_flight.remove(&index);
        let action = self.action(index);
        if let (DONE, Some(written)) = (end.outcome, &end.written) {
            self.known.learn(action, written);
        }
        if end.lost {
            self.lost.get_or_insert(index);
        }
        let outcome = end.outcome;
        self.close(index, end);
        for blocked in self.schedule.end(index, outcome == DONE) {
            let end = End::blocked(&blocked, self.action(blocked.cause), outcome);
            self.close(blocked.index, end);
        }
    }

    fn close(&mut self, index: usize, end: End) {
        let id = self.action(index).id.clone();
        self.tell(Event::Ended { id, outcome: end.outcome, error: end.error.clone() });
        self.ends[index] = Some(end);
    }

    fn action(&self, index: usize) -> &'a Action {
        &self.job.plan.actions[index]
    }

    fn tell(&self, event: Event) {
        (self.job.sender.events)(event);
    }
}

/// The stop signal; one whose sender is gone never comes.
struct Stop {
    signal: watch::Receiver<bool>,
    closed: bool,
}

impl Stop {
    fn is_set(&self) -> bool {
        *self.signal.borrow()
    }

    async fn set(&mut self) {
        if self.closed || self.signal.wait_for(|stop| *stop).await.is_err() {
            self.closed = true;
            std::future::pending::<()>().await;
        }
    }
}

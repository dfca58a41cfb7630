//! Desired and live → a plan: every operation that apply will make, in order, and under which preconditions.
//! A synchronous function of values.
//!
//! ```text
//! scope ─▶ readdress ─▶ items (numbers → content) ─▶ compare (three values a field) ─▶ block ─▶ actions ─▶ edges
//!                                                                                        └─▶ policy, notes ─▶ order, digest
//! ```

mod actions;
mod block;
mod capability;
mod changes;
mod check;
mod compare;
mod deep;
mod digest;
mod drift;
mod edges;
mod exchange;
mod exit;
mod file;
mod given;
mod hold;
mod item;
mod keep;
mod memory;
mod order;
mod ownership;
mod pins;
mod places;
mod policy;
mod readdress;
mod record;
mod retire;
mod returns;
mod room;
mod scope;
mod selectors;
mod since;
mod standing;
mod strangers;
mod taken;
mod told;
pub mod types;
mod undone;

#[cfg(test)]
mod tests;

pub use changes::between;
pub use check::check;
pub use compare::moved_live;
pub use digest::{action_digest, digest};
pub use drift::*;
pub use exit::exit_code;
pub use file::{MOST_BYTES, PlanFileError, read, write};
pub use item::{carries, may_be_replaced_along, pin};
pub use keep::{Left, keep, left};
use scope::Pattern;
pub use scope::{Addresses, Scope};
pub use since::{DIFF_FORMAT, changed, since};
pub use standing::{NOTE_OF_UNDONE, SourceRelation, place_of};
pub use types::*;
pub use undone::was_undone;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::desired::{Desired, Wanted};
use crate::diag::{Code, bounded};
use crate::live::{self, Live};
use crate::model::config::{AllowRule, Allowance, Policy};
use crate::model::kinds::Ids;
use crate::model::{Address, Digest, Kind};

/// What a person asked for beside the files.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--allow RULE[=ADDRESS]`.
    pub allowances: Vec<Allowance>,
    /// Which part. Default: all.
    pub scope: Scope,
    /// Addresses whose live moves are put back, with globs.
    pub revert: Addresses,
    /// All live moves are put back.
    pub revert_all: bool,
    /// Today, for whoever shows dates; no action depends on it.
    pub today: jiff::civil::Date,
    /// Plan the empty set: retire all that this owner has.
    pub destroy: bool,
    /// `desired` is what an earlier Apply recorded: what it undoes is noted, so that it does not come back by itself.
    pub rollback: bool,
    /// Which workspace.
    pub origin: Origin,
    /// Version of the tool, as in `0.1.0`.
    pub tool_version: String,
    /// How the source stands to the one last applied.
    pub source_relation: SourceRelation,
    /// A policy that judges beside the one of the files and the one that was last applied: what it limits or protects
    /// stays so until a person answers. Of files under review it is the policy of the branch that they are to get into.
    pub limits: Option<Policy>,
}

impl Options {
    /// Are the live moves of this resource put back?
    fn reverts(&self, address: &Address, desired: &Desired) -> bool {
        self.revert_all || self.revert.name(address) || desired.policy.on_drift == crate::model::config::OnDrift::Revert
    }
}

/// The allowances, ready to match.
struct Allowed(Vec<(AllowRule, Option<Pattern>)>);

impl Allowed {
    fn new(options: &Options) -> Self {
        let of = |a: &Allowance| (a.rule, a.subject.as_deref().map(Pattern::new));
        Self(options.allowances.iter().map(of).collect())
    }

    /// Is a rule answered for this address?
    fn answers(&self, rule: AllowRule, address: Option<&Address>) -> bool {
        self.0.iter().any(|(r, subject)| {
            *r == rule
                && match (subject, address) {
                    (None, _) => true,
                    (Some(_), Some(address)) => self.names(rule, address),
                    (Some(_), None) => false,
                }
        })
    }

    /// Is a rule answered for this address by name?
    fn names(&self, rule: AllowRule, address: &Address) -> bool {
        let subjects = self.0.iter().filter(|(r, _)| *r == rule).filter_map(|(_, subject)| subject.as_ref());
        let mut subjects = subjects.peekable();
        subjects.peek().is_some() && {
            let text = address.to_string();
            subjects.any(|subject| subject.matches(&text))
        }
    }
}

/// What planning gathers beside actions.
#[derive(Debug, Default)]
struct Gathered {
    findings: Vec<Finding>,
    held: Vec<Held>,
    notes: Notes,
    ids: BTreeMap<String, String>,
}

impl Gathered {
    fn find(
        &mut self,
        code: &'static Code,
        effect: Effect,
        address: Option<&Address>,
        message: String,
    ) -> &mut Finding {
        let cut = match bounded(&message) {
            Cow::Owned(cut) => Some(cut),
            Cow::Borrowed(_) => None,
        };
        let at = self.findings.len();
        self.findings.push(Finding {
            code: code.code.to_owned(),
            effect,
            address: address.cloned(),
            message: cut.unwrap_or(message),
            fix: None,
            at: None,
        });
        &mut self.findings[at]
    }
}

impl Finding {
    fn fix(&mut self, fix: impl Into<String>) -> &mut Self {
        self.fix = Some(fix.into());
        self
    }

    fn at(&mut self, wanted: &Wanted) -> &mut Self {
        self.at = Some(wanted.at.to_string());
        self
    }
}

/// Plans. Never fails: what is wrong is a finding.
pub fn plan(desired: &Desired, live: &Live, options: &Options) -> Plan {
    let nothing_wanted = BTreeMap::new();
    let all = if options.destroy { &nothing_wanted } else { &desired.resources };
    let mut out = Gathered::default();
    selectors::check(all, live, options, &mut out);
    let scope = scope::select(all, live, options, &mut out);
    let placed = readdress::place(all, desired, live, &scope, options, &mut out);
    let live: &Live = &placed.live;
    let allowed = Allowed::new(options);
    let mut items = item::items((all, &desired.owner), &placed, &scope, &mut out);
    strangers::same_address(&mut items, &desired.owner, &placed, &allowed, &mut out);
    strangers::newer(all, live, &scope, &mut out);
    let digests = items.iter().map(|i| (&i.wanted.address, i.digest, i.wanted.protected));
    let desired_digest = desired_digest(&digests.collect::<Vec<_>>());
    let undone = undone::standing(live, options);
    let refused = pins::keep(undone, &mut items, desired, options);
    undone::leave_lost(&mut items, live, options, &mut out);
    let users = item::users(&items);
    let mut deltas: Vec<_> =
        items.iter().filter(|i| scope.holds(&i.wanted.address)).map(|i| compare::delta(i, desired, options)).collect();
    compare::follow_replaced(&mut deltas, &users, live, &desired.owner);
    exchange::settle(&mut deltas);
    let mut retired = retire::candidates(all, &placed, &scope);
    if let Some(undone) = undone {
        undone::keep_what_came_back(undone, &mut retired, &mut out);
    }
    let refused = &refused;
    let field =
        block::Field { deltas: &deltas, items: &items, users: &users, live, retired: &retired, undone, refused };
    let blocked = block::blocked(&field, &mut out);
    hold::report((&deltas, &blocked), desired, live, options, &mut out);
    retire::keep_what_is_used(&mut retired, &items, &deltas, &blocked, (&placed, &desired.owner), &mut out);

    // One action a resource is the rule, and one for the policy.
    let mut drafts = Vec::with_capacity(deltas.iter().filter(|d| d.acts()).count() + retired.len() + 1);
    let seen = undone::Seen { desired, live, options, deltas: &deltas, blocked: &blocked, retired: &retired };
    undone::tell_new_ids(&seen, &mut out);
    if let Some(undone) = undone {
        returns::tell(undone, live, deltas.iter().filter(|d| !blocked.contains(d.address())), &mut out);
    }
    standing::policy_action(desired, live, options, undone::after(&seen), &mut drafts);
    let building = actions::Building { desired, live, users: &users };
    for delta in deltas.iter().filter(|d| !blocked.contains(&d.item.wanted.address)) {
        building.drafts(delta, &mut drafts);
    }
    actions::retirements(&retired, &mut drafts);
    ownership::given(&placed, &mut drafts);
    let field =
        block::Field { deltas: &deltas, items: &items, users: &users, live, retired: &retired, undone, refused };
    let handovers = room::play(&field, &blocked).handovers();
    edges::connect(&mut drafts, &edges::Around { items: &items, retired: &retired, live, handovers }, &mut out);
    capability::describe(&mut drafts, &items, &retired);
    let actions = order::order(drafts);

    let case = policy::Case { desired, live, options, allowed, all, deltas: &deltas, retired: &retired };
    policy::judge(&case, &actions, &mut out);
    standing::standing_lines(desired, live, options, &deltas, &actions, &mut out);
    out.notes.unchanged = count(deltas.iter().filter(|d| d.is_same()).count());
    let covers_all = deltas.iter().all(|d| !blocked.contains(&d.item.wanted.address) || d.is_same());
    // Sealing needs room of its own, and nothing of this any more.
    drop(case);
    drop(deltas);
    drop(users);
    drop(items);
    finish(&Whole { desired, options, desired_digest, covers_all }, actions, out)
}

/// The declared addresses that the scope names, without what these need.
pub fn named(desired: &Desired, live: &Live, options: &Options) -> BTreeSet<Address> {
    let scope = scope::named(&desired.resources, live, options, &mut Gathered::default());
    desired.resources.keys().filter(|a| scope.holds(a)).cloned().collect()
}

/// The plan where one comparison of digests told that nothing differs: the owner's digest in the workspace is
/// [`owner_digest`] of the desired state, so [`Live::resources`] was not read.
pub fn nothing(desired: &Desired, live: &Live, options: &Options) -> Plan {
    let mut out = Gathered::default();
    selectors::check(&desired.resources, live, options, &mut out);
    let scope = scope::select(&desired.resources, live, options, &mut out);
    readdress::place(&desired.resources, desired, live, &scope, options, &mut out);
    strangers::newer(&desired.resources, live, &scope, &mut out);
    let mut drafts = Vec::new();
    let seen = undone::Seen { desired, live, options, deltas: &[], blocked: &BTreeSet::new(), retired: &[] };
    standing::policy_action(desired, live, options, undone::after(&seen), &mut drafts);
    let actions = order::order(drafts);
    standing::standing_lines(desired, live, options, &[], &actions, &mut out);
    for (address, found) in live.beside.iter().filter(|(a, _)| desired.resources.contains_key(*a)) {
        hold::beside(address, found, &mut out.notes);
    }
    out.notes.unchanged = count(desired.resources.len());
    out.notes.ignored = count(desired.resources.values().map(|w| w.unowned.len()).sum());
    let desired_digest = desired.digest();
    finish(&Whole { desired, options, desired_digest, covers_all: true }, actions, out)
}

/// What the owner's digest in the workspace is when there is nothing to do.
pub fn owner_digest(desired: &Desired) -> Digest {
    let rows: Vec<_> = desired.resources.values().map(|w| (&w.address, w.digest(), w.protected)).collect();
    live::owner_digest(
        rows.iter().map(|(address, digest, protected)| (*address, Some(*digest), Some(*digest), *protected)),
    )
}

/// As [`Desired::digest`], from digests that are known.
fn desired_digest(rows: &[(&Address, Digest, bool)]) -> Digest {
    Digest::of_json(rows)
}

struct Whole<'a> {
    desired: &'a Desired,
    options: &'a Options,
    desired_digest: Digest,
    covers_all: bool,
}

fn finish(of: &Whole<'_>, mut actions: Vec<Action>, mut out: Gathered) -> Plan {
    if of.options.rollback {
        undone::without_places(&mut actions, &mut out);
    }
    out.findings
        .sort_by(|a, b| (a.effect, &a.code, &a.address, &a.message).cmp(&(b.effect, &b.code, &b.address, &b.message)));
    out.held.sort_by(|a, b| (&a.address, &a.field).cmp(&(&b.address, &b.field)));
    out.notes.blocked.sort();
    let refused = out.findings.iter().any(|f| matches!(f.effect, Effect::Refuses | Effect::Error));
    let blocks = out.findings.iter().any(|f| f.effect == Effect::Blocks);
    let scope = of.options.scope.as_written();
    let mut plan = Plan {
        format: FORMAT.to_owned(),
        tool_version: of.options.tool_version.clone(),
        origin: of.options.origin.clone(),
        owner: of.desired.owner.clone(),
        source: of.desired.source.clone(),
        desired: of.desired_digest,
        policy: of.desired.policy.clone(),
        allowances: of.options.allowances.clone(),
        complete: scope.is_empty() && of.covers_all && !refused && !blocks,
        scope,
        ids: Ids(out.ids),
        actions,
        held: out.held,
        findings: out.findings,
        notes: out.notes,
        applyable: !refused,
        digest: Digest::from_bytes([0; 32]),
        seal: None,
    };
    digest::seal(&mut plan);
    plan
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Is this kind one that points at others (agents, mounts), rather than one that holds versions?
fn is_pointer(kind: Kind) -> bool {
    let def = crate::model::kinds::def(kind);
    def.field("skills").is_some() || def.field("mount_path").is_some()
}

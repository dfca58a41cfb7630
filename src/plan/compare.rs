//! Three values a field: wanted, last applied, live. What moved, and what is done about it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::desired::Desired;
use crate::live::{Live, LiveBody};
use crate::model::config::{Accept, Take};
use crate::model::kinds::{self, Change, Default_, Field, List, Ref, is_unowned};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::item::{self, Item, Users};
use crate::plan::memory::{self, Memories};
use crate::plan::readdress::Comes;
use crate::plan::{Cause, Options, record};

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is sent.
    Send(Cause),
    /// File and live agree, last-applied does not.
    Settle,
    /// Live moved, it stays.
    Held,
    /// Both moved, to different values.
    Conflict,
    /// Both moved, and an `accept:` line took what is live: that stays as long as the line is about it.
    Accepted,
}

impl Outcome {
    /// Does what is live stay, though the file says something else?
    pub(super) fn stays(self) -> bool {
        matches!(self, Outcome::Held | Outcome::Conflict | Outcome::Accepted)
    }
}

/// A field (or one key of a map) that is not the same three times.
#[derive(Debug)]
pub(super) struct FieldDelta<'a> {
    /// `instructions`, `labels.team`.
    pub(super) path: String,
    pub(super) field: &'static Field,
    pub(super) wanted: Option<&'a Value>,
    pub(super) applied: Option<&'a Value>,
    pub(super) live: Option<&'a Value>,
    /// It was not owned before, so what is live never moved.
    pub(super) again: bool,
    pub(super) outcome: Outcome,
}

impl FieldDelta<'_> {
    pub(super) fn sent(&self) -> Option<Cause> {
        match self.outcome {
            Outcome::Send(cause) => Some(cause),
            _ => None,
        }
    }
}

/// How a resource stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing to do and nothing to report.
    Same,
    /// Not live; made anew where `revived`.
    New { since: Option<String>, revived: bool },
    /// Archived or deleted by another, and left so.
    Gone,
    /// Fields were compared.
    Compared,
    /// The snapshot has no body to compare with.
    Unread,
    /// A finding says why nothing can be done.
    Broken,
}

/// A wanted resource against its live one.
pub(super) struct Delta<'a> {
    pub(super) item: &'a Item<'a>,
    pub(super) state: State,
    pub(super) fields: Vec<FieldDelta<'a>>,
    pub(super) memories: Option<Box<Memories>>,
    /// The list of fields that are not owned changed.
    pub(super) unowned_moved: bool,
    /// A change needs a new resource in the place of the old one.
    pub(super) replace: bool,
    /// It is retired and made anew, since others wait for its place and it for theirs.
    pub(super) anew: bool,
    /// It waits in a circle in which nothing can let go first; for whom.
    pub(super) stuck: Option<&'a Address>,
    /// Fields that are sent again since what they refer to has a new id.
    pub(super) follow: BTreeSet<&'static str>,
    /// Protection to set or clear.
    pub(super) protect: Option<bool>,
}

impl<'a> Delta<'a> {
    fn new(item: &'a Item<'a>, state: State) -> Self {
        Self {
            item,
            state,
            fields: Vec::new(),
            memories: None,
            unowned_moved: false,
            replace: false,
            anew: false,
            stuck: None,
            follow: BTreeSet::new(),
            protect: None,
        }
    }

    pub(super) fn address(&self) -> &'a Address {
        &self.item.wanted.address
    }

    /// Is it as wanted?
    pub(super) fn is_same(&self) -> bool {
        matches!(self.state, State::Same | State::Compared) && !self.acts() && !self.holds()
    }

    /// Did something move live that stays?
    pub(super) fn holds(&self) -> bool {
        self.fields.iter().any(|f| f.outcome.stays())
    }

    /// Did file and live move apart, and nobody decided? Of what another retired, the file may have moved too.
    pub(super) fn conflicts(&self) -> bool {
        let changed = || self.item.live.is_some_and(|l| l.summary.applied_digest != Some(self.item.digest));
        match self.state {
            State::Gone => changed(),
            _ => self.fields.iter().any(|f| f.outcome == Outcome::Conflict),
        }
    }

    /// Did an `accept:` line decide a conflict of it?
    pub(super) fn is_decided(&self) -> bool {
        let decided = |o: Outcome| matches!(o, Outcome::Accepted | Outcome::Send(Cause::Both));
        self.fields.iter().any(|f| decided(f.outcome)) || self.memories.as_ref().is_some_and(|m| m.decided)
    }

    /// Would there be an action?
    pub(super) fn acts(&self) -> bool {
        matches!(self.state, State::New { .. })
            || self.replace
            || self.item.comes.is_some()
            || self.protect.is_some()
            || self.unowned_moved
            || !self.follow.is_empty()
            || self.fields.iter().any(|f| matches!(f.outcome, Outcome::Send(_) | Outcome::Settle))
            || self.memories.as_ref().is_some_and(|m| m.writes() || m.settle)
    }

    /// Sends a field again, since what it refers to has a new id; not one that is not owned, or moved live and stays. A field that
    /// cannot change in place makes its holder anew. Says whether it does so now.
    fn follow(&mut self, field: &'static str) -> bool {
        let unowned = is_unowned(&self.item.wanted.unowned, field);
        let stays = self.fields.iter().any(|f| f.field.name == field && f.outcome.stays());
        if unowned || self.is_create() || stays {
            return false;
        }
        self.follow.insert(field);
        self.replace = self.item.def.field(field).is_some_and(|f| f.change == Change::Replace);
        self.replace
    }

    /// Does a resource that was live before get another id?
    fn gets_new_id(&self) -> bool {
        self.replace || matches!(self.state, State::New { revived: true, .. })
    }

    /// Is a whole new resource sent?
    pub(super) fn is_create(&self) -> bool {
        matches!(self.state, State::New { .. }) || self.replace || self.anew
    }

    /// Does the action that this makes send a reference?
    pub(super) fn carries(&self, r: &Ref) -> bool {
        item::carries(self.item.def, r, |field| self.sends(field))
    }

    /// Does the action that this makes send a canonical field?
    pub(super) fn sends(&self, field: &str) -> bool {
        self.is_create()
            || self.follow.contains(field)
            || self.fields.iter().any(|f| f.field.name == field && f.sent().is_some())
    }
}

/// Compares one resource.
pub(super) fn delta<'a>(item: &'a Item<'a>, desired: &Desired, options: &Options) -> Delta<'a> {
    if item.broken {
        return Delta::new(item, State::Broken);
    }
    let Some(live) = item.live else {
        return Delta::new(item, State::New { since: item.since.cloned(), revived: false });
    };
    let reverts = options.reverts(item.address(), desired);
    if item.is_gone() {
        if !reverts {
            return Delta::new(item, State::Gone);
        }
        let since = item.since.unwrap_or(&live.summary.id).clone();
        return Delta::new(item, State::New { since: Some(since), revived: true });
    }
    let equal = item.comes.is_none()
        && live.summary.live_digest == Some(item.digest)
        && live.summary.applied_digest == Some(item.digest)
        && !item.wanted.has_seeds();
    let mut out = match (&live.body, equal) {
        (_, true) => Delta::new(item, State::Same),
        (None, false) => Delta::new(item, State::Unread),
        (Some(body), false) => {
            let taken = decision(item, &desired.accept).map(|line| line.take);
            let asked = options.revert_all || options.revert.name(item.address());
            compared(item, body, &Rule { reverts, asked, taken }, &desired.owner)
        }
    };
    let claimed = item.comes == Some(&Comes::Adopted);
    let differs = item.wanted.protected != live.summary.protected && !keeps_protection(item);
    out.protect = (!claimed && differs).then_some(item.wanted.protected);
    for (field, _) in &item.stale {
        out.follow(field);
    }
    out
}

/// Is it protected, taken over by this plan, and not protected by the files? Protection is the resource's own: who takes
/// it does not take that away in the same plan.
pub(super) fn keeps_protection(item: &Item<'_>) -> bool {
    let taken = matches!(item.comes, Some(Comes::Taken { .. }));
    taken && !item.wanted.protected && item.live.is_some_and(|l| l.summary.protected)
}

/// The line that decides the conflicts of a resource as it is live now.
pub(super) fn decision<'d>(item: &Item<'_>, lines: &'d [Accept]) -> Option<&'d Accept> {
    let mut lines = lines.iter().filter(|line| line.address == *item.address()).peekable();
    lines.peek()?;
    let now = moved_digest(item)?;
    lines.find(|line| line.live == now)
}

/// What an `accept:` line of a resource is about, see [`moved_live`]. `None`: nothing is live, or it was not read.
pub(super) fn moved_digest(item: &Item<'_>) -> Option<Digest> {
    let body = item.body().filter(|_| !item.is_gone())?;
    Some(moved_live(item.address().kind, body, &item.wanted.unowned))
}

/// Digest of everything owned that is live and not as it was applied. It is another one as soon as live moves again,
/// and stays when the rest of the resource is applied. Of memories those count that were applied: what others write
/// beside them is nobody's decision.
pub fn moved_live(kind: Kind, body: &LiveBody, unowned: &[String]) -> Digest {
    let map = |v: Option<&Value>| v.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut rows: Vec<(String, Option<Value>)> = Vec::new();
    for field in kinds::def(kind).fields {
        let [applied, live] = [&body.applied.spec, &body.live].map(|spec| spec.get(field.name));
        if field.list != List::PerKey {
            rows.extend((applied != live).then(|| (field.name.to_owned(), live.cloned())));
        } else if field.change != Change::Publish {
            let [applied, live] = [map(applied), map(live)];
            let keys: BTreeSet<&String> = applied.keys().chain(live.keys()).collect();
            let moved = keys.into_iter().filter(|key| applied.get(*key) != live.get(*key));
            rows.extend(moved.map(|key| (format!("{}.{key}", field.name), live.get(key).cloned())));
        } else {
            let (applied, live) = (memory::digests(&body.applied.spec), memory::live(body));
            let moved = applied.iter().filter(|(path, digest)| live.get(**path) != Some(digest));
            let now = |path: &str| live.get(path).map(|digest| Value::String(digest.to_string()));
            rows.extend(moved.map(|(path, _)| (format!("{}.{path}", field.name), now(path))));
        }
    }
    rows.retain(|(path, _)| !is_unowned(unowned, path) && !is_unowned(&body.applied.unowned, path));
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Digest::of_json(&rows)
}

/// Compares one resource with what is live, three values a field.
pub(super) fn compared<'a>(item: &'a Item<'a>, body: &'a LiveBody, rule: &Rule, me: &Owner) -> Delta<'a> {
    let mut out = Delta::new(item, State::Compared);
    let live = item.live_spec.as_deref().unwrap_or(&body.live);
    let applied = item.applied.as_deref().unwrap_or(&body.applied.spec);
    let three = Three { item, applied, recorded: &body.applied.spec, was_unowned: &body.applied.unowned, live, rule };
    for field in item.def.fields {
        if field.list == List::PerKey {
            // Memories follow their modes.
            if field.change != Change::Publish {
                three.keys(field, &mut out.fields);
            }
        } else {
            three.field(field, &mut out.fields);
        }
    }
    out.fields.shrink_to_fit();
    out.memories = memory::compare(item, rule.taken, me).map(Box::new);
    let set = |v: &[String]| v.iter().cloned().collect::<BTreeSet<_>>();
    out.unowned_moved = set(&body.applied.unowned) != set(&record::unowned(&out));
    let fixed = item.def.replaced(live, &item.spec);
    out.replace = out.fields.iter().any(|f| f.sent().is_some() && fixed.contains(&f.field.name));
    out
}

/// What a person decided about a resource.
pub(super) struct Rule {
    /// What moved live is put back.
    pub(super) reverts: bool,
    /// It is put back since somebody asked for it now, not by the policy.
    pub(super) asked: bool,
    /// The side that an `accept:` line takes where both moved.
    pub(super) taken: Option<Take>,
}

struct Three<'a, 'o> {
    item: &'a Item<'a>,
    applied: &'a Value,
    /// The same as it is recorded, with references as they were.
    recorded: &'a Value,
    was_unowned: &'o [String],
    live: &'a Value,
    rule: &'o Rule,
}

impl<'a> Three<'a, '_> {
    fn field(&self, field: &'static Field, out: &mut Vec<FieldDelta<'a>>) {
        let get = |v: &'a Value| v.get(field.name);
        let wanted = get(&self.item.spec);
        let server = field.default == Default_::Server && wanted.is_none();
        self.push(field, field.name.to_owned(), [wanted, get(self.applied), get(self.live)], server, out);
    }

    fn keys(&self, field: &'static Field, out: &mut Vec<FieldDelta<'a>>) {
        let map = |v: &'a Value| v.get(field.name).and_then(Value::as_object);
        let maps = [map(&self.item.spec), map(self.applied), map(self.live)];
        let keys: BTreeSet<&'a String> = maps.iter().flatten().flat_map(|m| m.keys()).collect();
        for key in keys {
            let values = maps.map(|m: Option<&'a Map<String, Value>>| m.and_then(|m| m.get(key)));
            self.push(field, format!("{}.{key}", field.name), values, false, out);
        }
    }

    fn push(
        &self,
        field: &'static Field,
        path: String,
        [wanted, mut applied, live]: [Option<&'a Value>; 3],
        server_chooses: bool,
        out: &mut Vec<FieldDelta<'a>>,
    ) {
        if is_unowned(&self.item.wanted.unowned, &path) {
            return;
        }
        if wanted == applied && applied == live {
            // Only how it refers to something is recorded otherwise.
            let told = field.list == List::PerKey || applied == self.recorded.get(field.name);
            if told {
                return;
            }
        }
        let again = is_unowned(self.was_unowned, &path);
        if again {
            // Owned again: held where live differs, not put back.
            applied = wanted;
            if wanted == live {
                return;
            }
        }
        let outcome = if server_chooses {
            // The file says no more; what it said is forgotten, what is live stays.
            if applied.is_none() {
                return;
            }
            Outcome::Settle
        } else {
            decide(wanted, applied, live, self.rule)
        };
        out.push(FieldDelta { path, field, wanted, applied, live, again, outcome });
    }
}

/// The rule. The three are not all equal.
fn decide(wanted: Option<&Value>, applied: Option<&Value>, live: Option<&Value>, rule: &Rule) -> Outcome {
    if wanted == live {
        Outcome::Settle
    } else if applied == live {
        Outcome::Send(Cause::File)
    } else if applied == wanted {
        // What was decided for live stays, whatever the policy does with what moves.
        if rule.asked || (rule.reverts && rule.taken != Some(Take::Live)) {
            Outcome::Send(Cause::Live)
        } else {
            Outcome::Held
        }
    } else {
        match rule.taken {
            Some(Take::File) => Outcome::Send(Cause::Both),
            // Decided, and asked for now by name: it is no conflict that would be overwritten unseen.
            Some(Take::Live) if rule.asked => Outcome::Send(Cause::Both),
            Some(Take::Live) => Outcome::Accepted,
            None => Outcome::Conflict,
        }
    }
}

/// What refers to a resource that is replaced or made anew is sent again, so that it has the new id.
pub(super) fn follow_replaced(deltas: &mut [Delta<'_>], users: &Users<'_>, live: &Live, me: &Owner) {
    let mut moved: Vec<(&Address, Option<&Address>)> =
        deltas.iter().filter(|d| d.gets_new_id()).map(|d| (d.address(), None)).collect();
    for old in &live.superseded {
        let Some(address) = &old.summary.address else { continue };
        let referrers = live.referrers.get(&old.summary.id).into_iter().flatten();
        let ours = referrers.filter(|r| r.owner.as_ref() == Some(me)).filter_map(|r| r.address.as_ref());
        moved.extend(ours.map(|user| (address, Some(user))));
    }
    if moved.is_empty() {
        return;
    }
    let index: BTreeMap<&Address, usize> = deltas.iter().enumerate().map(|(i, d)| (d.address(), i)).collect();
    while let Some((address, only)) = moved.pop() {
        for (user, r) in users.get(address).into_iter().flatten() {
            let Some(delta) = index.get(user).and_then(|i| deltas.get_mut(*i)) else { continue };
            if only.is_none_or(|o| o == *user) && delta.follow(r.field) {
                moved.push((delta.address(), None));
            }
        }
    }
}

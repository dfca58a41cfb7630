//! Parts of plans: what is kept of a plan is a plan, does what it says and nothing else, and the rest comes after; and
//! what is due after an apply that broke off is what was approved before it.

use std::collections::BTreeSet;

use checkfu::ci::approval::{Approvals, Done, names};
use checkfu::ci::{Marker, State};
use checkfu::control::ControlPlane;
use checkfu::model::Owner;
use checkfu::model::op::Context;
use checkfu::plan::{self, Plan, Verb};
use checkfu::reconcile::read;
use proptest::prelude::*;

use super::world::{World, applied, options, owner, planned, rows, settled};
use super::{block_on, law, nothing_to_do, temporary, two};

/// Which actions are kept: bit `n` of the mask for the action at place `n`.
fn kept(plan: &Plan, mask: u64) -> Plan {
    let place = |id: &str| plan.actions.iter().position(|a| a.id == id).unwrap();
    let part = plan::keep(plan, |a| mask >> (place(&a.id) % 64) & 1 == 1);
    let left = plan::left(plan, |a| mask >> (place(&a.id) % 64) & 1 == 1);
    assert_eq!(plan::check(&part), Vec::<String>::new(), "{part:#?}");
    assert_eq!(plan::read(plan::write(&part).as_bytes()).unwrap(), part);
    assert_eq!(part.actions.len() + left.len(), plan.actions.len());
    let mut at = 0;
    for action in &part.actions {
        assert!(mask >> (place(&action.id) % 64) & 1 == 1 && !left.contains_key(&action.id));
        assert_eq!(plan.actions[place(&action.id)], *action, "an action is the same in its part");
        assert!(at <= place(&action.id), "and in the same order");
        at = place(&action.id);
    }
    let first = plan.actions.iter().position(|a| left.contains_key(&a.id) && a.verb != Verb::Retire);
    let late = |a: &&plan::Action| a.verb == Verb::Retire && first.is_some_and(|f| place(&a.id) > f);
    assert_eq!(part.actions.iter().find(late), None, "nothing goes after what is left");
    part
}

#[test]
fn a_part_is_a_plan_and_the_rest_comes_after() {
    law("parts", (two(), any::<u64>(), 1..11usize), |((first, second), mask, parallelism)| {
        let (dir, twin_dir) = (temporary(), temporary());
        block_on(async {
            let twin = World::open(twin_dir.path(), 11);
            settled(&twin, &first.desired(&owner()), &options()).await;
            settled(&twin, &second.desired(&owner()), &options()).await;

            let world = World::open(dir.path(), 12);
            settled(&world, &first.desired(&owner()), &options()).await;
            let desired = second.desired(&owner());
            let whole = planned(&world, &desired, &options()).await;
            assert_eq!(plan::keep(&whole, |_| true), whole);
            assert!(plan::keep(&whole, |_| false).actions.is_empty());
            let part = kept(&whole, mask);
            let before = rows(&world, &owner()).await;
            let receipt = applied(&world, &desired, &options(), &part, parallelism).await.unwrap();
            assert!(receipt.lines.iter().all(|l| l.outcome == "done"), "{:#?}", receipt.lines);
            assert_eq!(receipt.not_settled, Vec::<String>::new(), "{part:#?}");
            let touched: BTreeSet<_> = part.actions.iter().filter_map(|a| a.address.clone()).collect();
            let after = rows(&world, &owner()).await;
            let moved = |a: &&checkfu::model::Address| before.get(*a) != after.get(*a) && !touched.contains(*a);
            assert_eq!(before.keys().chain(after.keys()).find(moved), None);

            let rest = planned(&world, &desired, &options()).await;
            approves(&world, &whole, &rest).await;
            settled(&world, &desired, &options()).await;
            nothing_to_do(&world, &second, &options()).await;
            assert_eq!(rows(&world, &owner()).await, rows(&twin, &owner()).await);
        });
    });
}

/// A comment that showed the first plan approves every action of the second.
pub(super) async fn approves(world: &World, shown: &Plan, now: &Plan) {
    let marker = Marker {
        what: "plan".to_owned(),
        key: "k".to_owned(),
        head: None,
        base: None,
        digest: Some(shown.digest),
        actions: names(shown),
        names: Vec::new(),
        total: shown.actions.len(),
        state: State::Planned,
    };
    let done = done(world, &owner()).await;
    let mut approvals = Approvals::new(now, &done);
    approvals.count(1, &marker);
    let by = approvals.by();
    let not: Vec<_> = now.actions.iter().filter(|a| !by.contains_key(a.id.as_str())).collect();
    assert!(not.is_empty(), "{not:#?}\nafter {done:?} of {:#?}", shown.actions);
}

/// What the newest Apply did.
async fn done<C: ControlPlane>(control: &C, owner: &Owner) -> Vec<Done> {
    let context = Context { actor: "laws".into(), owner: Some(owner.clone()), ..Context::default() };
    let newest = read::history(control, &context, Some(owner), 1).await.unwrap();
    let Some(newest) = newest.first() else { return Vec::new() };
    let apply = read::show(control, &context, &newest.id).await.unwrap();
    let lines = apply.lines.iter().filter(|l| l.outcome == "done");
    lines.filter_map(|l| Some(Done { action: l.action.clone(), version: l.version? })).collect()
}

//! Two owners, a person with break-glass, and a random machine that does what people do: at least 20,000 steps,
//! against a small model. No resource has two owners, nothing foreign changes without a take-over, what moved live
//! is never overwritten, an apply leaves nothing to do, and drift is told field by field.

mod files;
mod machine;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use machine::Machine;

/// Machines, and steps of each: short, so that what fails can be read. `OWNERS_SEED=N` runs one alone.
const MACHINES: u64 = 200;
const STEPS: usize = 100;

/// How often each kind of step did something.
type Did = BTreeMap<&'static str, usize>;

#[test]
fn nothing_is_lost_stolen_or_overwritten() {
    let only: Option<u64> = std::env::var("OWNERS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds: Vec<u64> = only.map_or_else(|| (1..=MACHINES).collect(), |seed| vec![seed]);
    let mut did = Did::new();
    std::thread::scope(|scope| {
        let halves = seeds.chunks(seeds.len().div_ceil(2));
        let threads: Vec<_> =
            halves.map(|seeds| scope.spawn(|| seeds.iter().map(|seed| run(*seed)).collect())).collect();
        for thread in threads {
            let ran: Result<Vec<Did>, String> = thread.join().unwrap();
            let ran = ran.unwrap_or_else(|why| panic!("{why}"));
            ran.into_iter().flatten().for_each(|(what, n)| *did.entry(what).or_default() += n);
        }
    });
    println!("{did:#?}");
    for step in [
        "create",
        "edit",
        "delete",
        "rename",
        "hand over",
        "release",
        "adopt",
        "take over",
        "pull",
        "rollback",
        "second",
        "apply",
    ] {
        assert!(only.is_some() || did.get(step).is_some_and(|n| *n > 50), "{step} was hardly done: {did:?}");
    }
}

/// Runs one; what it did before it failed is told.
fn run(seed: u64) -> Result<Did, String> {
    let mut machine = Machine::new(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for step in 0..STEPS {
        catch_unwind(AssertUnwindSafe(|| runtime.block_on(machine.step())))
            .map_err(|_| format!("machine {seed}, step {step}:\n{}", machine.log.join("\n")))?;
    }
    Ok(machine.did)
}

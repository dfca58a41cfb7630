//! File × last applied × live, every combination, under every mode: what becomes of it, written by hand.
//!
//! A value is `-` (absent), `A`, `B` or `C`. A row is a file's value and the one last applied; the columns are what is
//! live, in that order.
//!
//! | | the plan | after apply |
//! |---|---|---|
//! | `=` | nothing | |
//! | `s` | record: file and live agree, last-applied does not | nothing |
//! | `u` | the file is sent | nothing |
//! | `r` | live moved and is put back | nothing |
//! | `h` | live moved and is held | held |
//! | `!` | conflict: nothing of the resource is done | conflict |
//! | `f` | conflict, `accept:` takes the file: it is sent | nothing |
//! | `l` | conflict, `accept:` takes live: it stays, the file counts as applied | held |

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::model::Digest;
use crate::model::config::{Accept, OnDrift, Policy, Take};
use crate::plan::{Cause, Options, Plan, Step};

/// Runs every cell of a table; all that differ are told as the table that was found.
#[track_caller]
pub(super) fn table(name: &str, live: &str, rows: &str, mut run: impl FnMut(&str, &str, &str) -> String) {
    let columns: Vec<&str> = live.split_whitespace().collect();
    let mut found = String::new();
    let mut same = true;
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (values, cells) = row.split_once('|').unwrap();
        let [file, applied] = values.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{row}") };
        let cells: Vec<&str> = cells.split_whitespace().collect();
        assert_eq!(cells.len(), columns.len(), "{name}: {row}");
        let _ = write!(found, "{file} {applied} |");
        for (live, wanted) in columns.iter().zip(cells) {
            let cell = run(file, applied, live);
            same &= cell == wanted;
            let mark = if cell == wanted { "" } else { "*" };
            let _ = write!(found, " {cell}{mark}");
        }
        found.push('\n');
    }
    assert!(same, "{name}: found, * where it is another\n     | {live}\n{found}");
}

const AGENT: &str = "Agent/a";

/// What is compared: a canonical field of an agent, and its values.
struct Subject {
    path: &'static str,
    values: fn(&str) -> Value,
}

const SUBJECTS: [Subject; 3] = [
    Subject { path: "description", values: |v| json!(v) },
    Subject { path: "labels.team", values: |v| json!(v) },
    Subject {
        path: "tools",
        values: |v| {
            let tool = |name: &str| json!({"type": "custom", "name": name, "description": "d", "input_schema": {"type": "object"}});
            match v {
                "A" => json!([tool("x")]),
                "B" => json!([tool("x"), tool("y")]),
                _ => json!([tool("y"), tool("x")]),
            }
        },
    },
];

/// How the owner stands to the field: in the file, and in what was applied.
#[derive(Clone, Copy, PartialEq)]
enum Owned {
    /// It owns it.
    Own,
    /// `ignore`, then and now.
    Ignore,
    /// `seed`, then and now.
    Seed,
    /// `ignore` from now on.
    NoMore,
    /// It was `ignore`.
    Again,
}

/// How the plan is asked for.
#[derive(Clone, Copy)]
enum Asked {
    Hold,
    /// By `policy.on_drift`.
    Revert,
    /// By `--revert`.
    RevertThis,
    /// With an `accept:` line for what is live.
    Accept(Take),
    /// With one for what was live before.
    AcceptOld(Take),
}

impl Subject {
    fn spec(&self, value: &str) -> Value {
        let mut spec = json!({"model": "m", "name": "A", "instructions": "i", "labels": {"other": "1"}});
        if value != "-" {
            let value = (self.values)(value);
            match self.path.split_once('.') {
                Some((map, key)) => spec[map][key] = value,
                None => spec[self.path] = value,
            }
        }
        spec
    }

    fn desired(&self, value: &str) -> Desired {
        let mut desired = project();
        desired.put(AGENT, &self.spec(value));
        desired
    }

    fn canonical(&self, value: &str) -> Arc<Value> {
        self.desired(value).resources.remove(&address(AGENT)).unwrap().spec
    }

    fn cell(&self, owned: Owned, asked: Asked, [file, applied, live]: [&str; 3]) -> String {
        let path = || vec![self.path.to_owned()];
        let mut desired = self.desired(file);
        let wanted = desired.resources.get_mut(&address(AGENT)).unwrap();
        if matches!(owned, Owned::Ignore | Owned::Seed | Owned::NoMore) {
            wanted.unowned = path();
        }
        if owned == Owned::Seed {
            wanted.seeded = path();
        }
        let mut world = World::of(&self.desired("-"));
        let resource = world.get(AGENT);
        let body = resource.body.as_mut().unwrap();
        body.applied.spec = self.canonical(applied);
        if !matches!(owned, Owned::Own | Owned::NoMore) {
            body.applied.unowned = path();
        }
        body.live = self.canonical(live);
        if live != applied {
            resource.summary.version += 1;
            resource.body.as_mut().unwrap().moved.push(moved(self.path));
        }
        refresh(world.get(AGENT));
        let options = ask(&mut desired, &mut world, asked);
        let plan = world.plan_with(&desired, &options);
        let lean = crate::plan::plan(&desired, &world.snapshot(&desired), &options);
        assert_eq!(plan.digest, lean.digest, "a snapshot without needless bodies plans the same");
        let verdict = self.verdict(&plan);
        world.apply(&plan);
        let sent = matches!(&*verdict, "u" | "r" | "f");
        let then = self.canonical(if sent { file } else { live });
        assert_eq!(world.body(AGENT).live, then, "{verdict}: {file} {applied} {live}");
        let next = match &*verdict {
            "h" => "h",
            "l" => "l",
            "!" => "!",
            _ => "=",
        };
        assert_eq!(
            self.verdict(&world.plan_with(&desired, &options)),
            next,
            "after {verdict}: {file} {applied} {live}"
        );
        verdict
    }

    fn verdict(&self, plan: &Plan) -> String {
        let mut out = String::new();
        for action in plan.actions.iter().filter(|a| a.address.is_some()) {
            let cause = action.about.changes.first().map(|c| c.cause);
            out.push(match (&action.step, cause) {
                (Step::Update { fields, .. }, cause) => {
                    assert_eq!(fields, &[self.path]);
                    match cause {
                        Some(Cause::File) => 'u',
                        Some(Cause::Live) => 'r',
                        Some(Cause::Both) => 'f',
                        _ => '?',
                    }
                }
                (Step::Record { .. }, _) => 's',
                _ => '?',
            });
        }
        match plan.held.as_slice() {
            [] => {}
            [held] => {
                assert_eq!(held.field.as_deref(), Some(self.path));
                let stays = if held.conflict { "!" } else { "h" };
                match held.accepted.as_deref() {
                    None => out.push_str(stays),
                    // Nothing is recorded: the line is the decision.
                    Some(reason) => assert_eq!((reason, std::mem::replace(&mut out, "l".into()).as_str()), ("r", "")),
                }
            }
            more => panic!("{more:?}"),
        }
        assert_eq!(out.contains('!'), plan.findings.iter().any(|f| f.code == "plan.conflict"), "{:?}", plan.findings);
        if out.is_empty() { "=".to_owned() } else { out }
    }
}

/// Sets what asks for it.
fn ask(desired: &mut Desired, world: &mut World, asked: Asked) -> Options {
    let mut options = options();
    let accept = |take, live: Digest| Accept { address: address(AGENT), live, take, reason: "r".into() };
    let now = world.moved_live(AGENT);
    match asked {
        Asked::Hold => {}
        Asked::Revert => {
            desired.policy = Policy { on_drift: OnDrift::Revert, ..Policy::default() };
            world.live.record = Some(crate::live::OwnerRecord {
                policy: Some(desired.policy.clone()),
                source: None,
                undone: [].into(),
                seq: 1,
            });
        }
        Asked::RevertThis => options.revert.add(AGENT),
        Asked::Accept(take) => desired.accept.push(accept(take, now)),
        Asked::AcceptOld(take) => desired.accept.push(accept(take, sha("what was live before"))),
    }
    options
}

#[track_caller]
fn fields(name: &str, owned: Owned, asked: &[Asked], rows: &str) {
    for asked in asked {
        for subject in &SUBJECTS {
            let name = format!("{name}, {}", subject.path);
            table(&name, "- A B C", rows, |file, applied, live| subject.cell(owned, *asked, [file, applied, live]));
        }
    }
}

use Asked::{Accept as Accepted, AcceptOld, Hold, Revert, RevertThis};

#[test]
fn own_and_hold() {
    // A decision about what was live before decides nothing.
    let asked = [Hold, AcceptOld(Take::File), AcceptOld(Take::Live)];
    fields(
        "own, hold",
        Owned::Own,
        &asked,
        "
        - - | = h h h
        - A | s u ! !
        - B | s ! u !
        - C | s ! ! u
        A - | u s ! !
        A A | h = h h
        A B | ! s u !
        A C | ! s ! u
        B - | u ! s !
        B A | ! u s !
        B B | h h = h
        B C | ! ! s u
        C - | u ! ! s
        C A | ! u ! s
        C B | ! ! u s
        C C | h h h =
        ",
    );
}

#[test]
fn own_and_revert() {
    fields(
        "own, revert",
        Owned::Own,
        &[Revert, RevertThis],
        "
        - - | = r r r
        - A | s u ! !
        - B | s ! u !
        - C | s ! ! u
        A - | u s ! !
        A A | r = r r
        A B | ! s u !
        A C | ! s ! u
        B - | u ! s !
        B A | ! u s !
        B B | r r = r
        B C | ! ! s u
        C - | u ! ! s
        C A | ! u ! s
        C B | ! ! u s
        C C | r r r =
        ",
    );
}

#[test]
fn own_and_accept_takes_the_file() {
    fields(
        "own, accept file",
        Owned::Own,
        &[Accepted(Take::File)],
        "
        - - | = h h h
        - A | s u f f
        - B | s f u f
        - C | s f f u
        A - | u s f f
        A A | h = h h
        A B | f s u f
        A C | f s f u
        B - | u f s f
        B A | f u s f
        B B | h h = h
        B C | f f s u
        C - | u f f s
        C A | f u f s
        C B | f f u s
        C C | h h h =
        ",
    );
}

#[test]
fn own_and_accept_takes_live() {
    fields(
        "own, accept live",
        Owned::Own,
        &[Accepted(Take::Live)],
        "
        - - | = h h h
        - A | s u l l
        - B | s l u l
        - C | s l l u
        A - | u s l l
        A A | h = h h
        A B | l s u l
        A C | l s l u
        B - | u l s l
        B A | l u s l
        B B | h h = h
        B C | l l s u
        C - | u l l s
        C A | l u l s
        C B | l l u s
        C C | h h h =
        ",
    );
}

/// Nothing, wherever file, record and live stand.
pub(super) const NOTHING: &str = "
    - - | = = = =
    - A | = = = =
    - B | = = = =
    - C | = = = =
    A - | = = = =
    A A | = = = =
    A B | = = = =
    A C | = = = =
    B - | = = = =
    B A | = = = =
    B B | = = = =
    B C | = = = =
    C - | = = = =
    C A | = = = =
    C B | = = = =
    C C | = = = =
";

#[test]
fn ignore_and_seed() {
    for asked in [Hold, Revert, RevertThis, Accepted(Take::File)] {
        fields("ignore", Owned::Ignore, &[asked], NOTHING);
        fields("seed", Owned::Seed, &[asked], NOTHING);
    }
}

#[test]
fn owned_no_more() {
    // That it is owned no more is recorded once.
    fields("owned no more", Owned::NoMore, &[Hold, Revert], &NOTHING.replace('=', "s"));
}

#[test]
fn owned_again() {
    // Nothing was applied, so nothing moved: held where live differs from the file.
    let rows = "
        - - | s h h h
        - A | s h h h
        - B | s h h h
        - C | s h h h
        A - | h s h h
        A A | h s h h
        A B | h s h h
        A C | h s h h
        B - | h h s h
        B A | h h s h
        B B | h h s h
        B C | h h s h
        C - | h h h s
        C A | h h h s
        C B | h h h s
        C C | h h h s
    ";
    fields("owned again", Owned::Again, &[Hold, Accepted(Take::File), Accepted(Take::Live)], rows);
    fields("owned again, revert", Owned::Again, &[Revert, RevertThis], &rows.replace('h', "r"));
}

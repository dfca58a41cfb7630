//! As [`table`](super::table), for what has contents of its own: skills, memories, and a resource as a whole.
//!
//! | | the plan | after apply |
//! |---|---|---|
//! | `=` | nothing | |
//! | `s` | record | nothing |
//! | `p`, `d` | a version is published or a memory written; deleted | nothing |
//! | `k` | a memory is kept and reported | kept |
//! | `h`, `!`, `l` | held; conflict; conflict, and `accept:` takes live | held, conflict, held |
//! | `c`, `n` | made; made anew | nothing |
//! | `u` | its content is published | nothing |
//! | `x`, `o` | retired; another did that, the record is cleared | nothing |
//! | `g` | retired by another, held as absent | held |

use std::sync::Arc;

use serde_json::json;

use super::table::table;
use super::world::*;
use crate::desired::Desired;
use crate::model::config::{Accept, Take};
use crate::model::op::ActorKind::Api;
use crate::plan::{Options, Plan, Step, Verb};

const SKILL: &str = "Skill/s";

fn skill(content: &str) -> Desired {
    let mut desired = project();
    desired.put_files(SKILL, files(&[("SKILL.md", content)]));
    desired
}

fn content(asked: &str, [file, applied, live]: [&str; 3]) -> String {
    let desired = skill(file);
    let mut world = World::of(&skill(applied));
    if live != applied {
        let set = files(&[("SKILL.md", live)]);
        world.outside(SKILL, "content", json!(set.digest));
        world.get(SKILL).summary.content = Some(set.digest);
        world.body(SKILL).entries = set.entries;
    }
    let mut desired = desired;
    let mut options = options();
    let now = world.moved_live(SKILL);
    let accept = |take| Accept { address: address(SKILL), live: now, take, reason: "r".into() };
    match asked {
        "revert" => options.revert_all = true,
        "file" => desired.accept.push(accept(Take::File)),
        "live" => desired.accept.push(accept(Take::Live)),
        _ => {}
    }
    let verdict = |plan: &Plan| {
        let mut out: String = plan.actions.iter().map(|a| if a.verb == Verb::Publish { 'p' } else { 's' }).collect();
        for held in &plan.held {
            match (held.conflict, &held.accepted) {
                (true, _) => out.push('!'),
                (false, None) => out.push('h'),
                (false, Some(_)) => assert_eq!(std::mem::replace(&mut out, "l".into()), ""),
            }
        }
        if out.is_empty() { "=".to_owned() } else { out }
    };
    let plan = world.plan_with(&desired, &options);
    world.apply(&plan);
    let found = verdict(&plan);
    let then = skill(if found == "p" { file } else { live });
    assert_eq!(world.body(SKILL).live, then.resources[&address(SKILL)].spec, "{found}: {file} {applied} {live}");
    let next = match &*found {
        "h" => "h",
        "l" => "l",
        "!" => "!",
        _ => "=",
    };
    assert_eq!(verdict(&world.plan_with(&desired, &options)), next, "after {found}: {file} {applied} {live}");
    found
}

#[test]
fn skill_content() {
    // A skill has content, so none of the three is absent. `p`: published.
    let hold = "
        A A | = h h
        A B | s p !
        A C | s ! p
        B A | p s !
        B B | h = h
        B C | ! s p
        C A | p ! s
        C B | ! p s
        C C | h h =
    ";
    let tables = [
        ("hold", hold.to_owned()),
        ("revert", hold.replace('h', "p")),
        ("file", hold.replace('!', "p")),
        ("live", hold.replace('!', "l")),
    ];
    for (asked, rows) in tables {
        table(asked, "A B C", &rows, |file, applied, live| content(asked, [file, applied, live]));
    }
}

const STORE: &str = "MemoryStore/s";

/// A memory under a prefix of a mode; `ignore` and `field-seed`: by a field mode, under `upkeep`.
fn memory(mode: &str, revert: bool, [file, applied, live]: [&str; 3]) -> String {
    let path = "/p/a";
    let prefix = if matches!(mode, "ignore" | "field-seed") { "upkeep" } else { mode };
    let store = |text: &str| {
        let mut desired = project();
        let with = [(path, text)];
        let wanted = desired.put_store("s", &[("/p", prefix)], if text == "-" { &[] } else { &with });
        if mode == "ignore" || mode == "field-seed" || (mode == "seed" && text != "-") {
            wanted.unowned = vec![format!("contents.{path}")];
        }
        if mode == "field-seed" || (mode == "seed" && text != "-") {
            wanted.seeded.clone_from(&wanted.unowned);
        }
        desired
    };
    let desired = store(file);
    let mut world = World::of(&store("-"));
    let unowned = store(applied).resources[&address(STORE)].unowned.clone();
    let body = world.body(STORE);
    body.applied.unowned = unowned;
    if applied != "-" {
        Arc::make_mut(&mut body.applied.spec)["contents"] = json!({ path: sha(applied) });
    }
    if live != "-" {
        world.remember(STORE, path, Some(live), Api);
    }
    refresh(world.get(STORE));
    let options = Options { revert_all: revert, ..options() };
    let verdict = |plan: &Plan| {
        let mut out = String::new();
        for action in &plan.actions {
            match &action.step {
                Step::WriteContents { puts, deletes, .. } => {
                    out.push_str(if puts.is_empty() { "d" } else { "p" }.repeat(puts.len() + deletes.len()).as_str());
                }
                Step::Record { .. } => out.push('s'),
                _ => out.push('?'),
            }
        }
        out.push_str(if plan.notes.kept_memories.is_empty() { "" } else { "k" });
        assert!(plan.held.is_empty());
        if out.is_empty() { "=".to_owned() } else { out }
    };
    world.note_beside(STORE);
    let plan = world.plan_with(&desired, &options);
    world.apply(&plan);
    world.note_beside(STORE);
    let found = verdict(&plan);
    let then = match () {
        () if found.contains('p') => file,
        () if found.contains('d') => "-",
        () => live,
    };
    let now = world.body(STORE).live.pointer("/contents").and_then(|c| c.get(path)).cloned();
    assert_eq!(now, (then != "-").then(|| json!(sha(then))), "{found}: {file} {applied} {live}");
    let next = if found.contains('k') { "k" } else { "=" };
    assert_eq!(verdict(&world.plan_with(&desired, &options)), next, "after {found}: {file} {applied} {live}");
    found
}

#[track_caller]
fn memories(mode: &str, rows: &str) {
    // What moved live follows the mode, whatever is done about drift.
    for revert in [false, true] {
        table(mode, "- A B C", rows, |file, applied, live| memory(mode, revert, [file, applied, live]));
    }
}

#[test]
fn memories_in_enforce() {
    memories(
        "enforce",
        "
        - - | = d d d
        - A | s d d d
        - B | s d d d
        - C | s d d d
        A - | p s p p
        A A | p = p p
        A B | p s p p
        A C | p s p p
        B - | p p s p
        B A | p p s p
        B B | p p = p
        B C | p p s p
        C - | p p p s
        C A | p p p s
        C B | p p p s
        C C | p p p =
        ",
    );
}

#[test]
fn memories_in_upkeep() {
    memories(
        "upkeep",
        "
        - - | = k k k
        - A | s d k k
        - B | s k d k
        - C | s k k d
        A - | p s k k
        A A | k = k k
        A B | k s p k
        A C | k s k p
        B - | p k s k
        B A | k p s k
        B B | k k = k
        B C | k k s p
        C - | p k k s
        C A | k p k s
        C B | k k p s
        C C | k k k =
        ",
    );
}

#[test]
fn memories_in_seed() {
    // Once it was applied, or once another wrote it, it is theirs. One that the file names no more is let go of, which
    // is recorded.
    let rows = "
        - - | = k k k
        - A | s sk sk sk
        - B | s sk sk sk
        - C | s sk sk sk
        A - | p s k k
        A A | = = k k
        A B | = k = k
        A C | = k k =
        B - | p k s k
        B A | = = k k
        B B | = k = k
        B C | = k k =
        C - | p k k s
        C A | = = k k
        C B | = k = k
        C C | = k k =
    ";
    memories("field-seed", rows);
    // By its prefix it is not owned once it has a file, which is recorded too.
    let rows = rows.replace("A - | p s k k", "A - | sp s sk sk");
    let rows = rows.replace("B - | p k s k", "B - | sp sk s sk").replace("C - | p k k s", "C - | sp sk sk s");
    memories("seed", &rows);
}

#[test]
fn memories_in_observe() {
    // No file is under it. What was applied in another mode is let go of.
    memories(
        "observe",
        "
        - - | = k k k
        - A | s sk sk sk
        - B | s sk sk sk
        - C | s sk sk sk
        ",
    );
}

#[test]
fn memories_that_are_ignored() {
    memories("ignore", super::table::NOTHING);
}

/// A whole skill: `+` is declared or live as it was applied, `~` is another content.
fn existence(revert: bool, [file, applied, live]: [&str; 3]) -> String {
    let mut world = World::new();
    if applied == "+" {
        world = World::of(&skill("+"));
    }
    match (applied, live) {
        ("+", "-") => world.archive(SKILL),
        ("+", "~") => {
            let set = files(&[("SKILL.md", "live")]);
            world.outside(SKILL, "content", json!(set.digest));
            world.body(SKILL).entries = set.entries;
        }
        _ => {}
    }
    let desired = if file == "-" { project() } else { skill(file) };
    let options = Options { revert_all: revert, allowances: vec!["empty".parse().unwrap()], ..options() };
    let verdict = |plan: &Plan| {
        let mut out = String::new();
        for action in &plan.actions {
            out.push(match action.verb {
                Verb::Create if action.about.reason.starts_with("made anew") => 'n',
                Verb::Create => 'c',
                Verb::Publish => 'u',
                Verb::Retire if action.about.reason.starts_with("another") => 'o',
                Verb::Retire => 'x',
                _ => '?',
            });
        }
        for held in &plan.held {
            out.push(match (held.conflict, &held.field) {
                (true, _) => '!',
                (false, None) => 'g',
                (false, Some(_)) => 'h',
            });
        }
        if out.is_empty() { "=".to_owned() } else { out }
    };
    let plan = world.plan_with(&desired, &options);
    world.apply(&plan);
    let found = verdict(&plan);
    let next = if matches!(&*found, "h" | "g" | "!") { &*found } else { "=" };
    assert_eq!(verdict(&world.plan_with(&desired, &options)), next, "after {found}: {file} {applied} {live}");
    found
}

#[test]
fn the_resource_itself() {
    // Live without a record is not ours: it is met by its name, not at an address.
    let cell = |revert| move |file: &str, applied: &str, live: &str| existence(revert, [file, applied, live]);
    table("never applied", "-", "- - | =\n + - | c", cell(false));
    // Of what goes though it moved live, that is said.
    table("applied", "- + ~", "- + | o x x\n + + | g = h\n ~ + | ! u !", cell(false));
    table("applied, revert", "- + ~", "- + | o x x\n + + | n = u\n ~ + | n u !", cell(true));
}

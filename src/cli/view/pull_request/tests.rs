//! What a pull request shows of a plan.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::cli::view::sample;
use crate::model::Digest;
use crate::plan::{About, Cause, Effect, Finding, Reversible, Verb};

pub(super) const REPOSITORY: &str = "https://github.com/acme/agents";
pub(super) const RUN: &str = "https://github.com/acme/agents/actions/runs/7";
pub(super) const HEAD: &str = "3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d";
pub(super) const BASE: &str = "a81b44c0a81b44c0a81b44c0a81b44c0a81b44c0";

/// All that a pull request knows beside its plan.
pub(super) fn comment<'a>(plan: &'a Plan, causes: &'a BTreeMap<String, RowCause>) -> Comment<'a> {
    Comment {
        plan,
        key: Some("prod"),
        causes,
        links: Links { repository: Some(REPOSITORY), run: Some(RUN), folder: "team" },
        head: Some(HEAD),
        base: Some(BASE),
        previous: None,
        notes: &[],
    }
}

/// Every action by this pull request, but for those of live and of before.
fn all_causes(plan: &Plan) -> BTreeMap<String, RowCause> {
    let cause = |a: &crate::plan::Action| match a.verb {
        Verb::Publish => RowCause::MergedNotApplied,
        _ if a.about.changes.iter().any(|c| c.cause == Cause::Live) => RowCause::MovedLive,
        _ => RowCause::ThisPullRequest,
    };
    plan.actions.iter().map(|a| (a.id.clone(), cause(a))).collect()
}

#[test]
fn a_comment_with_most_things() {
    let mut plan = sample::plan();
    plan.findings = sample::refused().findings;
    plan.applyable = false;
    let causes = all_causes(&plan);
    let before = marker(&comment(&plan, &causes)).unwrap();
    let mut before = Marker { head: Some(BASE.to_owned()), digest: Some(Digest::of(b"other")), ..before };
    before.actions[1] = "0123456789abcdef".to_owned();
    before.names.push("Agent/gone#create".to_owned());
    before.actions.push("fedcba9876543210".to_owned());
    before.names.remove(0);
    before.actions.remove(0);
    let notes = ["The policy of the base branch holds.".to_owned()];
    let comment = Comment { previous: Some(&before), notes: &notes, ..comment(&plan, &causes) };
    let text = body(&comment, COMMENT);
    assert_eq!(Marker::read(&text), marker(&comment));
    insta::assert_snapshot!(text.split_once('\n').unwrap().1, @r#"
    ### checkfu plan: `prod` — 1 to create, 1 to update, 1 to publish, 1 to retire, 1 to settle
    <!-- checkfu: plan -->

    Owner `acme/support`, target `local (embedded .checkfu/workspace.db)`.

    The policy of the base branch holds.

    > [!CAUTION]
    > **This plan cannot be applied:** `plan.irreversible` (refused, 1). The findings below say why, and what to do.
    >
    > **1 retirement**, **1 that cannot be undone**: `Agent/old`.

    #### What agents may newly do

    - `Agent/support`: may now use the tool bash

    |  | Resource | What changes | Cause | Where |
    |---|---|---|---|---|
    | **➖ retire** | `Agent/old` | **cannot be undone**; removed: in checkfu.yaml names it | this pull request | [`checkfu.yaml:9`](https://github.com/acme/agents/blob/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d/team/checkfu.yaml#L9) |
    | ➕ create | `Agent/billing` | model: claude-sonnet-5 | this pull request | [`agents/billing.md:1`](https://github.com/acme/agents/blob/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d/team/agents/billing.md?plain=1#L1) |
    | ✏️ update | `Agent/support` | `instructions` +1 −1, `model.id` | this pull request | [`agents/support.md:1`](https://github.com/acme/agents/blob/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d/team/agents/support.md?plain=1#L1) |
    | ⬆️ publish | `Skill/triage` | files: 1 added, 1 changed; **live at once for 1 agent** | merged, not applied | [`skills/triage/SKILL.md:1`](https://github.com/acme/agents/blob/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d/team/skills/triage/SKILL.md?plain=1#L1) |

    <details open><summary>➕ create <code>Agent/billing</code></summary>

    ```diff
    + instructions: 3 lines
    + model: claude-sonnet-5
    + skills: []
    ```

    </details>

    <details open><summary>✏️ update <code>Agent/support</code>: <code>instructions</code> +1 −1, <code>model.id</code></summary>

    `instructions` in [`agents/support.md:26`](https://github.com/acme/agents/blob/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d/team/agents/support.md?plain=1#L26)

    ```diff
    @@ instructions, sentences 19-21 of 40 @@
      Rule 19: be kind and answer in short sentences.
    - Rule 20: be kind and answer in short sentences.
    + Rule 20: be friendly and answer in short sentences.
    ! kind → friendly
      Rule 21: be kind and answer in short sentences.
    @@ model.id @@
    - "claude-haiku-5"
    + "claude-sonnet-5"
    # may now use the tool bash
    ```

    </details>

    <details open><summary>⬆️ publish <code>Skill/triage</code>: files: 1 added, 1 changed</summary>

    ```diff
    ! SKILL.md  1.2 KB
    + notes.md  300 B
    # 1.5 KB to upload
    # live at once for 1 agent: Agent/faq
    # used by Agent/support
    ```

    </details>

    <details><summary>Live is not as the files say, and stays so</summary>

    - held `Agent/faq` `description` by `jane` at `2026-11-30T09:00:00Z`
      ```diff
      - "Answers"
      + "Answers questions"
      ```

    </details>

    #### Findings

    - refused `plan.irreversible`: Agent/old cannot be brought back once it is archived

      Fix: in checkfu.yaml; where it has \`removed:\` already, only the lines below that key:

      ```yaml
      removed:
        - {address: Agent/old}
      ```

    <details><summary>Notes</summary>

    - note `plan.source_unknown`: no Git: it is not known whether this is the newest source

    </details>

    12 unchanged, 1 held. To settle, where file and live agree: `Environment/default`.

    Since the plan at <a href="https://github.com/acme/agents/commit/a81b44c0a81b44c0a81b44c0a81b44c0a81b44c0"><code>a81b44c</code></a>: new `Agent/billing#create`; changed `Agent/support#update`; no more `Agent/gone#create`; 3 as before.

    <!-- checkfu: foot -->
    <sub>Planned at <a href="https://github.com/acme/agents/commit/3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d3f2c9e1d"><code>3f2c9e1</code></a> on <a href="https://github.com/acme/agents/commit/a81b44c0a81b44c0a81b44c0a81b44c0a81b44c0"><code>a81b44c</code></a> in <a href="https://github.com/acme/agents/actions/runs/7">this run</a>. Digest <code>sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525</code>.</sub>
    "#);
}

#[test]
fn a_plan_alone_has_no_marker_and_nothing_to_link_to() {
    insta::assert_snapshot!(alone(&sample::owners(), COMMENT), @r#"
    ### checkfu: 1 to update, 1 to publish, 1 to rename, 1 to adopt, 1 to take-over, 1 to release, 1 to hand-over

    Owner `acme/support`, target `local (embedded .checkfu/workspace.db)`.

    |  | Resource | What changes | Where |
    |---|---|---|---|
    | 🔀 adopt, update | `Agent/made` | nobody owns agent\_7; this project does from now on; `description` | `checkfu.yaml:9` |
    | 🔀 rename | `Agent/old → Agent/new` | \`moved:\`; agent\_1 and its versions stay | `checkfu.yaml:9` |
    | 🔀 hand-over | `Skill/away` | left for acme/c, which takes skill\_3 with its next apply | `checkfu.yaml:9` |
    | 🔀 release | `Skill/kept` | \`removed:\` with \`keep\`; skill\_2 stays, and nobody owns it | `checkfu.yaml:9` |
    | 🔀 take-over, publish | `Skill/tone` | acme/b loses skill\_1; **live at once for 1 agent** | `checkfu.yaml:9` |

    <details open><summary>🔀 adopt, update <code>Agent/made</code>: <code>description</code></summary>

    ```diff
    @@ description @@
    - "theirs"
    + "ours"
    ```

    </details>

    <details open><summary>🔀 take-over, publish <code>Skill/tone</code></summary>

    ```diff
    # live at once for 1 agent: acme/b:Agent/desk
    # used by Agent agent-9, which nobody owns
    ```

    </details>

    12 unchanged.

    Digest `sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525`; the whole plan is in the plan file (`checkfu plan -o FILE`, `checkfu show FILE`).
    "#);
}

#[test]
fn what_a_diff_shows_is_no_plan() {
    let mut plan = sample::empty();
    plan.format = "checkfu.diff/v1".to_owned();
    assert!(alone(&plan, COMMENT).starts_with("### checkfu: nothing changes\n"));
    let causes = BTreeMap::new();
    let text = body(&comment(&plan, &causes), COMMENT);
    assert!(text.contains("\n### checkfu diff: `prod` — nothing changes\n"), "{text}");
    assert!(alone(&plan, COMMENT).contains("`checkfu diff` shows all of it"));
}

pub(super) fn big(n: usize) -> Plan {
    let mut plan = sample::empty();
    for i in 0..n {
        let mut about = sample::about(&format!("agents/a{i}.md:1:1"));
        about.changes = vec![sample::change("instructions", json!(sample::prompt()), json!("Other.\n".repeat(i % 90)))];
        plan.actions.push(sample::action(Verb::Update, &format!("Agent/a{i}"), about));
        let mut about = sample::about("checkfu.yaml:1:1");
        about.reversible = Reversible::No;
        plan.actions.push(sample::action(Verb::Retire, &format!("Agent/z{i}"), about));
    }
    plan.findings = sample::refused().findings.into_iter().cycle().take(n).collect();
    plan
}

#[test]
fn ten_thousand_actions_fit_and_every_number_is_there() {
    let plan = big(10_000);
    let causes = all_causes(&plan);
    let text = body(&comment(&plan, &causes), COMMENT);
    assert!(text.len() <= COMMENT, "{}", text.len());
    assert!(text.len() > COMMENT - 5_000, "the room is used: {}", text.len());
    for wanted in [
        "10000 to update, 10000 to retire",
        "**10000 retirements**, **10000 that cannot be undone**",
        "plan.irreversible",
    ] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let rows = |verb: &str| text.lines().filter(|l| l.starts_with('|') && l.contains(verb)).count();
    let (retired, updated) = (rows("➖ retire"), rows("✏️ update"));
    assert!(retired > 200 && updated <= 100, "{retired} {updated}");
    let left = format!("{} resources, {} retirements among them", 20_000 - retired - updated, 10_000 - retired);
    assert!(text.contains(&left), "{left}");
    // Of all there is no more to be left out.
    let plan = big(300);
    let whole = body(&comment(&plan, &all_causes(&plan)), WHOLE);
    assert_eq!(whole.lines().filter(|l| l.starts_with("| ")).count(), 601);
    assert!(!whole.contains("is left out here") && !whole.contains("Not shown here"));
}

#[test]
fn every_size_fits_and_retirements_come_first() {
    for n in [1, 10, 50, 100, 300, 1_000] {
        let mut plan = big(n);
        plan.findings.clear();
        let causes = all_causes(&plan);
        for budget in [COMMENT, SUMMARY] {
            let text = body(&comment(&plan, &causes), budget);
            assert!(text.len() <= budget, "{n}: {} of {budget}", text.len());
            let update = text.find("| ✏️ update").unwrap_or(usize::MAX);
            assert!(text.find("| **➖ retire").unwrap() < update);
        }
    }
}

/// One agent whose prompt has this many sentences, each changed in a word.
fn prompt(sentences: usize) -> Plan {
    let text = |word: &str| {
        (0..sentences)
            .map(|i| format!("Sentence {i} is about a {word} matter.\n\nAnd so on {i}.\n\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let mut plan = sample::empty();
    for name in ["a", "b"] {
        let changes = vec![sample::change("instructions", json!(text("large")), json!(text("small")))];
        plan.actions.push(sample::action(
            Verb::Update,
            &format!("Agent/{name}"),
            About { changes, ..sample::about("a.md:1:1") },
        ));
        plan.actions.push(sample::action(Verb::Create, &format!("Agent/{name}n"), sample::about("a.md:1:1")));
    }
    plan
}

#[test]
fn less_and_less_is_shown_until_all_fits() {
    let causes = BTreeMap::new();
    let shown = |sentences: usize, budget: usize| {
        let plan = prompt(sentences);
        let text = body(&comment(&plan, &causes), budget);
        assert!(text.len() <= budget && text.contains(&plan.digest.to_string()), "{} of {budget}", text.len());
        text
    };
    let count = |text: &str, what: &str| text.matches(what).count();
    let all = shown(100, WHOLE);
    assert!(all.contains("\n  And so on 7.\n") && count(&all, "<details>") == 4, "{all}");
    // First the sentences around, then what is new, then the middle of what is long, then the largest as a whole.
    let close = shown(100, all.len() - 100);
    assert!(!close.contains("\n  And so on") && count(&close, "<details>") == 4, "{}", close.len());
    let mut told = Vec::new();
    for budget in (4_500..all.len()).step_by(300) {
        let text = shown(100, budget);
        told.push((count(&text, "<details>"), count(&text, "⚠️ shortened"), count(&text, "diff in the job summary")));
    }
    told.dedup();
    assert_eq!(told, [(0, 0, 2), (1, 1, 1), (2, 2, 0), (2, 0, 0), (4, 0, 0)]);
    let short = shown(100, 9_000);
    assert!(short.contains("left out here (+") && short.contains("see the job summary …"), "{short}");
    assert!(short.contains("⚠️ To fit here, something is left out: lines of "), "{short}");
}

#[test]
fn findings_leave_room_for_retirements_and_every_refusal_is_there_with_its_fix() {
    let mut plan = big(1_100);
    let note = sample::refused().findings.remove(1);
    plan.findings =
        (0..3_000).map(|i| Finding { message: format!("note {i}: {}", "x".repeat(300)), ..note.clone() }).collect();
    for i in 0..1_100 {
        let mut gone = sample::refused().findings.remove(0);
        let address = format!("Agent/z{i}");
        gone.message = format!("{address} would be gone for good");
        gone.fix = Some(format!("add to checkfu.yaml:\nremoved:\n  - {{address: {address}}}"));
        gone.address = Some(sample::address(&address));
        plan.findings.push(gone);
    }
    for i in 0..2 {
        let mut limit = note.clone();
        limit.code = "plan.retire".to_owned();
        limit.effect = Effect::Refuses;
        limit.message = format!("{i}00 of more than 20 would go");
        limit.fix = Some("if this is meant: --allow retire".to_owned());
        plan.findings.push(limit);
    }
    let text = alone(&plan, COMMENT);
    assert!(text.len() <= COMMENT);
    assert!(text.lines().filter(|l| l.starts_with("| **➖ retire**")).count() > 400, "{}", &text[..20_000]);
    assert_eq!(text.matches("- refused `plan.irreversible`, 1100 times").count(), 1);
    for wanted in ["000 of more than 20", "100 of more than 20", "--allow retire", "1101 lines, more than fit"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let notes = text.lines().filter(|l| l.starts_with("- note ")).count();
    assert!(text.contains(&format!("{} notes", 3_000 - notes)), "{notes}");
    // A block that fits is whole, and what is in its fence is YAML alone.
    plan.findings.retain(|f| f.code != "plan.irreversible" || f.address.as_ref().is_some_and(|a| a.name.len() < 4));
    let text = alone(&plan, COMMENT);
    let block = text.split("```yaml\n").nth(1).unwrap().split("  ```").next().unwrap();
    let lines: Vec<&str> = block.lines().map(str::trim_start).collect();
    assert!(lines.len() == 101 && lines[1..].iter().all(|l| l.starts_with("- {address: ")), "{block}");
}

#[test]
fn what_stays_is_told_with_who_wrote_it() {
    let text = alone(&sample::with_kept(sample::plan(), "kim"), COMMENT);
    for says in [
        "- held `MemoryStore/notes` `description`: owned again; live differs from the file",
        "- `MemoryStore/notes` `/learned/kim` by `kim` at `2026-11-30T09:00:00Z`",
        "- `MemoryStore/notes` `/learned/old.md` deleted by another",
        "- `MemoryStore/notes` and 10 more",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn what_an_agent_may_newly_do_comes_first_and_what_writes_before_all() {
    let mut plan = sample::plan();
    plan.actions[0].about.capabilities = vec![
        "may no longer use bash".to_owned(),
        "may use web_fetch".to_owned(),
        "network loosened: limited → unrestricted".to_owned(),
    ];
    plan.actions[2].about.capabilities = vec!["billing gains read_write access to notes".to_owned()];
    let text = alone(&plan, COMMENT);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    let order = [
        "#### What agents may newly do",
        "**billing gains read\\_write access to notes**",
        "network loosened",
        "may use web\\_fetch",
        "#### What agents may no more",
        "may no longer use bash",
        "| Resource |",
    ];
    assert!(order.windows(2).all(|w| at(w[0]) < at(w[1])), "{text}");
}

#[test]
fn a_comment_goes_on_without_planning_again() {
    let plan = sample::plan();
    let causes = all_causes(&plan);
    let planned = body(&comment(&plan, &causes), COMMENT);
    let run = Run { key: "prod", head: Some(HEAD), repository: Some(REPOSITORY), run: Some(RUN) };
    let marker = |state: State| Marker { state, ..marker(&comment(&plan, &causes)).unwrap() };
    let now = restate(&planned, &marker(State::Applying), &applying(&run)).unwrap();
    let mut receipt = sample::receipt();
    receipt.outcome = crate::receipt::Outcome::Partial;
    receipt.lines[1].outcome = "stale".to_owned();
    let then = restate(&now, &marker(State::Failed), &applied(&run, &receipt)).unwrap();
    assert_eq!(Marker::read(&then), Some(marker(State::Failed)));
    assert!(then.contains("\n### checkfu apply: `prod` — ⚠️ applied in part: 4 of 5 actions\n\n| Action |"), "{then}");
    let plan_of = |text: &str| {
        let (_, rest) = text.split_once("<!-- checkfu: plan -->\n").unwrap();
        rest.split_once("<!-- checkfu: foot -->\n")
            .map(|(plan, foot)| (plan.to_owned(), foot.lines().next().unwrap().to_owned()))
    };
    assert_eq!(plan_of(&planned), plan_of(&then));
    assert_eq!((then.matches("<sub>").count(), now.matches("⏳").count(), then.matches("⏳").count()), (2, 1, 0));
    // The same state again is the same text.
    assert_eq!(restate(&then, &marker(State::Failed), &applied(&run, &receipt)), Some(then.clone()));
    for other in ["", "hello", &planned[1..], &planned.replace("<!-- checkfu: plan -->", "")] {
        assert_eq!(restate(other, &marker(State::Applied), &applying(&run)), None, "{other}");
    }
    // What is longest still fits what a code host takes.
    let large = big(3_000);
    let text = body(&comment(&large, &causes), COMMENT);
    let rows: Vec<_> = (0..5_000).map(|i| (format!("Agent/{}{i}", "x".repeat(64)), "é|".repeat(500))).collect();
    let text = restate(&text, &marker(State::Failed), &refused(&run, &rows, 5_000)).unwrap();
    assert!(text.len() < 65_000 && text.contains("**The rest is left out here.**"), "{}", text.len());
}

#[test]
fn the_plan_of_the_last_push_is_compared_with_this_one() {
    let (plan, causes) = (sample::plan(), BTreeMap::new());
    let mut now = comment(&plan, &causes);
    let before = Marker { head: Some(BASE.to_owned()), ..marker(&now).unwrap() };
    now.previous = Some(&before);
    assert!(body(&now, COMMENT).contains("\nThe same as the plan at <a href="));
    let many = Marker { total: 900, actions: Vec::new(), names: Vec::new(), digest: None, ..before.clone() };
    now.previous = Some(&many);
    assert!(body(&now, COMMENT).contains("(900 actions then, 5 now)"));
    let none = Marker { total: 0, ..many.clone() };
    now.previous = Some(&none);
    assert!(
        body(&now, COMMENT).contains("new `Agent/billing#create`, `Agent/support#update`"),
        "{}",
        body(&now, COMMENT)
    );
    let unnamed = Marker { actions: vec!["0123456789abcdef".to_owned()], total: 1, ..none.clone() };
    now.previous = Some(&unnamed);
    assert!(body(&now, COMMENT).contains("1 action of before changed or gone; 0 as before"));
}

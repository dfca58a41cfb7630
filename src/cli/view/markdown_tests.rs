//! What a pull request shows of a plan.

use super::*;
use crate::cli::view::sample;
use crate::plan::{Finding, Reversible};
use serde_json::json;

#[test]
fn a_plan_with_most_things() {
    let mut plan = sample::plan();
    plan.findings = sample::refused().findings;
    insta::assert_snapshot!(super::plan(&plan), @r#"
    ### checkfu: 1 to create, 1 to update, 1 to publish, 1 to retire, 1 to settle

    Owner `acme/support`, target `local (embedded .checkfu/workspace.db)`.

    | kind | create | update | publish | retire | record |
    |---|---:|---:|---:|---:|---:|
    | Agent | 1 | 1 |  | 1 |  |
    | Environment |  |  |  |  | 1 |
    | Skill |  |  | 1 |  |  |

    1 retirement, **1 that cannot be undone**, 1 held, 0 blocked, 12 unchanged.

    Findings: `plan.irreversible` (refused, 1), `plan.source_unknown` (note, 1).

    Digest `sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525`; the whole plan is in the plan file (`checkfu plan -o FILE`, `checkfu show FILE`).

    <details><summary>Findings</summary>

    - refused `plan.irreversible`: Agent/old cannot be brought back once it is archived

      Fix: in checkfu.yaml; where it has \`removed:\` already, only the lines below that key:

      ```yaml
      removed:
        - {address: Agent/old}
      ```
    - note `plan.source_unknown`: no Git: it is not known whether this is the newest source

    </details>

    <details><summary>Retirements</summary>

    - retire `Agent/old` at `checkfu.yaml:9:12`, **cannot be undone**

    </details>

    <details><summary>Changes</summary>

    - create `Agent/billing` at `agents/billing.md:1:1`
      ```diff
      + model: claude-sonnet-5
      ```
    - update `Agent/support` at `agents/support.md:1:1`
      ```diff
      @@ instructions @@
        Rule 19: be kind and answer in short sentences.
      ! Rule 20: be [-kind-]{+friendly+} and answer in short sentences.
        Rule 21: be kind and answer in short sentences.
      @@ model.id @@
      - "claude-haiku-5"
      + "claude-sonnet-5"
      # may now use the tool bash
      ```
    - record `Environment/default` at `env.yaml:1:1`
    - publish `Skill/triage` at `skills/triage/SKILL.md:1:1`
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
    "#);
}

fn big(n: usize) -> Plan {
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
    let text = super::plan(&big(10_000));
    assert!(text.len() <= BUDGET, "{}", text.len());
    assert!(text.len() > BUDGET - 5_000, "the room is used: {}", text.len());
    for wanted in
        ["10000 to update, 10000 to retire", "10000 retirements, **10000 that cannot be undone**", "plan.irreversible"]
    {
        assert!(text.contains(wanted), "{wanted}");
    }
    let shown = |verb: &str| text.lines().filter(|l| l.starts_with(&format!("- {verb} "))).count();
    assert!(text.contains(&format!("{} retire", 10_000 - shown("retire"))));
    assert!(text.contains(&format!("{} update", 10_000 - shown("update"))));
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    assert_eq!(text.matches("```").count() % 2, 0, "no fence is left open");
}

#[test]
fn every_size_fits_and_retirements_come_first() {
    for n in [1, 10, 50, 100, 300, 1_000] {
        let mut plan = big(n);
        plan.findings.clear();
        let text = super::plan(&plan);
        assert!(text.len() <= BUDGET);
        let update = text.find("- update").unwrap_or(usize::MAX);
        assert!(text.find("- retire").unwrap() < update);
    }
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
    let text = super::plan(&plan);
    assert!(text.len() <= BUDGET);
    assert!(text.lines().filter(|l| l.starts_with("- retire ")).count() > 400, "{}", &text[..20_000]);
    assert_eq!(text.matches("- refused `plan.irreversible`, 1100 times").count(), 1);
    for wanted in ["000 of more than 20", "100 of more than 20", "--allow retire", "1101 lines, more than fit"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let notes = text.lines().filter(|l| l.starts_with("- note ")).count();
    assert!(text.contains(&format!("{} findings", 3_000 - notes)), "{notes}");
    // A block that fits is whole, and what is in its fence is YAML alone.
    plan.findings.retain(|f| f.code != "plan.irreversible" || f.address.as_ref().is_some_and(|a| a.name.len() < 4));
    let text = super::plan(&plan);
    let block = text.split("```yaml\n").nth(1).unwrap().split("  ```").next().unwrap();
    let lines: Vec<&str> = block.lines().map(str::trim_start).collect();
    assert!(lines.len() == 101 && lines[1..].iter().all(|l| l.starts_with("- {address: ")), "{block}");
}

#[test]
fn what_stays_is_told_with_who_wrote_it() {
    let text = super::plan(&sample::with_kept(sample::plan(), "kim"));
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
fn user_text_is_never_markup() {
    let mut plan = sample::plan();
    let evil = "`@octocat` </details><script>x</script> ![i](http://x) ``` #12 \u{202e}\n```\n</details>";
    plan.actions[1].about.changes[1].after = Some(json!(evil));
    plan.actions[1].about.changes[1].path = evil.to_owned();
    plan.actions[1].about.at = Some(evil.to_owned());
    plan.findings = sample::refused().findings;
    plan.findings[0].message = evil.to_owned();
    plan.findings[0].fix = Some(evil.to_owned());
    plan.origin.at = evil.to_owned();
    plan.held[0].actor = Some(evil.to_owned());
    let text = super::plan(&sample::with_kept(plan, evil));
    assert!(!text.contains('\u{202e}'));
    assert_eq!(prose("@octocat <b> #1 `x`"), "@<!-- -->octocat &lt;b&gt; #<!-- -->1 \\`x\\`");
    assert_eq!(code("a`b``c"), "```a`b``c```");
    assert_eq!(code("`"), "`` ` ``");
    assert!(fence("diff", "````\n").starts_with("`````diff\n"));
    // Outside code there is no markup but ours.
    let outside: String = text.lines().filter(|l| !l.starts_with("  ")).map(strip_code).collect();
    assert!(!outside.contains("<script>") && !outside.contains("@octocat") && !outside.contains("[i]"), "{outside}");
}

/// A line without its code spans.
fn strip_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks: String = rest[start..].chars().take_while(|c| *c == '`').collect();
        // An escaped backtick opens nothing.
        if rest[..start].ends_with('\\') {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        out.push_str(&rest[..start]);
        let after = &rest[start + ticks.len()..];
        let end = after.match_indices(&ticks).map(|(i, _)| i).find(|i| !after[i + ticks.len()..].starts_with('`'));
        rest = end.map_or("", |i| &after[i + ticks.len()..]);
    }
    out + rest + "\n"
}

#[test]
fn whoever_gets_and_loses_something_is_named() {
    insta::assert_snapshot!(super::plan(&sample::owners()), @r#"
    ### checkfu: 1 to update, 1 to publish, 1 to rename, 1 to adopt, 1 to take-over, 1 to release, 1 to hand-over

    Owner `acme/support`, target `local (embedded .checkfu/workspace.db)`.

    | kind | update | publish | rename | adopt | take-over | release | hand-over |
    |---|---:|---:|---:|---:|---:|---:|---:|
    | Agent | 1 |  | 1 | 1 |  |  |  |
    | Skill |  | 1 |  |  | 1 | 1 | 1 |

    0 retirements, **0 that cannot be undone**, 0 held, 0 blocked, 12 unchanged.

    Digest `sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525`; the whole plan is in the plan file (`checkfu plan -o FILE`, `checkfu show FILE`).

    <details><summary>Changes</summary>

    - adopt `Agent/made` at `checkfu.yaml:9:3`: nobody owns agent\_7; this project does from now on
    - update `Agent/made` at `agents/made.md:2:1`
      ```diff
      @@ description @@
      - "theirs"
      + "ours"
      ```
    - rename `Agent/old → Agent/new` at `checkfu.yaml:9:3`: \`moved:\`; agent\_1 and its versions stay
    - hand-over `Skill/away` at `checkfu.yaml:9:3`: left for acme/c, which takes skill\_3 with its next apply
    - release `Skill/kept` at `checkfu.yaml:9:3`: \`removed:\` with \`keep\`; skill\_2 stays, and nobody owns it
    - take-over `Skill/tone` at `checkfu.yaml:9:3`: acme/b loses skill\_1
    - publish `Skill/tone` at `skills/tone/SKILL.md:1:1`
      ```diff
      # live at once for 1 agent: acme/b:Agent/desk
      # used by Agent agent-9, which nobody owns
      ```

    </details>
    "#);
}

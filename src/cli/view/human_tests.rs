//! What people see of a plan.

use super::*;
use crate::cli::view::sample;

fn shown(plan: &Plan) -> String {
    style::plain(&super::plan(plan, Options { verbose: false, unchanged: "", texts: None }))
}

#[test]
fn a_plan_with_most_things() {
    insta::assert_snapshot!(shown(&sample::plan()), @r#"
    acme/support → local (embedded .checkfu/workspace.db)

      + create   Agent/billing  agents/billing.md:1:1
          instructions: 3 lines · model: claude-sonnet-5 · skills: []
      - retire   Agent/old      checkfu.yaml:9:12
          removed: in checkfu.yaml names it
          cannot be undone
      ~ update   Agent/support  agents/support.md:1:1
          instructions  agents/support.md:26:1
              19  Rule 19: be kind and answer in short sentences.
            ~ 20  Rule 20: be [-kind-]{+friendly+} and answer in short sentences.
              21  Rule 21: be kind and answer in short sentences.
          model.id  "claude-haiku-5" → "claude-sonnet-5"
          may now use the tool bash
      ↑ publish  Skill/triage   skills/triage/SKILL.md:1:1
          ~ SKILL.md  1.2 KB
          + notes.md  300 B
          1.5 KB to upload
          live at once for 1 agent: Agent/faq
          used by Agent/support

    Live is not as the files say, and stays so:
      ≠ held  Agent/faq  by jane at 2026-11-30T09:00:00Z
          description  "Answers" → "Answers questions"  (last applied → live)  agents/faq.md:3:1
      put back with --revert ADDRESS or --revert-all, or write it into the files to keep it

    To settle: file and live agree, only the record differs
      = Environment/default

    Plan: 1 to create, 1 to update, 1 to publish, 1 to retire, 1 to settle; 12 unchanged, 1 held, 1 cannot be undone
    digest sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525
    "#);
}

#[test]
fn a_conflict_alone_is_not_said_to_be_put_back() {
    let mut plan = sample::plan();
    assert!(shown(&plan).contains("--revert ADDRESS"));
    plan.held[0].conflict = true;
    assert!(!shown(&plan).contains("--revert"), "--revert decides no conflict");
}

#[test]
fn a_refused_plan_is_still_shown_with_all_reasons() {
    let text = shown(&sample::refused());
    let at = text.find("Findings:").unwrap();
    insta::assert_snapshot!(&text[at..], @r"
    Findings:
      refused plan.irreversible
          Agent/old cannot be brought back once it is archived
          fix: in checkfu.yaml; where it has `removed:` already, only the lines below that key:
            removed:
              - {address: Agent/old}
      note plan.source_unknown
          no Git: it is not known whether this is the newest source

    Plan: 1 to create, 1 to update, 1 to publish, 1 to retire, 1 to settle; 12 unchanged, 1 held, 1 cannot be undone
    This plan cannot be applied; the findings say why.
    digest sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525
    ");
}

#[test]
fn an_empty_plan_says_that_nothing_is_to_do() {
    insta::assert_snapshot!(shown(&sample::empty()), @r"
    acme/support → local (embedded .checkfu/workspace.db)

    Nothing to do: 12 unchanged
    digest sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525
    ");
}

#[test]
fn a_changed_mode_is_a_change_and_no_settling() {
    let mut plan = sample::empty();
    let mut mode = sample::change("modes[/answers].mode", serde_json::json!("upkeep"), serde_json::json!("enforce"));
    mode.at = Some("knowledge.yaml:9:5".to_owned());
    let about = crate::plan::About { changes: vec![mode], ..sample::about("knowledge.yaml:1:1") };
    plan.actions = vec![sample::action(Verb::Record, "MemoryStore/answers", about)];
    insta::assert_snapshot!(shown(&plan), @r#"
    acme/support → local (embedded .checkfu/workspace.db)

      = record  MemoryStore/answers  knowledge.yaml:1:1
          modes[/answers].mode  "upkeep" → "enforce"  knowledge.yaml:9:5

    Plan: 1 to record; 12 unchanged
    digest sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525
    "#);
}

#[test]
fn a_reference_to_a_replaced_resource_says_which() {
    let mut plan = sample::empty();
    let skills = serde_json::json!([{"skill": "triage", "content": "sha256:1"}]);
    let mut moved = sample::change("skills", skills.clone(), skills);
    moved.cause = Cause::Reference;
    let about = crate::plan::About { changes: vec![moved], ..sample::about("agents/a.md:1:1") };
    let mut action = sample::action(Verb::Repoint, "Agent/a", about);
    action.depends_on = vec!["Skill/triage#replace".to_owned()];
    plan.actions = vec![action];
    let text = shown(&plan);
    assert!(text.contains("skills  the old resource → the one in its place\n"), "{text}");
    assert!(text.contains("refers to Skill/triage, replaced by this plan\n"), "{text}");
}

#[test]
fn no_line_ends_in_blanks() {
    let mut plan = sample::refused();
    plan.actions.iter_mut().for_each(|a| a.about.at = None);
    assert!(shown(&plan).lines().all(|l| l == l.trim_end()));
}

#[test]
fn an_update_of_one_word_shows_three_lines_of_the_prompt() {
    let text = shown(&sample::plan());
    assert_eq!(text.lines().filter(|l| l.contains("Rule ")).count(), 3);
    assert!(text.contains("[-kind-]{+friendly+}"));
}

#[test]
fn what_stays_is_told_with_who_wrote_it() {
    let text = shown(&sample::with_kept(sample::plan(), "kim"));
    for says in [
        "≠ held  MemoryStore/notes  owned again; live differs from the file",
        "(wanted → live)",
        "MemoryStore/notes  12 memories",
        "/learned/kim  by kim at 2026-11-30T09:00:00Z",
        "/learned/old.md  deleted by another",
        "… 10 more",
        "12 memories kept",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn nothing_from_a_workspace_reaches_the_terminal_raw() {
    let mut plan = sample::plan();
    let evil = "\u{1b}[2J\u{202e}evil\u{7}\r";
    plan.actions[1].about.changes[0].after = Some(serde_json::json!(evil));
    plan.actions[1].about.changes[1].before = Some(serde_json::json!(evil));
    plan.actions[1].about.changes[1].path = evil.to_owned();
    plan.actions[1].about.at = Some(evil.to_owned());
    plan.actions[1].about.capabilities = vec![evil.to_owned()];
    plan.actions[2].about.files[0].path = evil.to_owned();
    plan.actions[2].about.files[0].writer = Some(evil.to_owned());
    plan.held[0].actor = Some(evil.to_owned());
    plan.held[0].break_glass = Some(evil.to_owned());
    plan.held[0].live = Some(serde_json::json!(evil));
    plan.findings = sample::refused().findings;
    plan.findings[0].message = evil.to_owned();
    plan.findings[0].fix = Some(evil.to_owned());
    plan.origin.at = evil.to_owned();
    plan.scope = vec![evil.to_owned()];
    let plan = sample::with_kept(plan, evil);
    for verbose in [false, true] {
        let text = super::plan(&plan, Options { verbose, unchanged: "", texts: None });
        assert!(
            !text.contains("\u{1b}[2J")
                && !text.contains('\u{202e}')
                && !text.contains('\u{7}')
                && !text.contains('\r')
        );
        assert!(text.matches(r"\u{202e}evil").count() >= 12, "{text}");
    }
}

#[test]
fn whoever_gets_and_loses_something_is_named() {
    insta::assert_snapshot!(shown(&sample::owners()), @r#"
    acme/support → local (embedded .checkfu/workspace.db)

      ◀ adopt      Agent/made               checkfu.yaml:9:3
          nobody owns agent_7; this project does from now on
      ~ update     Agent/made               agents/made.md:2:1
          description  "theirs" → "ours"
      » rename     Agent/old → Agent/new    checkfu.yaml:9:3
          `moved:`; agent_1 and its versions stay
      ▶ hand-over  Skill/away               checkfu.yaml:9:3
          left for acme/c, which takes skill_3 with its next apply
      ▷ release    Skill/kept               checkfu.yaml:9:3
          `removed:` with `keep`; skill_2 stays, and nobody owns it
      ◁ take-over  Skill/tone               checkfu.yaml:9:3
          acme/b loses skill_1
      ↑ publish    Skill/tone               skills/tone/SKILL.md:1:1
          live at once for 1 agent: acme/b:Agent/desk
          used by Agent agent-9, which nobody owns

    Plan: 1 to update, 1 to publish, 1 to rename, 1 to adopt, 1 to take-over, 1 to release, 1 to hand-over; 12 unchanged
    digest sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525
    "#);
}

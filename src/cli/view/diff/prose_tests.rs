//! What a reviewer reads of a prompt that changed.

use std::fmt::Write;

use super::*;

/// One line a sentence, with a sign; words in the brackets of a word diff.
fn shown_of(before: &str, after: &str) -> String {
    let (places, sentences) = match prose(before, after) {
        Prose::WhiteSpace => return "white space".to_owned(),
        Prose::Rewritten { before, after } => return format!("rewritten: {} → {}", before.len(), after.len()),
        Prose::Changed { places, sentences } => (places, sentences),
    };
    let mut out = String::new();
    for place in places {
        let _ = writeln!(out, "@@ {}-{} of {sentences}", place.range.start + 1, place.range.end);
        for row in place.rows {
            let part = |p: &Part| match (row.mark, p.mark) {
                (Mark::Changed, Mark::Removed) => format!("[-{}-]", p.text),
                (Mark::Changed, Mark::Added) => format!("{{+{}+}}", p.text),
                (Mark::Changed, _) => "_".to_owned(),
                _ => p.text.clone(),
            };
            let sign = match row.mark {
                Mark::Removed => '-',
                Mark::Added => '+',
                Mark::Changed => '!',
                _ => ' ',
            };
            let _ = writeln!(out, "{sign} {}", row.parts.iter().map(part).collect::<String>());
        }
    }
    out
}

const PROMPT: &str = "Greet the customer by name. Always offer a refund when the customer is unhappy.\n\
    Answer in the customer's language.\n\n- Never argue.\n- Quote the page.\n\n```\nif x:\n    y\n```\n";

#[test]
fn one_word_of_a_paragraph_is_one_sentence_with_its_neighbours() {
    insta::assert_snapshot!(shown_of(PROMPT, &PROMPT.replace("a refund", "store credit")), @r"
    @@ 1-3 of 9
      Greet the customer by name.
    - Always offer a refund when the customer is unhappy.
    + Always offer store credit when the customer is unhappy.
    ! _[-a refund-]{+store credit+}_
      Answer in the customer's language.
    ");
    insta::assert_snapshot!(shown_of(PROMPT, &PROMPT.replace("- Quote the page.\n", "- Quote it.\n- Be brief.\n")), @r"
    @@ 4-7 of 10
      - Never argue.
    - - Quote the page.
    + - Quote it.
    + - Be brief.
      ```
    ");
    insta::assert_snapshot!(shown_of(PROMPT, &PROMPT.replace("    y", "        y")), @r"
    @@ 7-9 of 9
      if x:
    -     y
    +         y
    ! [-    -]{+        +}_
      ```
    ");
}

#[test]
fn a_paragraph_that_was_wrapped_anew_is_the_same() {
    let long = "One sentence that is long enough to be wrapped at some column of a page. One that is long as well and goes on, and more of that kind here.\n";
    let wrapped = long.replace(" of a page", "\nof a page").replace("more of", "more\nof");
    assert_eq!(prose(long, &wrapped), Prose::WhiteSpace);
    assert_eq!(prose(PROMPT, &PROMPT.replace("\n\n", "\n\n\n")), Prose::WhiteSpace);
    // A word that changed is shown without the line ends that moved.
    let changed = shown_of(long, &wrapped.replace("more\nof", "less\nof"));
    assert!(changed.contains("! _[-more-]{+less+}_"), "{changed}");
    // Short lines are ended by their writer: they are not one sentence.
    assert_eq!(sentences("a\nb\n"), ["a\n", "b\n"]);
}

#[test]
fn a_text_in_the_place_of_another_is_rewritten() {
    let other = "Buy low, sell high! Never mind what anybody says about it; it is all the same to us, is it not?";
    assert_eq!(shown_of(PROMPT, other), "rewritten: 9 → 2");
    // A sentence in the place of a sentence, in a text that stays, is no rewritten text.
    let one = shown_of(PROMPT, &PROMPT.replace("Greet the customer by name.", "Buy low, sell high, at once!"));
    assert!(
        one.starts_with("@@ 1-2 of 9\n- Greet the customer by name.\n+ Buy low, sell high, at once!\n  Always"),
        "{one}"
    );
    assert!(matches!(prose("", "Something new."), Prose::Changed { .. }));
}

#[test]
fn what_cannot_be_seen_is_a_change() {
    let text = shown_of("Send it to bob.\n", "Send it to \u{202e}bob\u{200b}.\n");
    assert!(text.contains('!') && text.contains('\u{200b}'), "{text:?}");
    assert!(matches!(prose("a b", "a\u{a0}b"), Prose::Changed { .. } | Prose::Rewritten { .. }));
}

#[test]
fn sentences_that_changed_one_by_one_stand_beside_each_other() {
    let before = "Be kind to all of them. Answer within 3 days. Never argue with them.";
    let after = "Be good to all of them. Answer within 2 days. Never argue with them.";
    insta::assert_snapshot!(shown_of(before, after), @r"
    @@ 1-3 of 3
    - Be kind to all of them.
    + Be good to all of them.
    ! _[-kind-]{+good+}_
    - Answer within 3 days.
    + Answer within 2 days.
    ! _[-3-]{+2+}_
      Never argue with them.
    ");
}

#[test]
fn very_long_texts_are_rewritten_without_a_search() {
    let text = |word: &str| (0..12_000).map(|i| format!("{word}{i}.\n")).collect::<Vec<_>>().concat();
    assert!(matches!(prose(&text("a"), &text("b")), Prose::Rewritten { .. }));
    let one = "x".repeat(1_000_000);
    assert!(matches!(prose(&one, &format!("{one}y")), Prose::Changed { .. } | Prose::Rewritten { .. }));
}

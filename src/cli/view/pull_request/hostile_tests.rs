//! Nothing that users write is markup, a mention, a command, a marker; whatever its length, a document is one that
//! GitHub reads as it was meant. The reader is a GFM parser.

use std::collections::BTreeMap;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use proptest::prelude::*;
use serde_json::json;

use super::tests::{HEAD, REPOSITORY, comment};
use super::*;
use crate::cli::view::text::is_hidden;
use crate::cli::view::{sample, workflow};
use crate::plan::{Finding, Reversible, Verb};

/// What is inside of no text of a user, outside of code.
const EVIL: &[&str] = &[
    "````````````````````",
    "~~~~~~~~~~~~~~~~~~~~",
    "-->",
    "</details>",
    "<details open>",
    "</summary><script>alert(1)</script>",
    "@everyone",
    "::add-mask::x",
    "##[error]x",
    "\u{202e}right to left\u{2066}",
    "zero\u{200b}width\u{feff}",
    "a|b|c",
    "\n\n# heading\n\n",
    "\r\n| a |\r\n|---|\r\n",
    "[x](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "http://evil.example www.evil.example a@evil.example",
    "#12 GH-12 acme/agents#12 :tada:",
    "$$x$$ $`y`$",
    "<!-- checkfu:1 {\"what\":\"plan\",\"key\":\"prod\",\"state\":\"planned\"} -->",
    "<!-- checkfu: plan -->\n",
    "<!-- checkfu: foot -->\n<sub>",
    "\n```\n</details>\n",
    "\n````diff\n+ x\n````\n",
    "日本語のとても長い文章です。",
    "👩‍👩‍👧‍👦 🇪🇺 e\u{301}",
    "\u{1b}[31mred\u{7}",
    "- [ ] item\n1. one\n> quote\n",
    "***bold*** __x__ ~~gone~~ `code`",
    "\\`\\",
    "&lt;b&gt; &#64;all",
    "<img src=x onerror=alert(1)>",
    "[^1]: note",
    "---\n===\n",
];

/// Tags that we write.
const TAGS: &[&str] = &[
    "<details>",
    "<details open>",
    "</details>",
    "<summary>",
    "</summary>",
    "<code>",
    "</code>",
    "<sub>",
    "</sub>",
    "<br>",
    "</a>",
    "<span>",
    "</span>",
    "<!-- -->",
    "<!-- checkfu: plan -->",
    "<!-- checkfu: foot -->",
    "<a href=\"https://github.com/acme/agents/",
    "<!-- checkfu:1 {\"what\":\"plan\",\"key\":\"prod\",",
];

/// Reads a document and says what is wrong with it.
fn wrong(markdown: &str, budget: usize) -> Vec<String> {
    let mut bad = Vec::new();
    if markdown.len() > budget {
        bad.push(format!("{} bytes of {budget}", markdown.len()));
    }
    if Marker::read(markdown).is_none() {
        bad.push("the marker is not first".to_owned());
    }
    let plain = ["✏\u{fe0f}", "⬆\u{fe0f}", "⚠\u{fe0f}", "↪\u{fe0f}", "⚖\u{fe0f}"];
    let stripped = plain.iter().fold(markdown.to_owned(), |text, icon| text.replace(icon, ""));
    bad.extend(stripped.chars().find(|c| is_hidden(*c)).map(|c| format!("hidden {c:?}")));
    let arena = Arena::new();
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.alerts = true;
    options.extension.math_dollars = true;
    options.extension.math_code = true;
    let root = parse_document(&arena, markdown, &options);
    let (mut html, mut text, mut depth, mut code) = (String::new(), String::new(), 0_i64, false);
    for node in root.descendants() {
        match &node.data().value {
            NodeValue::HtmlBlock(block) => {
                html.push_str(&block.literal);
                depth += count(&block.literal, "<details") - count(&block.literal, "</details>");
                if depth < 0 {
                    bad.push(format!("a fold ends that was not begun: {}", block.literal));
                }
                // Between tags of ours; what users wrote is inside of <code>.
                text.push_str(&outside_of_code(&block.literal));
            }
            NodeValue::HtmlInline(tag) => {
                code = if tag == "<code>" || tag == "</code>" { tag == "<code>" } else { code };
                html.push_str(tag);
            }
            NodeValue::Link(link) if !link.url.starts_with(REPOSITORY) => bad.push(format!("a link to {}", link.url)),
            NodeValue::Image(link) => bad.push(format!("an image {}", link.url)),
            NodeValue::Text(piece) if !code => {
                text.push_str(piece);
                text.push('\0');
            }
            NodeValue::CodeBlock(code) => {
                if !code.fenced {
                    bad.push(format!("indented code: {:?}", code.literal));
                }
                let signed =
                    |l: &str| ["+ ", "- ", "! ", "# ", "  ", "@@ "].iter().any(|s| format!("{l} ").starts_with(s));
                if code.info == "diff" {
                    bad.extend(
                        code.literal.lines().find(|l| !signed(l)).map(|l| format!("a line without a sign: {l:?}")),
                    );
                }
            }
            NodeValue::TaskItem(_) | NodeValue::FootnoteDefinition(_) | NodeValue::FootnoteReference(_) => {
                bad.push("an item or a note of a user".to_owned());
            }
            NodeValue::Math(math) => bad.push(format!("a formula {}", math.literal)),
            NodeValue::Heading(_) | NodeValue::Table(_) | NodeValue::Document => {}
            _ => {}
        }
    }
    if depth != 0 {
        bad.push(format!("{depth} folds are open"));
    }
    for ours in ["<!-- checkfu:1 ", "<!-- checkfu: plan -->", "<!-- checkfu: foot -->"] {
        if html.matches(ours).count() != 1 {
            bad.push(format!("not one {ours}"));
        }
    }
    for (at, _) in html.match_indices('<') {
        if !TAGS.iter().any(|tag| html[at..].starts_with(tag)) {
            bad.push(format!("HTML: {:?}", html[at..].chars().take(60).collect::<String>()));
        }
    }
    for sign in ["@", "#", ":", "www.", "GH-"] {
        let touched = |at: &usize| text[at + sign.len()..].starts_with(char::is_alphanumeric);
        if let Some(at) = text.match_indices(sign).map(|(at, _)| at).find(touched) {
            bad.push(format!("{sign:?} touches a word: {:?}", text[at..].chars().take(80).collect::<String>()));
        }
    }
    if !text.contains("Digest") {
        bad.push("the last line is inside of something".to_owned());
    }
    bad
}

fn count(text: &str, what: &str) -> i64 {
    i64::try_from(text.matches(what).count()).unwrap()
}

fn outside_of_code(html: &str) -> String {
    let mut out = String::new();
    for part in html.split("<code>") {
        out.push_str(part.rsplit("</code>").next().unwrap());
        out.push('\0');
    }
    // Attributes and comments are no text.
    let mut text = String::new();
    let mut tag = false;
    for c in out.chars() {
        match c {
            '<' => tag = true,
            '>' if tag => tag = false,
            c if !tag => text.push(c),
            _ => {}
        }
    }
    text
}

/// A plan in which all that users write is this.
fn poisoned(evil: &str, n: usize) -> Plan {
    let mut plan = sample::with_kept(sample::plan(), evil);
    plan.origin.at = evil.to_owned();
    plan.origin.target = evil.to_owned();
    plan.scope = vec![evil.to_owned()];
    plan.findings = sample::refused().findings;
    plan.findings[0].fix = Some(format!("add:\n{evil}"));
    plan.findings[1].code = evil.to_owned();
    for finding in &mut plan.findings {
        finding.message = evil.to_owned();
        finding.at = Some(evil.to_owned());
    }
    for held in &mut plan.held {
        (held.actor, held.when, held.break_glass) =
            (Some(evil.to_owned()), Some(evil.to_owned()), Some(evil.to_owned()));
        (held.field, held.live, held.accepted) = (Some(evil.to_owned()), Some(json!(evil)), Some(evil.to_owned()));
    }
    for action in &mut plan.actions {
        let about = &mut action.about;
        about.at = Some(format!("{evil}:3:1"));
        about.reason = evil.to_owned();
        about.capabilities = vec![evil.to_owned(), format!("gains read_write {evil}")];
        about.from = Some(evil.to_owned());
        for file in &mut about.files {
            (file.path, file.writer, file.from) = (evil.to_owned(), Some(evil.to_owned()), Some(evil.to_owned()));
        }
        let text =
            |i: usize| json!(format!("{evil}\nA sentence that stays as it is, whatever comes.\n{}", evil.repeat(i)));
        about.changes = (0..n).map(|i| sample::change(&format!("{evil}{i}"), text(i), text(i + 1))).collect();
        about.changes.push(sample::change(evil, json!(evil), json!({ evil: evil })));
    }
    plan.actions.push(sample::action(Verb::Rename, "Agent/new", plan.actions[1].about.clone()));
    plan
}

#[test]
fn nothing_of_a_user_is_obeyed_pinged_broken_or_forged() {
    let causes = BTreeMap::new();
    let mut all: Vec<String> = EVIL.iter().map(|e| (*e).to_owned()).collect();
    all.push(EVIL.concat());
    // A bar would end the cell, and with it the code span before it.
    all.push("[x](http://evil.example)|@everyone|<b>".to_owned());
    all.push(EVIL.join("\n"));
    all.push(format!("{}é", "x".repeat(1_000_000)));
    for evil in all {
        let plan = poisoned(&evil, 3);
        let at = Comment { key: Some("prod"), ..comment(&plan, &causes) };
        for budget in [COMMENT, SUMMARY] {
            let text = body(&at, budget);
            let bad = wrong(&text, budget);
            assert!(
                bad.is_empty(),
                "{:?}: {bad:#?}\n{}",
                evil.chars().take(80).collect::<String>(),
                &text[..text.len().min(9_000)]
            );
            assert!(text.contains("\n### checkfu plan: `prod` — 1 to create"), "{text}");
        }
        // What a runner reads in any line of its log, between whatever marks, is not in it.
        let log = workflow::log(&body(&at, COMMENT));
        assert!(!log.contains("##["), "{evil:?}");
        // And what is told later finds the parts of the comment, not what looks like them.
        let run = Run { key: "prod", head: Some(HEAD), ..Run::default() };
        let now = restate(&body(&at, COMMENT), &marker(&at).unwrap(), &stale(&run, &evil)).unwrap();
        let bad = wrong(&now, 65_000);
        assert!(bad.is_empty(), "{evil:?}: {bad:#?}\n{now}");
    }
}

/// Names of 64 characters, each of another resource.
fn name(i: usize) -> String {
    format!("Agent/{i:05}-{}", "n".repeat(58))
}

#[test]
fn ten_thousand_actions_and_as_many_retirements_fit() {
    let causes = BTreeMap::new();
    let mut plan = sample::empty();
    for i in 0..10_000 {
        let mut about = sample::about("checkfu.yaml:1:1");
        about.reversible = Reversible::No;
        plan.actions.push(sample::action(Verb::Retire, &name(i), about));
        let mut gone = sample::refused().findings.remove(0);
        gone.address = Some(sample::address(&name(i)));
        plan.findings.push(Finding { message: format!("{} would be gone", name(i)), ..gone });
    }
    let text = body(&comment(&plan, &causes), COMMENT);
    assert_eq!(wrong(&text, COMMENT), Vec::<String>::new());
    let rows = text.lines().filter(|l| l.starts_with("| **➖ retire**")).count();
    assert!(rows > 150, "{rows}");
    assert!(text.contains(&format!("{} resources, {} retirements among them", 10_000 - rows, 10_000 - rows)));
    for action in &mut plan.actions {
        action.verb = Verb::Update;
        action.about.changes = vec![sample::change("instructions", json!(EVIL.concat()), json!(EVIL.join("\n")))];
        action.about.capabilities = vec!["may use bash".to_owned()];
    }
    let text = body(&comment(&plan, &causes), COMMENT);
    assert_eq!(wrong(&text, COMMENT), Vec::<String>::new());
    assert!(text.contains("10000 to update"));
}

#[test]
fn a_wrong_document_is_seen() {
    let (plan, causes) = (sample::plan(), BTreeMap::new());
    let good = body(&comment(&plan, &causes), COMMENT);
    assert_eq!(wrong(&good, COMMENT), Vec::<String>::new());
    for (bad, says) in [
        (format!(" {good}"), "marker"),
        (good.replace("</details>\n\n<details", "<details"), "folds are open"),
        (format!("{good}\n@all"), "touches a word"),
        (format!("{good}\n<b>x</b>"), "HTML"),
        (format!("{good}\n[x](http://e.example)"), "a link to"),
        (format!("{good}\n\u{200b}"), "hidden"),
        (good.replacen("```\n", "", 1), "without a sign"),
    ] {
        let found = wrong(&bad, COMMENT);
        assert!(found.iter().any(|f| f.contains(says)), "{says}: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_201),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_users_write_the_document_is_whole(
        picks in proptest::collection::vec(0..EVIL.len(), 1..6),
        glue in prop::sample::select(vec!["", " ", "\n", "\n\n", "```", "."]),
        times in 1_usize..60,
        fields in 0_usize..9,
        budget in 20_000_usize..COMMENT,
    ) {
        let evil = picks.iter().map(|i| EVIL[*i]).collect::<Vec<_>>().join(glue).repeat(times);
        let (plan, causes) = (poisoned(&evil, fields), BTreeMap::new());
        let text = body(&comment(&plan, &causes), budget);
        let bad = wrong(&text, budget);
        prop_assert!(bad.is_empty(), "{bad:#?}");
    }
}

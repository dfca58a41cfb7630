//! Lists as Markdown: live resources, applies, checks, files, what `explain` knows. As many rows as fit, the rest
//! counted; no text of a user is markup.

use std::collections::BTreeMap;

use crate::cli::view::json::{CheckDoc, ResourceDoc};
use crate::cli::view::markup::{BUDGET, cell, code, fence, fit, head, prose};
use crate::cli::view::tables;
use crate::cli::view::text::{bytes, count};
use crate::diag::bounded;
use crate::model::op::{ApplyInfo, TokenInfo};

/// Live resources.
pub fn resources(resources: &[ResourceDoc]) -> String {
    let row = |r: &ResourceDoc| {
        let state = if r.protected { format!("{}, protected", r.state) } else { r.state.to_owned() };
        let (address, name, id) = (cell(&r.address.to_string()), prose(&bounded(&r.name)), cell(&r.id));
        format!("| {address} | {name} | {} | {state} | {id} |\n", r.version)
    };
    let head = "| address | name | version | state | id |\n|---|---|---:|---|---|\n".to_owned();
    fit(head, resources.iter().map(row), |left| format!("{}. `checkfu get` shows all.", count(left, "resource")))
}

/// One live resource, given as YAML. It is whole or it is not there.
pub fn resource(address: &str, yaml: &str) -> String {
    let whole = fence("yaml", yaml);
    if whole.len() <= BUDGET {
        return whole;
    }
    let size = bytes(yaml.len() as u64);
    format!("{} has {size} of YAML, more than fits here: `checkfu get {address}` prints it.\n", cell(address))
}

/// Applies.
pub fn applies(applies: &[ApplyInfo]) -> String {
    let titles = tables::APPLIES.map(str::to_lowercase);
    let head = head(&titles.each_ref().map(String::as_str));
    let row = |a: &ApplyInfo| {
        let cells = tables::apply_cells(a).map(|c| if c.is_empty() { c } else { cell(&c) });
        format!("| {} |\n", cells.join(" | "))
    };
    let rest = |left| format!("{left} more. `checkfu history` shows all.");
    fit(head, applies.iter().map(row), rest)
}

/// Tokens, as they stand at a time.
pub fn tokens(tokens: &[TokenInfo], now: jiff::Timestamp) -> String {
    let titles = tables::TOKENS.map(str::to_lowercase);
    let head = head(&titles.each_ref().map(String::as_str));
    let row = |t: &TokenInfo| {
        let cells = tables::token_cells(t, now).map(|c| if c.is_empty() { c } else { cell(&c) });
        format!("| {} |\n", cells.join(" | "))
    };
    fit(head, tokens.iter().map(row), |left| format!("{left} more. `checkfu token list` shows all."))
}

/// Checks: what is bad is in the title.
pub fn checks(checks: &[CheckDoc]) -> String {
    let of = |result: &str| checks.iter().filter(|c| c.result == result).count();
    let title = match (of("bad"), of("warning")) {
        (0, 0) => "all is well".to_owned(),
        (bad, warnings) => format!("{bad} bad, {}", count(warnings, "warning")),
    };
    let head = format!("### checkfu: {title}\n\n{}", head(&["check", "result", "found", "fix"]));
    let row = |c: &CheckDoc| {
        let fix = c.fix.as_deref().map(|f| cell(&bounded(f))).unwrap_or_default();
        let result = if c.result == "bad" { "**bad**" } else { c.result };
        format!("| {} | {result} | {} | {fix} |\n", c.name, prose(&bounded(&c.found)))
    };
    fit(head, checks.iter().map(row), |left| format!("{}. `checkfu doctor` shows all.", count(left, "check")))
}

/// Files that were written.
pub fn files(written: &[String]) -> String {
    let row = |f: &String| format!("- {}\n", code(f));
    fit(String::new(), written.iter().map(row), |left| format!("{}.", count(left, "file")))
}

/// What a topic is, from its rows: one is a list, more are a table whose first column names them.
pub fn explained(topic: &str, rows: &[BTreeMap<&'static str, String>]) -> String {
    const NAMES: [&str; 3] = ["code", "field", "key"];
    let title = format!("### checkfu: {}\n\n", code(&bounded(topic)));
    let filled = |name: &&str| rows.iter().any(|r| r.get(name).is_some_and(|text| !text.is_empty()));
    let all: Vec<&str> = rows.first().map(|r| r.keys().copied().filter(filled).collect()).unwrap_or_default();
    let (first, others): (Vec<&str>, Vec<&str>) = all.into_iter().partition(|name| NAMES.contains(name));
    let rest = |left| format!("{}.", count(left, "row"));
    if let [row] = rows {
        let item = |name: &&str| format!("- {name}: {}\n", written(&row[*name]));
        return fit(title, others.iter().map(item), rest);
    }
    let names = [first, others].concat();
    let row = |r: &BTreeMap<&'static str, String>| {
        let cells: Vec<String> = names
            .iter()
            .map(|name| match r.get(name).map(String::as_str).unwrap_or_default() {
                "" => String::new(),
                text if NAMES.contains(name) => cell(text),
                text => written(text),
            })
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    fit(title + &head(&names), rows.iter().map(row), rest)
}

/// A text of ours: what it has in backticks is code.
fn written(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return prose(text);
    }
    let part = |(i, part): (usize, &&str)| if i.is_multiple_of(2) { prose(part) } else { cell(part) };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::explain::explain;
    use crate::cli::view::sample;

    const EVIL: &str = "a|b <img> [x](http://y) @team `z` \\| \u{202e}\n# c";

    /// Every line of a table has as many bars that divide as the first.
    #[track_caller]
    fn is_table(text: &str) {
        let bars = |l: &str| {
            let mut escaped = false;
            l.chars()
                .filter(|c| {
                    let divides = *c == '|' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    divides
                })
                .count()
        };
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with('|')).collect();
        assert!(rows.len() > 2 && rows.iter().all(|r| bars(r) == bars(rows[0])), "{text}");
        assert!(!text.contains(['\u{202e}']) && !text.contains("<img") && !text.contains("@team"), "{text}");
    }

    #[test]
    fn resources_are_a_table_that_counts_what_is_left_out() {
        insta::assert_snapshot!(resources(&[sample::resource("Agent/a", true)]), @r"
        | address | name | version | state | id |
        |---|---|---:|---|---|
        | `Agent/a` | Support\\nBot | 3 | applied, protected | `agent_1` |
        ");
        let many: Vec<ResourceDoc> = (0..3_000).map(|i| sample::resource(&format!("Agent/a{i}"), false)).collect();
        let text = resources(&many);
        assert!(text.len() <= BUDGET && text.contains(" resources. `checkfu get`"), "{}", text.len());
        is_table(&resources(&[ResourceDoc { name: EVIL.to_owned(), ..sample::resource("Agent/a", false) }]));
    }

    #[test]
    fn one_resource_is_whole_or_told() {
        assert_eq!(super::resource("Agent/a", "kind: Agent\n"), "```yaml\nkind: Agent\n```\n");
        let text = super::resource("Agent/a", &"x: y\n".repeat(20_000));
        assert_eq!(text, "`Agent/a` has 100.0 KB of YAML, more than fits here: `checkfu get Agent/a` prints it.\n");
    }

    #[test]
    fn applies_and_checks_are_tables_whatever_is_in_them() {
        let mut apply = sample::apply();
        insta::assert_snapshot!(applies(std::slice::from_ref(&apply)), @r"
        | apply | began | outcome | actor | commit | plan | what |
        |---|---|---|---|---|---|---|
        | `apply_1` | `2026-11-30T09:00:01Z` | `partial` | `jane` | `0123456789ab + uncommitted` | `sha256:148de9c5a7a4` | `1 publish, 2 update: Agent/a, Agent/b, Skill/s` |
        ");
        apply.actor = EVIL.to_owned();
        is_table(&applies(std::slice::from_ref(&apply)));
        let text = applies(&vec![apply; 5_000]);
        assert!(text.len() <= BUDGET && text.contains(" more. `checkfu history`"), "{}", text.len());
        let check = |result, found: &str| CheckDoc { name: "git", result, found: found.to_owned(), fix: None };
        insta::assert_snapshot!(checks(&[check("ok", "x at 1"), check("bad", "it's <gone>")]), @r"
        ### checkfu: 1 bad, 0 warnings

        | check | result | found | fix |
        |---|---|---|---|
        | git | ok | x at 1 |  |
        | git | **bad** | it's &lt;gone&gt; |  |
        ");
        is_table(&checks(&[CheckDoc { fix: Some(EVIL.to_owned()), ..check("warning", EVIL) }]));
        assert!(checks(&vec![check("bad", &"é".repeat(1 << 20)); 100]).len() <= BUDGET);
    }

    #[test]
    fn tokens_are_a_table_whatever_they_are_named() {
        let now = "2026-11-30T00:00:00Z".parse().unwrap();
        let token = TokenInfo { name: EVIL.to_owned(), ..sample::token() };
        is_table(&tokens(std::slice::from_ref(&token), now));
        let text = tokens(&vec![token; 5_000], now);
        assert!(text.len() <= BUDGET && text.contains(" more. `checkfu token list`"), "{}", text.len());
    }

    #[test]
    fn every_topic_can_be_explained() {
        let shown = |topic: &str| explained(topic, &explain(topic).unwrap().1);
        insta::assert_snapshot!(shown("cli.declined"), @r"
        ### checkfu: `cli.declined`

        - fix: Run the command again when the plan is right; nothing was written
        - severity: error
        - title: The answer was no
        - why: The question whether to apply was not answered with yes
        ");
        insta::assert_snapshot!(shown("Config.policy.max_retire"), @r"
        ### checkfu: `Config.policy.max_retire`

        - default: `20`
        - doc: Most resources and memories that one plan may retire. Default 20.
        - takes: number
        ");
        for topic in ["Agent", "MemoryStore", "Config"] {
            is_table(&shown(topic));
            assert!(shown(topic).len() <= BUDGET);
        }
    }

    #[test]
    fn files_are_a_list() {
        assert_eq!(files(&["a`b.md".to_owned(), "c".to_owned()]), "- ``a`b.md``\n- `c`\n");
    }
}

//! Findings of a plan, equal ones together: a thousand of one kind are one paragraph with their number, the first
//! addresses and one fix for all of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::view::markup::{code, fence, indent, prose};
use crate::cli::view::text::{clip, count, line};
use crate::cli::view::{style, words};
use crate::diag::{bounded, codes};
use crate::plan::{Effect, Finding};

/// Most bytes of what is to be pasted in a document of bounded length; more is not cut but left to `checkfu plan`.
pub const BLOCK: usize = 12_000;

/// Findings that differ in nothing but the address.
pub struct Group<'a> {
    /// In order of address. Never empty.
    pub findings: Vec<&'a Finding>,
}

/// What to do, apart into a sentence and what is to be pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// A sentence; may be empty.
    pub words: String,
    /// YAML and nothing else; may be empty.
    pub block: String,
}

/// All findings: what refuses first, then by code.
pub fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| order(a).cmp(&order(b)));
    let mut places: BTreeMap<(Effect, &str, String, String), usize> = BTreeMap::new();
    let mut out: Vec<Group<'_>> = Vec::new();
    for finding in sorted {
        // All that is gone for good needs one and the same kind of line.
        let key = if takes_a_line(finding) {
            (finding.effect, finding.code.as_str(), String::new(), String::new())
        } else {
            let fix = finding.fix.as_deref().unwrap_or_default();
            (finding.effect, finding.code.as_str(), general(finding, &finding.message), general(finding, fix))
        };
        match places.get(&key) {
            Some(place) => out[*place].findings.push(finding),
            None => {
                places.insert(key, out.len());
                out.push(Group { findings: vec![finding] });
            }
        }
    }
    out
}

fn order(f: &Finding) -> (Effect, &str, &Option<crate::model::Address>, &str) {
    (f.effect, &f.code, &f.address, &f.message)
}

/// A text about one address as a text about any.
fn general(finding: &Finding, text: &str) -> String {
    finding.address.as_ref().map_or_else(|| text.to_owned(), |a| text.replace(&a.to_string(), "\0"))
}

/// Does a line under `removed:` answer it?
fn takes_a_line(finding: &Finding) -> bool {
    finding.code == codes::plan::IRREVERSIBLE.code
        && finding.address.is_some()
        && finding.fix.as_deref().is_some_and(|fix| fix.contains("removed:"))
}

impl Group<'_> {
    /// The first, which stands for all.
    pub fn first(&self) -> &Finding {
        self.findings[0]
    }

    /// The addresses, each once.
    pub fn addresses(&self) -> Vec<String> {
        let mut out: Vec<String> =
            self.findings.iter().filter_map(|f| f.address.as_ref()).map(ToString::to_string).collect();
        out.dedup();
        out
    }

    /// `, 12 times` where it is more than one.
    pub fn times(&self) -> String {
        if self.findings.len() > 1 { format!(", {} times", self.findings.len()) } else { String::new() }
    }

    /// What the others of the group are about; nothing when there is one.
    pub fn others(&self, all: bool) -> Option<String> {
        let addresses = self.addresses();
        let rest = addresses.get(1..).filter(|rest| !rest.is_empty())?;
        let names = if all { rest.join(", ") } else { words::some_of(rest) };
        Some(format!("the same for {names}"))
    }

    /// One fix for all. What is to be pasted is whole, however long.
    pub fn fix(&self) -> Option<Fix> {
        let first = self.first();
        if takes_a_line(first) {
            return Some(removed(&self.addresses()));
        }
        // An `--allow` that was given turned the refusal into a note: it is not asked for again.
        let answered = |fix: &&str| first.effect == Effect::Note && fix.contains("--allow ");
        first.fix.as_deref().filter(|fix| !answered(fix)).map(Fix::of)
    }
}

impl Fix {
    /// A sentence that ends with a colon is not a part of what is pasted; one line alone is a sentence.
    fn of(text: &str) -> Self {
        let text = text.trim_end();
        match text.split_once('\n') {
            None => Self { words: text.to_owned(), block: String::new() },
            Some((words, block)) if words.contains(' ') && words.ends_with(':') && !words.starts_with([' ', '-']) => {
                Self { words: words.to_owned(), block: block.to_owned() }
            }
            Some(_) => Self { words: String::new(), block: text.to_owned() },
        }
    }
}

fn removed(addresses: &[String]) -> Fix {
    let words = "in checkfu.yaml; where it has `removed:` already, only the lines below that key:";
    let mut block = "removed:\n".to_owned();
    for address in addresses {
        let _ = writeln!(block, "  - {{address: {address}}}");
    }
    Fix { words: words.to_owned(), block: block.trim_end().to_owned() }
}

/// The word for what a finding does.
pub fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Refuses => "refused",
        Effect::Blocks => "blocked",
        Effect::Error => "error",
        Effect::Note => "note",
    }
}

/// As text for people; nothing when there are none.
pub fn human(findings: &[Finding], verbose: bool, out: &mut String) {
    if findings.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style::strong("Findings:"));
    for group in groups(findings) {
        let finding = group.first();
        let word = effect_word(finding.effect);
        let word = match finding.effect {
            Effect::Note => style::faint(word),
            Effect::Blocks => style::changed(word),
            Effect::Refuses | Effect::Error => style::alarm(word),
        };
        let at = finding.at.as_deref().map(|at| format!("  {}", line(at))).unwrap_or_default();
        let tail = style::faint(format!("{}{at}", group.times()));
        let _ = writeln!(out, "  {word} {}{tail}", style::strong(&finding.code));
        let _ = writeln!(out, "      {}", line(&bounded(&finding.message)));
        if let Some(others) = group.others(verbose) {
            let _ = writeln!(out, "      {}", style::faint(others));
        }
        if let Some(fix) = group.fix() {
            fix_lines(&fix, out);
        }
    }
    out.push('\n');
}

/// As an item of a Markdown list, with at most so many bytes to be pasted.
pub fn row(group: &Group<'_>, most: usize) -> String {
    let finding = group.first();
    let at = finding.at.as_deref().map(|at| format!(" at {}", code(&clip(at, 300)))).unwrap_or_default();
    let message = prose(&bounded(&finding.message));
    let others = group.others(false).map(|o| format!("; {}", prose(&o))).unwrap_or_default();
    let mut row =
        format!("- {} {}{}{at}: {message}{others}\n", effect_word(finding.effect), code(&finding.code), group.times());
    let Some(fix) = group.fix() else { return row };
    if !fix.words.is_empty() {
        let _ = writeln!(row, "\n  Fix: {}\n", prose(&bounded(&fix.words)));
    }
    if fix.block.len() > most {
        let lines = count(fix.block.lines().count(), "line");
        let _ = writeln!(row, "  {lines}, more than fit here: `checkfu plan` prints them all.");
    } else if !fix.block.is_empty() {
        row.push_str(&indent(&fence("yaml", &fix.block)));
    }
    row
}

/// A sentence stays beside its word; what is pasted stands below, each line as it is.
fn fix_lines(fix: &Fix, out: &mut String) {
    let _ = writeln!(out, "      {}", format!("{} {}", style::added("fix:"), line(&fix.words)).trim_end());
    for text in fix.block.lines() {
        let _ = writeln!(out, "        {}", line(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    fn finding(code: &str, effect: Effect, address: &str, message: &str, fix: &str) -> Finding {
        Finding {
            code: code.to_owned(),
            effect,
            address: Some(sample::address(address)),
            message: message.to_owned(),
            fix: Some(fix.to_owned()),
            at: None,
        }
    }

    /// As the plan words it.
    pub(crate) fn gone(address: &str) -> Finding {
        let message = format!("{address} would be gone for good: a retired kind does not come back");
        let fix = format!("add to checkfu.yaml:\nremoved:\n  - {{address: {address}}}");
        finding("plan.irreversible", Effect::Refuses, address, &message, &fix)
    }

    fn shown(findings: &[Finding], verbose: bool) -> String {
        let mut out = String::new();
        human(findings, verbose, &mut out);
        style::plain(&out)
    }

    #[test]
    fn all_that_is_gone_for_good_has_one_block() {
        insta::assert_snapshot!(shown(&[gone("MemoryStore/b"), gone("Agent/a")], false), @r"
        Findings:
          refused plan.irreversible, 2 times
              Agent/a would be gone for good: a retired kind does not come back
              the same for MemoryStore/b
              fix: in checkfu.yaml; where it has `removed:` already, only the lines below that key:
                removed:
                  - {address: Agent/a}
                  - {address: MemoryStore/b}
        ");
    }

    #[test]
    fn eleven_hundred_equal_findings_are_one_paragraph_with_a_block_that_is_whole() {
        let many: Vec<Finding> = (0..1_100).map(|i| gone(&format!("Agent/a{i:04}"))).collect();
        let text = shown(&many, false);
        assert!(text.contains("1100 times") && text.lines().count() < 1_110, "{text}");
        assert_eq!(text.matches("  - {address: Agent/a").count(), 1_100);
        let row = row(&groups(&many)[0], BLOCK);
        assert!(row.contains("1101 lines, more than fit here") && !row.contains("- {address"), "{row}");
        let some = super::row(&groups(&many[..300])[0], BLOCK);
        assert!(some.matches("- {address: ").count() == 300 && !some.contains('…'), "whole where it fits: {some}");
    }

    #[test]
    fn only_equal_findings_are_together_and_refusals_come_first() {
        let allow = |a: &str| format!("if this is meant: --allow same-name={a}");
        let same = |a: &str| finding("plan.same_name", Effect::Refuses, a, &format!("{a} is a second"), &allow(a));
        let other = finding("plan.same_name", Effect::Refuses, "Agent/c", "Agent/c is a third", &allow("Agent/c"));
        let all = [same("Agent/a"), same("Agent/b"), other, gone("Agent/z")];
        let groups = groups(&all);
        let sizes: Vec<usize> = groups.iter().map(|g| g.findings.len()).collect();
        assert_eq!((groups[0].first().code.as_str(), sizes), ("plan.irreversible", vec![1, 2, 1]));
        assert_eq!(groups[1].fix().unwrap().words, "if this is meant: --allow same-name=Agent/a");
        let note = finding("plan.retire", Effect::Note, "Agent/a", "many", "if this is meant: --allow retire");
        assert_eq!(super::groups(&[note])[0].fix(), None, "what was allowed is not asked for again");
    }

    #[test]
    fn a_sentence_is_no_part_of_what_is_pasted() {
        let fix = |text| {
            let fix = Fix::of(text);
            (fix.words, fix.block)
        };
        let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(fix("add to checkfu.yaml:\nmoved:\n  - a\n"), two("add to checkfu.yaml:", "moved:\n  - a"));
        assert_eq!(fix("moved:\n  - a"), two("", "moved:\n  - a"));
        assert_eq!(fix("take it out"), two("take it out", ""));
    }
}

//! Lists for people: live resources, applies, checks, files.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};

use crate::cli::view::json::{CheckDoc, ResourceDoc};
use crate::cli::view::style;
use crate::cli::view::text::line;
use crate::diag::bounded;
use crate::model::Kind;
use crate::model::op::{ActorKind, ApplyInfo, Scope, TokenInfo};

/// A table without lines, as wide as its content.
fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| line(cell)));
    }
    let mut out = String::new();
    for row in table.to_string().lines() {
        let _ = writeln!(out, "{}", row.trim_end().strip_prefix(' ').unwrap_or(row.trim_end()));
    }
    out
}

/// Live resources.
pub fn resources(resources: &[ResourceDoc]) -> String {
    let rows = resources.iter().map(|r| {
        let state = if r.protected { format!("{}, protected", r.state) } else { r.state.to_owned() };
        vec![r.address.to_string(), r.name.clone(), r.version.to_string(), state, r.id.clone()]
    });
    table(&["ADDRESS", "NAME", "VERSION", "STATE", "ID"], rows)
}

/// What is told of an apply.
pub const APPLIES: [&str; 7] = ["APPLY", "BEGAN", "OUTCOME", "ACTOR", "COMMIT", "PLAN", "WHAT"];

/// An apply, under [`APPLIES`].
pub fn apply_cells(a: &ApplyInfo) -> [String; 7] {
    let commit = a.source.commit.as_deref().map(|c| c.chars().take(12).collect::<String>()).unwrap_or_default();
    let dirty = if a.source.dirty == Some(true) { " + uncommitted" } else { "" };
    let outcome = a.outcome.clone().unwrap_or_else(|| "not ended".to_owned());
    [
        a.id.clone(),
        seconds(&a.began_at),
        outcome,
        bounded(&a.actor).into_owned(),
        format!("{commit}{dirty}"),
        a.plan_digest.short(),
        what(a),
    ]
}

/// What an apply did: how many of each verb, and where. A rollback says to which apply.
fn what(a: &ApplyInfo) -> String {
    let counts: Vec<String> = a.did.iter().map(|d| format!("{} {}", d.count, d.verb)).collect();
    let addresses = match a.addresses.len() {
        0 => String::new(),
        n if n == ApplyInfo::SHOWN => format!(": {}, …", a.addresses.join(", ")),
        _ => format!(": {}", a.addresses.join(", ")),
    };
    let back = a.source.apply.as_deref().map(|to| format!("rollback to {to}; ")).unwrap_or_default();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    format!("{back}{counts}{addresses}")
}

/// Applies.
pub fn applies(applies: &[ApplyInfo]) -> String {
    table(&APPLIES, applies.iter().map(|a| apply_cells(a).to_vec()))
}

/// What is told of a token.
pub const TOKENS: [&str; 7] = ["TOKEN", "NAME", "SCOPE", "OWNERS", "MADE", "ENDS", "STATE"];

/// A token, under [`TOKENS`], as it stands at a time.
pub fn token_cells(t: &TokenInfo, now: jiff::Timestamp) -> [String; 7] {
    let scope = match t.scope {
        Scope::Read => "read",
        Scope::Plan => "plan",
        Scope::Apply => "apply",
        Scope::Admin => "admin",
    };
    let is_over = t.expires_at.as_ref().is_some_and(|end| end.parse::<jiff::Timestamp>().map_or(true, |e| e <= now));
    let state = match (&t.revoked_at, is_over, t.actor_kind) {
        (Some(_), _, _) => "revoked",
        (None, true, _) => "expired",
        (None, false, ActorKind::Session) => "valid, session",
        (None, false, ActorKind::Api) => "valid",
    };
    [
        t.id.clone(),
        bounded(&t.name).into_owned(),
        scope.to_owned(),
        t.owners.join(", "),
        seconds(&t.created_at),
        t.expires_at.as_deref().map(seconds).unwrap_or_default(),
        state.to_owned(),
    ]
}

/// Tokens, as they stand at a time.
pub fn tokens(tokens: &[TokenInfo], now: jiff::Timestamp) -> String {
    table(&TOKENS, tokens.iter().map(|t| token_cells(t, now).to_vec()))
}

/// A time to the second, which is what people compare; anything else stays as it is.
fn seconds(time: &str) -> String {
    time.parse::<jiff::Timestamp>().map_or_else(|_| time.to_owned(), |t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Checks.
pub fn checks(checks: &[CheckDoc]) -> String {
    let mut out = String::new();
    let wide = checks.iter().map(|c| c.name.len()).max().unwrap_or(0);
    for check in checks {
        let word = format!("{:<7}", check.result);
        let word = match check.result {
            "ok" => style::added(word),
            "warning" => style::changed(word),
            _ => style::alarm(word),
        };
        let _ = writeln!(out, "{word} {:wide$}  {}", check.name, line(&check.found));
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "{:>7} {:wide$}  {}", "", "", style::faint(line(fix)));
        }
    }
    out
}

/// A project without an error: what it holds.
pub fn valid(counts: &BTreeMap<Kind, usize>) -> String {
    let words: Vec<String> = counts.iter().filter(|(_, n)| **n > 0).map(|(kind, n)| format!("{n} {kind}")).collect();
    let what = if words.is_empty() { "no resources".to_owned() } else { words.join(", ") };
    format!("{} {what}\n", style::added("Valid:"))
}

/// Files that were written.
pub fn files(written: &[String]) -> String {
    written.iter().map(|f| format!("{} {}\n", style::added("+"), line(f))).collect::<Vec<_>>().concat()
}

/// Files that were written and removed.
pub fn pulled(written: &[String], removed: &[String]) -> String {
    let gone = removed.iter().map(|f| format!("{} {}\n", style::removed("-"), line(f)));
    files(written) + &gone.collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applies_are_told_to_the_second_and_say_what_was_not_committed() {
        let apply = crate::cli::view::sample::apply();
        insta::assert_snapshot!(applies(&[apply]), @r"
    APPLY    BEGAN                 OUTCOME  ACTOR  COMMIT                      PLAN                 WHAT
    apply_1  2026-11-30T09:00:01Z  partial  jane   0123456789ab + uncommitted  sha256:148de9c5a7a4  1 publish, 2 update: Agent/a, Agent/b, Skill/s
    ");
    }

    #[test]
    fn tokens_say_whether_they_hold() {
        let token = crate::cli::view::sample::token();
        let late = TokenInfo { expires_at: Some("2026-11-30T00:00:00Z".to_owned()), ..token.clone() };
        let gone = TokenInfo { revoked_at: Some(token.created_at.clone()), ..late.clone() };
        let now = "2026-11-30T00:00:00Z".parse().unwrap();
        insta::assert_snapshot!(tokens(&[token, late, gone], now), @r"
        TOKEN  NAME  SCOPE  OWNERS          MADE                  ENDS                  STATE
        tok_1  ci    apply  acme/*, beta/x  2026-11-29T09:00:01Z                        valid, session
        tok_1  ci    apply  acme/*, beta/x  2026-11-29T09:00:01Z  2026-11-30T00:00:00Z  expired
        tok_1  ci    apply  acme/*, beta/x  2026-11-29T09:00:01Z  2026-11-30T00:00:00Z  revoked
        ");
    }

    #[test]
    fn resources_line_up() {
        let row = crate::cli::view::sample::resource;
        insta::assert_snapshot!(resources(&[row("Agent/a", false), row("Agent/longer-name", true)]), @r"
    ADDRESS            NAME          VERSION  STATE               ID
    Agent/a            Support\nBot  3        applied             agent_1
    Agent/longer-name  Support\nBot  3        applied, protected  agent_1
    ");
    }
}

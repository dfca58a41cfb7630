//! Texts of users that look like commands, and secrets that nobody is to see.

use base64::Engine;

use super::events::Run;
use super::{a, body};
use crate::ci_apply::stage::Stage;
use crate::cli_serve::{end, serving};
use crate::github::JOB;
use crate::sandbox::{Sandbox, config, ran};

/// The commands that a runner obeys in a log, by its rules: blanks at the front are passed, `##[` counts anywhere, and
/// between `::stop-commands::TOKEN` and `::TOKEN::` nothing counts but the latter.
fn obeyed(log: &str) -> Vec<String> {
    let mut stopped: Option<String> = None;
    let mut out = Vec::new();
    for line in log.lines() {
        let line = line.trim_start();
        if line.contains("##[") {
            out.push(line.to_owned());
        }
        match &stopped {
            Some(token) if line == format!("::{token}::") => stopped = None,
            Some(_) => {}
            None => {
                if let Some(token) = line.strip_prefix("::stop-commands::") {
                    stopped = Some(token.to_owned());
                } else if line.starts_with("::") {
                    out.push(line.to_owned());
                }
            }
        }
    }
    out
}

#[test]
fn a_prompt_gives_no_command_pings_nobody_and_forges_no_mark() {
    let stage = super::two();
    let evil = "::add-mask::e\n  ::error file=x::pwned\n##[error]pwned\n::stop-commands::x\n::x::\n@everyone #1 \
                https://evil.example <img src=x onerror=y>\n</details>\n--> <!-- checkfu:1 {\"what\":\"plan\"} -->\n\
                ````````````````````\n\u{202e}rtl \u{200b}zero\u{7}bell\n%0A::error::x";
    let pull = stage.propose("topic", &[("agents/a.md", &a(evil)), ("agents/z.md", &a("~~~\n```"))]);
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    let commands = obeyed(&told.ran.out);
    assert!(commands.iter().all(|c| c.starts_with("::notice ")), "{commands:#?}");
    assert!(!told.ran.out.contains('\u{202e}') && !told.ran.out.contains('\u{7}'));
    let body = body(&stage, pull);
    assert!(!body.contains('\u{202e}'), "{body}");
    assert!(body.len() <= 60_000);
    // Outside of fences nothing of it is markup.
    let (mut fence, mut open) = (None::<usize>, String::new());
    for line in body.lines() {
        let ticks = line.trim_start().len() - line.trim_start().trim_start_matches('`').len();
        match fence {
            Some(n) if ticks >= n && line.trim().chars().all(|c| c == '`') => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => {
                open.push_str(line);
                open.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "every fence ends");
    for bad in ["<img", "@everyone", "pwned</"] {
        assert!(!open.contains(bad), "{bad}: {open}");
    }
    assert_eq!(open.matches("<!-- checkfu:1 ").count(), 1, "{open}");
}

#[cfg(unix)]
#[test]
fn no_secret_is_in_anything_that_is_written() {
    let server = Sandbox::empty();
    let made = server
        .run(&["token", "create", "ci", "--db", "w.db", "--scope", "apply", "--owner", "acme/*", "--json"])
        .code(0)
        .json();
    let secret = made["secret"].as_str().unwrap().to_owned();
    let (child, url) = serving(&server);
    let mut stage = Stage::new();
    stage.more.push(("TEAM_TOKEN".to_owned(), secret.clone()));
    let target = format!("targets: {{team: {{kind: checkfu, url: \"{url}\", token: {{env: TEAM_TOKEN}}}}}}\n");
    let config = config("acme/support") + &target;
    stage.check_out(&stage.push("main", &[("checkfu.yaml", &config), ("agents/a.md", &a("A"))]));
    stage.run(&["apply", "--yes"]).code(0);
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let told = Run::pull(&stage, pull).go(&[("report-file", "report.md")]).is(2, "");
    assert_eq!(&told["updates"], "1");
    // The workspace refuses the token, and says so without it.
    server.run(&["token", "revoke", "ci", "--db", "w.db"]).code(0);
    stage.fake.fail("*comments/", 1, crate::github::Fault::status(500, "no"));
    let after = Run::pull(&stage, pull).go(&[]).is(1, "unauthorized");
    end(child, "-TERM");
    let mut texts = vec![
        told.ran.out.clone(),
        told.ran.err.clone(),
        told.summary.clone(),
        format!("{:?}", told.outputs),
        after.ran.out.clone(),
        after.ran.err.clone(),
        after.summary.clone(),
        stage.s.read("report.md"),
        std::fs::read_to_string(stage.temp("checkfu/default.plan.json")).unwrap(),
    ];
    texts.extend(stage.fake.world().comments.values().map(|c| c.body.clone()));
    let coded = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    for text in texts {
        for secret in [secret.as_str(), JOB, &coded(&secret), &coded(JOB)] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    // No other process sees the token of the code host either: the tool takes it from its own variable alone.
    let other = ran(&stage.s.command(&["plan"]).env("GITHUB_TOKEN", JOB).env("TEAM_TOKEN", &secret).output().unwrap());
    assert!(!other.out.contains(JOB) && !other.err.contains(JOB));
}

//! What is echoed is bounded in every form: no input makes the answer large.

use crate::sandbox::{Sandbox, agent, config, team};

/// Bytes that an answer may have, whatever was put in.
const MOST: usize = 60_000;

/// Every file that holds a value of this many bytes where something is wrong with it.
fn huge(n: usize) -> Vec<(&'static str, String)> {
    let long = "é".repeat(n / 2);
    let head = "apiVersion: checkfu.com/v1\nkind: Environment\n";
    vec![
        ("a.yaml", format!("{head}metadata: {{name: {long}}}\nspec: {{config: {{type: cloud}}}}\n")),
        ("a.yaml", format!("{head}metadata: {{name: e}}\nspec: {{{long}: 1}}\n")),
        ("a.yaml", format!("{head}metadata: {{name: e}}\nspec: {{config: {{type: {long}}}}}\n")),
        ("a.yaml", format!("apiVersion: checkfu.com/v1\nkind: {long}\nmetadata: {{name: e}}\nspec: {{}}\n")),
        ("a.yaml", format!("apiVersion: checkfu.com/{long}\nkind: Environment\nmetadata: {{name: e}}\nspec: {{}}\n")),
        ("a.yaml", format!("{head}metadata: {{name: e}}\nspec: *{long}\n")),
        ("agents/a.md", agent(&format!("skills: [{long}]\n"), "Hi.\n")),
        ("agents/a.md", agent(&format!("{long}: [1]\n"), "Hi.\n")),
        ("agents/a.md", agent(&format!("files: [{{tree: {long}, at: {long}}}]\n"), "Hi.\n")),
        ("skills/s/SKILL.md", format!("---\nname: {long}\ndescription: [{long}, {long}]\n---\n")),
        ("skills/s/SKILL.md", format!("---\nname: s\ndescription: x\n{long}: y\n---\n")),
        ("checkfu.yaml", config(&long)),
        ("checkfu.yaml", format!("{}{long}: 1\n", config("acme/x"))),
        ("checkfu.yaml", format!("{}root: {long}\n", config("acme/x"))),
        ("checkfu.yaml", format!("{}removed: [{{address: Agent/{long}}}]\n", config("acme/x"))),
        ("checkfu.yaml", format!("{}policy: {{protect: ['Agent/{long}*']}}\n", config("acme/x"))),
        ("checkfu.yaml", format!("{}exclude: ['{long}[']\n", config("acme/x"))),
        ("checkfu.yaml", format!("{}default_target: '{long}'\n", config("acme/x"))),
    ]
}

#[test]
fn a_value_of_two_hundred_kilobytes_is_told_in_a_few_thousand_bytes() {
    for (path, text) in huge(200_000) {
        let s = Sandbox::with(&[("checkfu.yaml", &config("acme/x")), (path, &text)]);
        let case = || format!("{path}: {}…", text.chars().take(80).collect::<String>());
        for args in [
            &["plan"][..],
            &["validate", "--json"],
            &["validate", "--markdown"],
            &["doctor"],
            &["doctor", "--markdown"],
        ] {
            let ran = s.run(args);
            // A pattern that matches nothing is a warning.
            assert!([0, 1].contains(&ran.code), "{} {args:?}: {}", case(), ran.code);
            let size = ran.out.len() + ran.err.len();
            assert!(size < 2 * MOST, "{} {args:?}: {size} bytes", case());
        }
    }
}

#[test]
fn an_argument_that_is_too_long_is_echoed_in_part() {
    let s = team();
    let long = "x".repeat(100_000);
    for args in [&["plan", "--target", &long][..], &["plan", &long], &["show", &long], &["explain", &long], &[&long]] {
        for form in [&[][..], &["--json"], &["--markdown"]] {
            if args == ["plan", &long] && form == ["--json"] {
                // A plan is data: it holds what was asked for as it was.
                continue;
            }
            let ran = s.run(&[args, form].concat());
            assert!(ran.code == 1 && ran.out.len() + ran.err.len() < 20_000, "{args:.60?} {form:?}");
            assert!(ran.out.contains("bytes left out") || ran.err.contains("bytes left out"), "{args:.60?}");
        }
    }
}

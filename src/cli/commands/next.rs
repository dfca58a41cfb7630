//! The command that applies what was just planned: with the same scope, target and folder, ready to be run.

use crate::cli::args::{Global, What};
use crate::model::Digest;

/// `checkfu … apply … --plan-digest DIGEST`, or `--plan FILE` where the plan was written to one.
pub fn apply(global: &Global, what: &What, digest: &Digest) -> String {
    let mut words: Vec<String> = vec!["checkfu".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if let Some(dir) = &global.directory {
        option("-C", &dir.to_string_lossy());
    }
    words.push("apply".to_owned());
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if let Some(target) = &global.target {
        option("--target", target);
    }
    if let Some(file) = &what.out {
        // The file holds the scope and what was allowed.
        option("--plan", &file.to_string_lossy());
        return line(&words);
    }
    what.exclude.iter().for_each(|e| option("--exclude", e));
    what.labels.iter().for_each(|(key, value)| option("-l", &format!("{key}={value}")));
    what.revert.iter().for_each(|address| option("--revert", address));
    what.allow.iter().for_each(|allow| option("--allow", &allow.to_string()));
    option("--plan-digest", &digest.to_string());
    if what.revert_all {
        words.push("--revert-all".to_owned());
    }
    words.extend(what.only.iter().cloned());
    line(&words)
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it back: nothing in it is a glob, a variable or a second command.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    fn next(args: &[&str]) -> String {
        let cli = Cli::try_parse_from([&["checkfu"], args].concat()).unwrap();
        let Command::Plan(plan) = cli.command else { panic!("a plan") };
        apply(&cli.global, &plan.what, &Digest::of(b"plan"))
    }

    #[test]
    fn the_next_command_is_about_the_same_and_is_read_back() {
        let digest = Digest::of(b"plan");
        assert_eq!(next(&["plan"]), format!("checkfu apply --plan-digest {digest}"));
        assert_eq!(
            next(&["plan", "-C", "a b", "--target", "prod", "-o", "p.json", "-l", "a=b"]),
            "checkfu -C 'a b' apply --target prod --plan p.json"
        );
        let all = next(&[
            "plan",
            "Agent/*",
            "it's",
            "--exclude",
            "Skill/x",
            "-l",
            "team=$(rm)",
            "--revert",
            "Agent/a",
            "--revert-all",
            "--allow",
            "retire=Agent/b",
        ]);
        assert_eq!(
            all,
            format!(
                "checkfu apply --exclude Skill/x -l 'team=$(rm)' --revert Agent/a --allow retire=Agent/b \
                 --plan-digest {digest} --revert-all 'Agent/*' 'it'\\''s'"
            )
        );
    }
}

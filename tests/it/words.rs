//! Words that no file of the repository holds: notes to self, vague names, and anything that ties the project
//! to the place where it was written. The needles are put together so that this file does not hold them.

use crate::repo;

/// Needle → why not. Compared without case, but for needles in capitals.
fn forbidden() -> Vec<(String, &'static str)> {
    let glue = |parts: &[&str]| parts.concat();
    vec![
        (glue(&["TO", "DO:"]), "do it, or open an issue"),
        (glue(&["// TO", "DO"]), "do it, or open an issue"),
        (glue(&["FIX", "ME"]), "do it, or open an issue"),
        (glue(&["XX", "X:"]), "do it, or open an issue"),
        (glue(&["dbg", "!("]), "left over from a search for a fault"),
        (glue(&["to", "do!("]), "left over"),
        (glue(&["unimpl", "emented!("]), "left over"),
        (glue(&["/work/", "shared"]), "a path of one machine"),
        (glue(&["/work/", "w/"]), "a path of one machine"),
        (glue(&["/work/", "main"]), "a path of one machine"),
        (glue(&["/work/", ".library"]), "a path of one machine"),
        (glue(&["/tmp/", "brief"]), "a path of one machine"),
        (glue(&["/home/", "runner"]), "a path of one machine"),
        (glue(&["/root", "/."]), "a path of one machine"),
        (glue(&["co-author", "ed-by"]), "belongs in no file"),
        (glue(&["as an ai ", "language"]), "belongs in no file"),
        (glue(&["generated ", "with claude"]), "belongs in no file"),
        (glue(&["the lead ", "merges"]), "belongs in no file"),
        (glue(&["sub", "agent brief"]), "belongs in no file"),
        (glue(&["blazing", "ly"]), "say the figure"),
        (glue(&["seam", "lessly"]), "say what it does"),
    ]
}

/// Words in names of Rust items and files: they say that nobody knew what the thing is for.
const VAGUE: &[&str] = &["Manager", "Helper"];

fn holds(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    forbidden()
        .iter()
        .filter(|(needle, _)| text.contains(needle) || (needle.contains(char::is_lowercase) && lower.contains(needle)))
        .map(|(needle, why)| format!("`{needle}`: {why}"))
        .collect()
}

fn vague(source: &str) -> Vec<String> {
    let mut bad = Vec::new();
    for line in source.lines().map(str::trim_start) {
        let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
        for keyword in ["struct ", "enum ", "trait ", "mod ", "type "] {
            let Some(name) = line.strip_prefix(keyword) else { continue };
            let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            if VAGUE.iter().any(|v| name.ends_with(v)) || ["util", "utils", "helpers", "misc", "common"].contains(&name)
            {
                bad.push(format!("`{keyword}{name}`: name it after what it is"));
            }
        }
    }
    bad
}

#[test]
fn no_file_holds_a_forbidden_word() {
    let mut bad = Vec::new();
    for path in repo::files("") {
        let Ok(text) = std::fs::read_to_string(repo::root().join(&path)) else { continue };
        if path.starts_with("LICENSE") || path.ends_with("Cargo.lock") {
            continue;
        }
        bad.extend(holds(&text).into_iter().map(|b| format!("{path}: {b}")));
        if repo::is(&path, "rs") {
            bad.extend(vague(&text).into_iter().map(|b| format!("{path}: {b}")));
        }
    }
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
}

#[test]
fn forbidden_words_are_found() {
    for (needle, _) in forbidden() {
        assert!(!holds(&format!("some text {needle} more")).is_empty(), "{needle}");
    }
    for source in ["pub struct PlanManager {", "mod util;", "pub(crate) trait RowHelper: Sized {"] {
        assert_eq!(vague(source).len(), 1, "{source}");
    }
    assert!(vague("struct Plan;\nmod utilization;").is_empty());
}

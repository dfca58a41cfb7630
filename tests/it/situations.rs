//! docs/what-happens-if.md and docs/ci.md: every situation names a test that is there.

use std::collections::BTreeSet;

use crate::repo;

/// At least so many.
const LEAST: usize = 30;

/// `cli_drift::name` → the name is a test of that module. Modules in folders are named by their file.
fn tests() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for file in repo::files("tests/it").into_iter().chain(repo::files("src")).filter(|f| repo::is(f, "rs")) {
        let text = repo::text(&file);
        let stem = file.strip_suffix(".rs").unwrap().replace("/mod", "");
        let module = stem.rsplit('/').next().unwrap().to_owned();
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if let Some(rest) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn ")) {
                if std::mem::take(&mut is_test) {
                    all.insert(format!("{module}::{}", rest.split('(').next().unwrap()));
                }
            } else if !line.starts_with("#[") && !line.starts_with("//") {
                is_test = false;
            }
        }
    }
    all
}

#[test]
fn every_situation_has_a_test() {
    let page = repo::text("docs/what-happens-if.md");
    let known = tests();
    let situations: Vec<&str> = page.split("\n### ").skip(1).collect();
    assert!(situations.len() >= LEAST, "{} situations, at least {LEAST} are promised", situations.len());
    let mut wrong = Vec::new();
    for situation in situations {
        let title = situation.lines().next().unwrap();
        let line = situation.lines().find_map(|l| l.strip_prefix("Tested by ")).unwrap_or_default();
        let named: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            wrong.push(format!("{title}: names no test"));
        }
        wrong.extend(named.iter().filter(|n| !known.contains(**n)).map(|n| format!("{title}: there is no test {n}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// docs/ci.md answers 45 complaints, each by a test, or says why there is none.
#[test]
fn every_complaint_has_a_test_or_a_reason() {
    let page = repo::text("docs/ci.md");
    let known = tests();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|l| l.starts_with("| C"))
        .map(|l| l.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let numbers: Vec<String> = (1..=45).map(|n| format!("C{n}")).collect();
    assert_eq!(rows.iter().map(|r| r[0]).collect::<Vec<_>>(), numbers);
    for row in &rows {
        assert!(row.len() == 4 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        let named: Vec<&str> = row[3].split('`').skip(1).step_by(2).collect();
        assert!(named.iter().all(|n| known.contains(*n)), "{}: there is no test {}", row[0], row[3]);
        let reasoned = ["does not apply", "cannot be tried before the first release"].contains(&row[3]);
        assert!(!named.is_empty() || reasoned, "{row:?}");
    }
}

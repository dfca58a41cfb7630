//! The shape of reports, and that what is found again is known again.

use serde_json::{Value, json};

use super::*;
use crate::ci::Level;
use crate::diag::codes::{manifest, plan};

fn found(code: &'static Code, level: Level, file: Option<&str>, line: u32) -> Annotation {
    Annotation {
        level,
        file: file.map(str::to_owned),
        line,
        column: line,
        code: code.code.to_owned(),
        title: code.title.to_owned(),
        message: "a `key` is not known\nfix: take it out".to_owned(),
    }
}

fn sample() -> Vec<Annotation> {
    let action = Annotation { code: "Agent/a#update".to_owned(), ..found(&plan::RETIRE, Level::Notice, None, 3) };
    vec![
        found(&plan::MOVED_OFFER, Level::Notice, None, 0),
        found(&manifest::UNKNOWN_KEY, Level::Error, Some("a b/ü:1.yaml"), 4),
        found(&manifest::UNKNOWN_KEY, Level::Error, Some("a b/ü:1.yaml"), 9),
        action,
    ]
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn sarif_has_a_rule_for_each_result_and_places_from_the_top() {
    let log = read(&sarif(&sample(), "team/checkfu.yaml", "1.2.3"));
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&json!("2.1.0"), 1));
    let run = &log["runs"][0];
    let (driver, results) = (&run["tool"]["driver"], run["results"].as_array().unwrap());
    assert_eq!((&driver["name"], &driver["semanticVersion"]), (&json!("checkfu"), &json!("1.2.3")));
    // An action is no finding; the gravest come first.
    let levels: Vec<&Value> = results.iter().map(|r| &r["level"]).collect();
    assert_eq!(levels, ["error", "error", "note"]);
    for result in results {
        let rule = &driver["rules"][usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        for text in ["/shortDescription/text", "/fullDescription/text", "/help/text", "/help/markdown"] {
            assert!(!rule.pointer(text).unwrap().as_str().unwrap().is_empty(), "{text}");
        }
        let row = codes::find(rule["id"].as_str().unwrap()).unwrap();
        assert!(rule["help"]["text"].as_str().unwrap().contains(&row.fix.replace('`', "")));
        assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap() >= 1);
    }
    let at = |i: usize| &results[i]["locations"][0]["physicalLocation"];
    assert_eq!(at(0)["artifactLocation"], json!({"uri": "a%20b/%C3%BC%3A1.yaml", "uriBaseId": "%SRCROOT%"}));
    assert_eq!(at(0)["region"], json!({"startLine": 4, "startColumn": 4}));
    assert_eq!(
        (&at(2)["artifactLocation"]["uri"], &at(2)["region"]),
        (&json!("team/checkfu.yaml"), &json!({"startLine": 1}))
    );
    let many = vec![sample().remove(1); 6_000];
    assert_eq!(read(&sarif(&many, "c", "1"))["runs"][0]["results"].as_array().unwrap().len(), 5_000);
}

#[test]
fn a_finding_is_known_again_when_its_line_moved() {
    let prints = |all: &[Annotation]| -> Vec<String> {
        let log = read(&sarif(all, "checkfu.yaml", "1"));
        let results = log["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|r| r["partialFingerprints"]["checkfu/v1"].as_str().unwrap().to_owned()).collect()
    };
    let before = prints(&sample());
    let mut moved = sample();
    for a in &mut moved {
        a.line += 7;
    }
    assert_eq!(prints(&moved), before);
    let unique: std::collections::BTreeSet<&String> = before.iter().collect();
    assert_eq!(unique.len(), 3, "equal ones are told apart: {before:?}");
    moved[1].file = Some("other.yaml".to_owned());
    assert_ne!(prints(&moved), before);
}

#[test]
fn gitlab_reads_findings_and_counts() {
    let issues = read(&codequality(&sample(), "checkfu.yaml"));
    assert_eq!(issues.as_array().unwrap().len(), 3);
    let fingerprint = issues[1]["fingerprint"].as_str().unwrap();
    assert_eq!(
        issues[1],
        json!({
            "description": "a `key` is not known\nfix: take it out",
            "check_name": "manifest.unknown_key",
            "fingerprint": fingerprint,
            "severity": "critical",
            "location": {"path": "a b/ü:1.yaml", "lines": {"begin": 4}},
        })
    );
    assert_eq!(issues[0]["location"], json!({"path": "checkfu.yaml", "lines": {"begin": 1}}));
    assert_eq!(read(&codequality(&[], "c")), json!([]));
    assert_eq!(read(&terraform(1, 2, 3)), json!({"create": 1, "update": 2, "delete": 3}));
}

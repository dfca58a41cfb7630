//! Ctrl-C and SIGTERM: what is in flight finishes, the receipt is told, and the same command does the rest.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, agent, config};

#[test]
fn an_interrupted_apply_ends_with_a_receipt_and_is_finished_by_the_next() {
    for signal in ["-INT", "-TERM"] {
        interrupt(signal);
    }
}

/// Enough agents that the signal arrives long before the apply is through.
fn interrupt(signal: &str) {
    let agents = 1_200;
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/many"))]);
    for i in 0..agents {
        s.write(&format!("agents/a{i}.md"), &agent("", "You answer.\n"));
    }
    // A pipe that nobody reads meanwhile would stop it.
    let receipt = s.path("receipt.json");
    let out = std::fs::File::create(&receipt).unwrap();
    let mut child = s.command(&["apply", "--yes", "--json"]).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.by_ref().map(Result::unwrap).find(|l| l.starts_with("Apply apply_"));
    assert!(begun.is_some());
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rest.iter().any(|l| l.contains("what is in flight finishes")), "{rest:?}");
    assert!(rest.last().unwrap().contains("Run `checkfu apply` for the rest"), "{rest:?}");
    let receipt: serde_json::Value = serde_json::from_slice(&std::fs::read(receipt).unwrap()).unwrap();
    assert_eq!(receipt["outcome"], "interrupted");
    let done = receipt["lines"].as_array().unwrap().iter().filter(|l| l["outcome"] == "done").count();
    assert!(done < agents);
    let again = s.run(&["apply", "--yes", "--json"]).code(0).json();
    assert_eq!(again["lines"].as_array().unwrap().len(), agents - done, "the rest, and nothing twice");
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

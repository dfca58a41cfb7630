//! Ctrl-C: what is in flight finishes, the receipt is told, and the same command does the rest.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, agent, config, ran};

#[test]
fn an_interrupted_apply_ends_with_a_receipt_and_is_finished_by_the_next() {
    let agents = 400;
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/many"))]);
    for i in 0..agents {
        s.write(&format!("agents/a{i}.md"), &agent("", "You answer.\n"));
    }
    let mut child =
        s.command(&["apply", "--yes", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.by_ref().map(Result::unwrap).find(|l| l.starts_with("Apply apply_"));
    assert!(begun.is_some());
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let first = ran(&child.wait_with_output().unwrap()).code(130);
    assert!(rest.iter().any(|l| l.contains("what is in flight finishes")), "{rest:?}");
    assert!(rest.last().unwrap().contains("Run `checkfu apply` for the rest"), "{rest:?}");
    let receipt = first.json();
    assert_eq!(receipt["outcome"], "interrupted");
    let done = receipt["lines"].as_array().unwrap().iter().filter(|l| l["outcome"] == "done").count();
    assert!(done < agents);
    let again = s.run(&["apply", "--yes", "--json"]).code(0).json();
    assert_eq!(again["lines"].as_array().unwrap().len(), agents - done, "the rest, and nothing twice");
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

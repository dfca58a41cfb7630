//! The one integration test binary: one link, one place to look. A file that is not listed here fails
//! `no_test_file_is_forgotten`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod act;
mod action;
mod ci_apply;
mod ci_drift;
mod ci_plan;
mod cli_backup;
mod cli_bounds;
mod cli_copied;
mod cli_decide;
mod cli_diff;
mod cli_drift;
mod cli_edit;
mod cli_interrupt;
mod cli_loop;
mod cli_output;
mod cli_owners;
mod cli_prompt;
mod cli_pull;
mod cli_pull_ant;
mod cli_pull_drift;
mod cli_reference;
mod cli_retire;
mod cli_saved_plan;
mod cli_serve;
mod cli_take_over;
mod cli_token;
mod cli_validate;
mod cli_views;
mod cli_workspace;
mod codes;
mod crash;
mod documents;
mod examples;
mod forge;
mod generated;
mod github;
mod hostile;
mod laws;
mod layering;
mod openapi;
mod operations;
mod owners;
mod phantom;
mod remote;
mod repo;
mod sandbox;
mod serve;
mod situations;
mod words;

use std::collections::BTreeSet;

#[test]
fn no_test_file_is_forgotten() {
    let main = repo::text("tests/it/main.rs");
    let listed: BTreeSet<String> = main
        .lines()
        .filter_map(|l| l.trim().strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned))
        .chain(["main".to_owned()])
        .collect();
    let found: BTreeSet<String> = repo::children("tests/it")
        .into_iter()
        .filter_map(|name| match name.strip_suffix(".rs") {
            Some(stem) => Some(stem.to_owned()),
            None => repo::root().join("tests/it").join(&name).join("mod.rs").is_file().then_some(name),
        })
        .collect();
    assert_eq!(found, listed, "tests/it/main.rs must name every file of tests/it, and no other");
}

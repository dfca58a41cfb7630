//! `checkfu token`: on a database, and through a server.

use crate::sandbox::{Sandbox, agent, config};

fn create(s: &Sandbox, args: &[&str]) -> String {
    let ran = s.run(&[&["token", "create", "--db", "w.db"], args].concat()).code(0);
    let secret = ran.out.strip_suffix('\n').unwrap().to_owned();
    assert!(secret.starts_with("cfu_") && !secret.contains(char::is_whitespace), "{ran:?}");
    assert!(!ran.err.contains(&secret), "{ran:?}");
    secret
}

#[test]
fn a_secret_is_printed_once_and_kept_nowhere() {
    let s = Sandbox::empty();
    let made = s.run(&["token", "create", "ci", "--db", "w.db", "--scope", "apply", "--owner", "acme/*"]).code(0);
    assert!(made.err.contains("it is made"), "{made:?}");
    let secret = made.out.trim_end();
    let other = create(&s, &["bot", "--scope", "read", "--session", "--expires", "30d"]);
    let json = s.run(&["token", "create", "boss", "--db", "w.db", "--scope", "admin", "--json"]).code(0).json();
    assert_eq!((&json["format"], &json["token"]["scope"]), (&"checkfu.token/v1".into(), &"admin".into()));
    let list = s.run(&["token", "list", "--db", "w.db"]).code(0);
    assert!(list.out.contains("acme/*") && list.out.contains("valid, session"), "{list:?}");
    let markdown = s.run(&["token", "list", "--db", "w.db", "--markdown"]).code(0).out;
    assert!(markdown.starts_with("| token | name |"), "{markdown}");
    for secret in [secret, &other, json["secret"].as_str().unwrap()] {
        assert!(!list.out.contains(secret));
        for (name, bytes) in s.files() {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{name} holds the secret");
        }
    }
    let unnamed = s.run(&["token", "create", "--db", "w.db", "--scope", "apply", "--owner", "acme/*"]).code(0);
    assert!(unnamed.err.contains("apply acme/*") && unnamed.out.starts_with("cfu_"), "{unnamed:?}");
    let taken = s.run(&["token", "create", "ci", "--db", "w.db", "--scope", "read"]).code(4);
    assert!(taken.err.contains("validation.conflict") && taken.out.is_empty(), "{taken:?}");
    let revoked = s.run(&["token", "revoke", "ci", "--db", "w.db", "--json"]).code(0).json();
    let id = revoked["tokens"][0]["id"].as_str().unwrap();
    assert!(revoked["tokens"][0]["revoked_at"].is_string(), "{revoked}");
    create(&s, &["ci", "--scope", "plan", "--owner", "acme/*"]);
    // The id is the old one's, the name the new one's.
    s.run(&["token", "revoke", id, "--db", "w.db"]).code(0);
    let tokens = s.run(&["token", "list", "--db", "w.db", "--json"]).code(0).json();
    let valid = |name: &str| {
        let all = tokens["tokens"].as_array().unwrap();
        all.iter().filter(|t| t["name"] == name && t["revoked_at"].is_null()).count()
    };
    assert_eq!(["ci", "bot", "boss"].map(valid), [1, 1, 1], "{tokens}");
}

#[test]
fn what_cannot_be_is_told() {
    let s = Sandbox::empty();
    let run = |args: &[&str]| s.run(&[&["token"], args].concat());
    assert!(run(&["list", "--db", "w.db"]).code(1).err.contains("cli.no_workspace"));
    assert!(run(&["revoke", "x", "--db", "w.db"]).code(1).err.contains("cli.no_workspace"));
    assert!(!s.path("w.db").exists());
    assert!(run(&["create", "x", "--db", "w.db", "--scope", "apply"]).code(1).err.contains("--owner"));
    let expired = run(&["create", "x", "--db", "w.db", "--scope", "read", "--expires", "2020-01-01"]).code(1);
    assert!(expired.err.contains("is over already"), "{expired:?}");
    let pattern = run(&["create", "x", "--db", "w.db", "--scope", "read", "--owner", "acme*"]).code(1);
    assert!(pattern.err.contains("validation.invalid"), "{pattern:?}");
    assert!(run(&["revoke", "x", "--db", "w.db"]).code(1).err.contains("cli.not_found"));
    create(&s, &["x", "--scope", "read"]);
    let taken = run(&["create", "x", "--db", "w.db", "--scope", "read"]).code(4);
    assert!(taken.err.contains("choose another name"), "{taken:?}");
    s.write("notes.txt", "dear diary");
    let foreign = run(&["list", "--db", "notes.txt"]).code(1);
    assert!(foreign.err.contains("`--db`") && !foreign.err.contains("targets.NAME"), "{foreign:?}");
    assert!(run(&["list"]).code(1).err.contains("cli.no_project"));
    assert!(run(&["list", "--db", "w.db", "--target", "a"]).code(1).err.contains("--target"));
}

#[test]
fn without_a_database_it_is_the_target_of_the_project() {
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/a")), ("agents/a.md", &agent("", "Answer.\n"))]);
    assert!(s.run(&["token", "list"]).code(1).err.contains("cli.no_workspace"));
    s.run(&["token", "create", "ci", "--scope", "read"]).code(0);
    assert!(s.path(".checkfu/workspace.db").is_file());
    assert!(s.run(&["token", "list"]).code(0).out.contains("ci"));
}

#[cfg(unix)]
#[test]
fn a_revoked_token_ends_on_a_running_server() {
    let s = Sandbox::with(&[("agents/a.md", &agent("", "Answer.\n"))]);
    let (child, url) = crate::cli_serve::serving(&s);
    let admin = create(&s, &["boss", "--scope", "admin"]);
    let target = format!("targets: {{team: {{kind: checkfu, url: \"{url}\", token: {{env: TEAM_TOKEN}}}}}}\n");
    s.write("checkfu.yaml", &(config("acme/a") + &target));
    let run =
        |token: &str, args: &[&str]| crate::sandbox::ran(&s.command(args).env("TEAM_TOKEN", token).output().unwrap());
    // Made through the server, by its admin.
    let made = run(&admin, &["token", "create", "ci", "--scope", "apply", "--owner", "acme/*"]).code(0);
    let token = made.out.trim_end();
    run(token, &["apply", "--yes"]).code(0);
    let refused = run(token, &["token", "list"]).code(1);
    assert!(refused.err.contains("auth.scope") && refused.err.contains("admin token"), "{refused:?}");
    assert!(run(&admin, &["token", "list"]).code(0).out.contains("acme/*"));
    run(&admin, &["token", "revoke", "ci"]).code(0);
    assert!(run(token, &["plan"]).code(1).err.contains("http.unauthenticated"));
    // On its file, beside the server.
    s.run(&["token", "revoke", "boss", "--db", "w.db"]).code(0);
    assert!(run(&admin, &["token", "list"]).code(1).err.contains("http.unauthenticated"));
    crate::cli_serve::end(child, "-TERM");
}

//! The import table of ARCHITECTURE.md and the house rules that code can show, as a test.
//! [`broken`] says what is wrong with one file; the tests at the end break each rule and see that it speaks.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::repo;

/// Module → the modules that it may name beside `diag` and `model`. ARCHITECTURE.md holds the same table.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("diag", &[]),
    ("model", &[]),
    ("manifest", &[]),
    ("bundle", &["control"]),
    ("desired", &["manifest"]),
    ("live", &[]),
    ("plan", &["desired", "live"]),
    ("pull", &["manifest", "desired", "live", "plan"]),
    ("receipt", &["plan"]),
    ("net", &[]),
    ("control", &["manifest", "live", "receipt", "net"]),
    ("store", &[]),
    ("apply", &["plan", "receipt", "control"]),
    ("reconcile", &["manifest", "bundle", "desired", "live", "plan", "pull", "receipt", "control", "apply"]),
    ("server", &["control", "manifest"]),
    ("forge", &["ci", "net"]),
    ("ci", &["desired", "plan", "receipt"]),
    ("cli", &["reconcile", "control", "manifest", "live", "plan", "pull", "receipt", "server", "forge", "ci"]),
];

/// Places below a module that may name one more.
const ALSO: &[(&str, &str)] = &[("control/embedded", "store")];

/// Modules without async, I/O, clock, randomness and environment.
const PURE: &[&str] = &["diag", "model", "manifest", "desired", "live", "plan", "pull", "receipt", "ci"];

/// What a pure module cannot name: a path that is one of these or goes through it.
const EFFECTS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::io",
    "std::thread",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::os",
    "tokio",
    "rusqlite",
    "git2",
    "ignore",
    "rayon",
    "tempfile",
    "uuid",
    "indicatif",
    "dialoguer",
    "anstream",
    "rand",
    "getrandom",
    "fastrand",
];

/// Methods of `Path` that touch the disk.
const DISK_METHODS: &[&str] =
    &["exists", "try_exists", "is_symlink", "canonicalize", "read_dir", "read_link", "symlink_metadata"];

const MOST_FUNCTION_LINES: usize = 100;
const MOST_FILE_LINES: usize = 600;

#[derive(Default)]
struct Seen {
    paths: Vec<String>,
    methods: Vec<String>,
    prints: Vec<String>,
    asyncs: usize,
    long: Vec<(String, usize)>,
}

impl Seen {
    fn function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let lines = block.span().end().line - block.span().start().line + 1;
        if lines > MOST_FUNCTION_LINES {
            self.long.push((name.to_string(), lines));
        }
    }

    /// Paths inside macro calls, which are tokens to `syn`.
    fn tokens(&mut self, tokens: &TokenStream) {
        let text = tokens.to_string().replace(" :: ", "::").replace(":: ", "::").replace(" ::", "::");
        let mut rest = text.as_str();
        while let Some(at) = rest.find("::") {
            let start = rest[..at].rfind(|c: char| !is_word(c)).map_or(0, |i| i + 1);
            let mut end = at;
            while rest[end..].starts_with("::") {
                end += 2;
                end += rest[end..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - end);
            }
            self.paths.push(rest[start..end].to_owned());
            rest = &rest[end..];
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn join(path: &syn::Path) -> String {
    path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("::")
}

impl<'a> Visit<'a> for Seen {
    fn visit_item_use(&mut self, i: &'a syn::ItemUse) {
        flatten(&i.tree, "", &mut self.paths);
    }

    fn visit_path(&mut self, p: &'a syn::Path) {
        self.paths.push(join(p));
        visit::visit_path(self, p);
    }

    fn visit_expr_method_call(&mut self, m: &'a syn::ExprMethodCall) {
        self.methods.push(m.method.to_string());
        visit::visit_expr_method_call(self, m);
    }

    fn visit_macro(&mut self, m: &'a syn::Macro) {
        let name = join(&m.path);
        if ["print", "println", "eprint", "eprintln"].contains(&name.rsplit("::").next().unwrap()) {
            self.prints.push(format!("{name}!"));
        }
        self.tokens(&m.tokens);
        visit::visit_macro(self, m);
    }

    fn visit_signature(&mut self, s: &'a syn::Signature) {
        self.asyncs += usize::from(s.asyncness.is_some());
        visit::visit_signature(self, s);
    }

    fn visit_expr_async(&mut self, e: &'a syn::ExprAsync) {
        self.asyncs += 1;
        visit::visit_expr_async(self, e);
    }

    fn visit_item_fn(&mut self, f: &'a syn::ItemFn) {
        self.function(&f.sig.ident, &f.block);
        visit::visit_item_fn(self, f);
    }

    fn visit_impl_item_fn(&mut self, f: &'a syn::ImplItemFn) {
        self.function(&f.sig.ident, &f.block);
        visit::visit_impl_item_fn(self, f);
    }
}

fn flatten(tree: &syn::UseTree, before: &str, out: &mut Vec<String>) {
    let join = |i: &syn::Ident| if before.is_empty() { i.to_string() } else { format!("{before}::{i}") };
    match tree {
        syn::UseTree::Path(p) => flatten(&p.tree, &join(&p.ident), out),
        syn::UseTree::Name(n) => out.push(if n.ident == "self" { before.to_owned() } else { join(&n.ident) }),
        syn::UseTree::Rename(r) => out.push(if r.ident == "self" { before.to_owned() } else { join(&r.ident) }),
        syn::UseTree::Glob(_) => out.push(format!("{before}::*")),
        syn::UseTree::Group(g) => g.items.iter().for_each(|t| flatten(t, before, out)),
    }
}

/// Is `path` this one, or does it go through it? `std::fs` is in `std::fs::read`.
fn names(path: &str, what: &str) -> bool {
    path == what || path.strip_prefix(what).is_some_and(|rest| rest.starts_with("::"))
}

/// What is wrong with one file of `src`, by its path from there.
fn broken(rel: &str, source: &str) -> Vec<String> {
    let mut bad = Vec::new();
    if !source.starts_with("//!") {
        bad.push(format!("{rel}: opens without `//!`: say what the file is for"));
    }
    if repo::is_test_file(rel) {
        return bad;
    }
    let (code, _) = repo::split(rel, source);
    let lines = source.lines().count() - repo::split(rel, source).1.lines().filter(|l| !l.is_empty()).count();
    if lines > MOST_FILE_LINES {
        bad.push(format!("{rel}: {lines} lines without tests, {MOST_FILE_LINES} are the most"));
    }
    let mut seen = Seen::default();
    seen.visit_file(&syn::parse_file(&code).unwrap_or_else(|e| panic!("src/{rel}: {e}")));
    for (name, lines) in &seen.long {
        bad.push(format!("{rel}: fn {name} has {lines} lines, {MOST_FUNCTION_LINES} are the most"));
    }
    if seen.paths.iter().any(|p| p.starts_with("super::super")) {
        bad.push(format!("{rel}: write `crate::` paths, not `super::super`"));
    }
    let module = rel.split('/').next().unwrap().trim_end_matches(".rs");
    imports(rel, module, &seen, &mut bad);
    purity(rel, module, &seen, &mut bad);
    if !rel.starts_with("cli/view") {
        let std = seen.paths.iter().filter(|p| p.ends_with("io::stdout") || p.ends_with("io::stderr"));
        let anstream = seen.paths.iter().filter(|p| names(p, "anstream"));
        for what in seen.prints.iter().chain(std).chain(anstream) {
            bad.push(format!("{rel}: names {what}; only cli/view writes to the terminal"));
        }
    }
    if module != "cli" {
        for path in seen.paths.iter().filter(|p| names(p, "std::env") || p.starts_with("env::")) {
            bad.push(format!("{rel}: names {path}; only cli reads the environment"));
        }
    }
    bad
}

fn imports(rel: &str, module: &str, seen: &Seen, bad: &mut Vec<String>) {
    if module == "lib" {
        return;
    }
    if module == "main" {
        for path in seen.paths.iter().filter(|p| names(p, "checkfu") && !names(p, "checkfu::cli")) {
            bad.push(format!("{rel}: names {path}; main calls cli and nothing else"));
        }
        return;
    }
    let Some((_, may)) = MAY_IMPORT.iter().find(|(m, _)| *m == module) else {
        bad.push(format!("{rel}: module {module} is not in the import table"));
        return;
    };
    for path in seen.paths.iter().filter_map(|p| p.strip_prefix("crate::")) {
        let other = path.split("::").next().unwrap();
        let basis = other == "diag" || (other == "model" && module != "diag");
        let also = ALSO.iter().any(|(place, m)| rel.starts_with(place) && *m == other);
        if other != module && !basis && !also && !may.contains(&other) {
            bad.push(format!("{rel}: {module} must not name crate::{path}"));
        }
    }
}

fn purity(rel: &str, module: &str, seen: &Seen, bad: &mut Vec<String>) {
    if !PURE.contains(&module) {
        return;
    }
    if seen.asyncs > 0 {
        bad.push(format!("{rel}: async in a pure module"));
    }
    for path in &seen.paths {
        if EFFECTS.iter().any(|e| names(path, e)) || (path.ends_with("::now") && path != "crate::now") {
            bad.push(format!("{rel}: pure module names {path}"));
        }
    }
    for method in seen.methods.iter().filter(|m| DISK_METHODS.contains(&m.as_str())) {
        bad.push(format!("{rel}: pure module calls .{method}()"));
    }
}

#[test]
fn modules_keep_the_rules() {
    let bad: Vec<String> = repo::sources().iter().flat_map(|(rel, source)| broken(rel, source)).collect();
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
}

#[test]
fn tests_and_benches_say_what_they_are_for() {
    let dirs = ["tests", "benches", "fuzz"];
    let silent: Vec<String> = dirs
        .iter()
        .flat_map(|d| repo::files(d))
        .filter(|p| repo::is(p, "rs") && !repo::text(p).starts_with("//!"))
        .collect();
    assert!(silent.is_empty(), "these open without `//!`: {silent:?}");
}

#[test]
fn the_table_is_the_one_in_the_document() {
    let document = repo::text("ARCHITECTURE.md");
    for (module, may) in MAY_IMPORT {
        let row = document
            .lines()
            .find(|l| l.starts_with(&format!("| `{module}` |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{module}`"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let written: Vec<&str> =
            cells[3].split(',').map(|c| c.trim().trim_matches('`')).filter(|c| !c.is_empty() && *c != "–").collect();
        assert_eq!(written, *may, "ARCHITECTURE.md, row `{module}`, column 3");
        assert_eq!(cells[4] == "yes", PURE.contains(module), "ARCHITECTURE.md, row `{module}`, column 4");
    }
}

#[test]
fn every_module_of_the_library_is_in_the_table() {
    let lib = repo::text("src/lib.rs");
    for module in lib.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')) {
        assert!(MAY_IMPORT.iter().any(|(m, _)| *m == module), "{module}");
    }
}

#[test]
fn each_rule_speaks_when_it_is_broken() {
    let long_fn = format!("//! x\nfn f() {{\n{}}}\n", "    g();\n".repeat(101));
    let long_file = format!("//! x\n{}", "struct S;\n".repeat(601));
    let cases: &[(&str, &str, &str)] = &[
        ("plan/a.rs", "//! x\nuse crate::control::Blobs;", "plan must not name crate::control::Blobs"),
        ("plan/a.rs", "//! x\nfn f() { assert!(crate::store::x()); }", "plan must not name crate::store::x"),
        ("apply/a.rs", "//! x\nuse crate::{plan, desired::Desired};", "apply must not name crate::desired::Desired"),
        ("control/mod.rs", "//! x\nuse crate::store::Db;", "control must not name crate::store::Db"),
        ("diag/a.rs", "//! x\nuse crate::model::Kind;", "diag must not name crate::model::Kind"),
        ("extra/a.rs", "//! x\n", "module extra is not in the import table"),
        ("main.rs", "//! x\nfn main() { checkfu::store::open() }", "names checkfu::store::open"),
        ("plan/a.rs", "//! x\nasync fn f() {}", "async in a pure module"),
        ("live/a.rs", "//! x\nfn f() { let _ = async { 1 }; }", "async in a pure module"),
        ("model/a.rs", "//! x\nuse std::{fs, fmt};", "pure module names std::fs"),
        ("model/a.rs", "//! x\nfn f() { let t = jiff::Timestamp::now(); }", "pure module names jiff::Timestamp::now"),
        ("plan/a.rs", "//! x\nfn f(p: &Path) -> bool { p.exists() }", "pure module calls .exists()"),
        ("plan/a.rs", "//! x\nuse super::super::live::X;", "not `super::super`"),
        ("plan/a.rs", "use crate::live::Live;", "opens without `//!`"),
        ("apply/a.rs", "//! x\nfn f() { println!(\"x\"); }", "names println!"),
        ("cli/commands/plan.rs", "//! x\nfn f() { let o = std::io::stdout(); }", "names std::io::stdout"),
        ("bundle/a.rs", "//! x\nfn f() { std::env::var(\"HOME\"); }", "names std::env::var"),
        ("store/a.rs", &long_fn, "fn f has 103 lines"),
        ("store/a.rs", &long_file, "602 lines without tests"),
    ];
    for (rel, source, says) in cases {
        let bad = broken(rel, source);
        assert!(bad.iter().any(|b| b.contains(says)), "{rel}: {says:?} is not in {bad:?} for\n{source}");
    }
    let fine = [
        ("control/embedded/a.rs", "//! x\nuse crate::store::Db;\nuse crate::live::Live;"),
        ("cli/view/a.rs", "//! x\nfn f() { println!(\"x\"); }"),
        ("cli/a.rs", "//! x\nfn f() { std::env::var(\"HOME\"); }"),
        ("plan/a.rs", "//! x\n#[cfg(test)]\nmod tests { fn f() { std::fs::read(\"x\"); crate::store::x(); } }"),
        ("plan/tests.rs", "//! x\nuse crate::control::Blobs;"),
    ];
    for (rel, source) in fine {
        assert_eq!(broken(rel, source), Vec::<String>::new(), "{rel}\n{source}");
    }
}

//! The repository as the tests read it: files by path, and Rust sources with what is test code in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use syn::spanned::Spanned;

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file, by its path from the top.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The names in a folder, sorted; empty if there is no such folder.
pub(crate) fn children(dir: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root().join(dir)) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Every file below a folder, as paths from the top, sorted. Build output, Git and workspaces are left out.
pub(crate) fn files(dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), &root().join(dir), &mut found);
    found.sort();
    found
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap();
        if [".git", ".checkfu", "target", "corpus", "artifacts"].contains(&name) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
        }
    }
}

/// Does a path have this extension?
pub(crate) fn is(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == extension)
}

/// Every Rust file below `src`, by its path from there.
pub(crate) fn sources() -> BTreeMap<String, String> {
    files("src")
        .into_iter()
        .filter(|p| is(p, "rs"))
        .map(|p| (p.trim_start_matches("src/").to_owned(), text(&p)))
        .collect()
}

/// Is the whole file test code: named so, or declared as `#[cfg(test)] mod NAME;`?
pub(crate) fn is_test_file(rel: &str) -> bool {
    static DECLARED: OnceLock<Vec<String>> = OnceLock::new();
    let declared = DECLARED.get_or_init(|| {
        sources().iter().flat_map(|(rel, source)| test_modules(rel, &syn::parse_file(source).unwrap())).collect()
    });
    rel.split('/').any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
        || declared.iter().any(|d| rel == format!("{d}.rs") || rel.starts_with(&format!("{d}/")))
}

/// The modules that a file declares under `#[cfg(test)]`, as paths from `src` without an extension.
fn test_modules(rel: &str, file: &syn::File) -> Vec<String> {
    let stem = rel.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "mod")) => format!("{folder}/"),
        None if ["lib", "main"].contains(&stem) => String::new(),
        _ => format!("{stem}/"),
    };
    let of = |item: &syn::Item| match item {
        syn::Item::Mod(m) if m.content.is_none() && is_test(&m.attrs) => Some(format!("{folder}{}", m.ident)),
        _ => None,
    };
    file.items.iter().filter_map(of).collect()
}

/// Does an item stand under `#[cfg(test)]` or `#[test]`?
pub(crate) fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg") && matches!(&a.meta, syn::Meta::List(l) if l.tokens.to_string() == "test"))
    })
}

/// The source in two parts: code and test code. Both keep the line numbers; what is not theirs is blank.
pub(crate) fn split(rel: &str, source: &str) -> (String, String) {
    if is_test_file(rel) {
        return (String::new(), source.to_owned());
    }
    let file = syn::parse_file(source).unwrap_or_else(|e| panic!("src/{rel}: {e}"));
    let mut tests = vec![false; source.lines().count() + 1];
    for item in &file.items {
        let attrs = match item {
            syn::Item::Mod(m) => &m.attrs,
            syn::Item::Fn(f) => &f.attrs,
            syn::Item::Impl(i) => &i.attrs,
            syn::Item::Use(u) => &u.attrs,
            _ => continue,
        };
        if is_test(attrs) {
            let span = item.span();
            tests[span.start().line - 1..span.end().line].fill(true);
        }
    }
    let part = |wanted: bool| -> String {
        source.lines().zip(&tests).map(|(l, t)| if *t == wanted { l } else { "" }.to_owned() + "\n").collect()
    };
    (part(false), part(true))
}

#[test]
fn modules_for_tests_are_found() {
    let file = syn::parse_file("mod a;\n#[cfg(test)]\nmod fake;\n#[cfg(test)]\nmod tests { }").unwrap();
    assert_eq!(test_modules("apply/mod.rs", &file), ["apply/fake"]);
    assert_eq!(test_modules("apply/run.rs", &file), ["apply/run/fake"]);
    assert_eq!(test_modules("lib.rs", &file), ["fake"]);
}

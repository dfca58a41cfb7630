//! The memories of a store that the project declares already → files for review: what agents learned comes to where
//! the store's manifest has its folders.

use std::collections::BTreeMap;

use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::kinds::is_under;
use crate::model::{Address, Digest};
use crate::pull::files::memories;
use crate::pull::{File, paths};

/// An entry of `contents` of a store's manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// Where in the store.
    pub at: String,
    /// Its folder, relative to the project folder; `None` for `observe`.
    pub folder: Option<String>,
}

/// What becomes of a store's memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// Files in the folders of the manifest, with the paths of their memories.
    pub declared: Vec<(String, File)>,
    /// Memories that no folder holds, as files below [`folder`].
    pub beside: Vec<(String, File)>,
}

/// Where memories go that no entry of the manifest has a folder for.
pub fn folder(store: &Address) -> String {
    format!("learned/{}", store.name)
}

/// Distributes the memories of a store over the folders of its manifest.
pub fn learned(store: &Address, contents: &BTreeMap<String, Digest>, prefixes: &[Prefix]) -> (Learned, Diagnostics) {
    let (mut out, mut wrong) = (Learned::default(), Vec::new());
    let mut rest = contents.clone();
    for prefix in prefixes {
        let Some(folder) = &prefix.folder else { continue };
        let inside: Vec<String> = rest.keys().filter(|path| is_under(path, &prefix.at)).cloned().collect();
        let (files, problems) = memories(&rest, &prefix.at, folder);
        rest.retain(|path, _| !inside.contains(path));
        out.declared.extend(inside.into_iter().zip(files));
        wrong.extend(problems);
    }
    let (files, problems) = memories(&rest, "/", &folder(store));
    out.beside = rest.into_keys().zip(files).collect();
    wrong.extend(problems);
    if let Some(why) = paths::refused(&store.name) {
        wrong.push(format!("`{}` {why}", store.name));
    }
    let bad = |why: String| Diagnostic::new(&code::PATH, format!("{store}: {why}"));
    (out, Diagnostics(wrong.into_iter().map(bad).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_go_where_the_manifest_has_its_folders() {
        let store: Address = "MemoryStore/answers".parse().unwrap();
        let sha = Digest::of(b"x");
        let contents: BTreeMap<String, Digest> =
            ["/policy/a.md", "/policy-b.md", "/seen/c/d.md", "/e.md"].map(|p| (p.to_owned(), sha)).into();
        let prefix = |at: &str, folder: Option<&str>| Prefix { at: at.to_owned(), folder: folder.map(str::to_owned) };
        let prefixes = [prefix("/policy", Some("docs/policy")), prefix("/seen", None)];
        let (learned, wrong) = learned(&store, &contents, &prefixes);
        assert!(wrong.0.is_empty());
        let text = |list: &[(String, File)]| list.iter().map(|(m, f)| format!("{m} {}", f.path)).collect::<Vec<_>>();
        assert_eq!(text(&learned.declared), ["/policy/a.md docs/policy/a.md"]);
        assert_eq!(
            text(&learned.beside),
            [
                "/e.md learned/answers/e.md",
                "/policy-b.md learned/answers/policy-b.md",
                "/seen/c/d.md learned/answers/seen/c/d.md",
            ]
        );
        let bad = BTreeMap::from([("/../x".to_owned(), sha)]);
        assert_eq!(super::learned(&store, &bad, &prefixes).1.0[0].code.code, "pull.path");
    }
}

//! `init [DIR]`: a small project that applies as it is.

use std::io::Write;
use std::path::Path;

use crate::cli::args::Init;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::{CONFIG, normalize};
use crate::cli::view::json::FilesDoc;
use crate::cli::view::text::bytes;
use crate::cli::view::{Format, lists, tables};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::model::Owner;

/// A file to write.
pub struct File {
    /// Relative to the project, `/`-separated.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Writes the project. Never overwrites: all files that are in the way are named at once, and none is written.
pub fn run(run: &Run, args: &Init) -> Ran {
    let dir = args.dir.as_ref().map_or_else(|| run.cwd.clone(), |d| normalize(&run.cwd.join(d)));
    let owner = owner(args.owner.as_deref(), &dir)?;
    if dir.exists() && !dir.is_dir() {
        return Err(Failure::new(&codes::cli::EXISTS, format!("{} is no folder", dir.display())));
    }
    let ignore = ignore_file(&dir)?;
    let mut files = project(&owner);
    files.extend(ignore);
    write_new(run, &dir, &files)?;
    run.printer.talk("Next: `checkfu plan`, then `checkfu apply`");
    Ok(Exit::Ok)
}

/// The owner that was given, or the folder's name made into one.
fn owner(given: Option<&str>, dir: &Path) -> Result<Owner, Failure> {
    let bad = |e: crate::model::address::AddressError| Failure::new(&codes::cli::NAME, e.to_string());
    if let Some(given) = given {
        return given.parse().map_err(bad);
    }
    let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().map(fit).take(100).collect();
    let name = name.trim_matches(['-', '.']);
    let name = if name.is_empty() { "agents" } else { name };
    format!("my-team/{name}").parse().map_err(bad)
}

/// `.gitignore` with the local workspace in it; nothing to write where a line of one says so already.
pub(super) fn ignore_file(dir: &Path) -> Result<Option<File>, Failure> {
    let path = dir.join(".gitignore");
    if path.symlink_metadata().is_ok_and(|m| !m.is_file()) {
        let message = format!("{} is no regular file", path.display());
        return Err(Failure::new(&codes::cli::READ, message).fix("write the line `.checkfu/` into it by hand"));
    }
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Failure::new(&codes::cli::READ, format!("{} cannot be read: {e}", path.display()))),
    };
    if old.lines().any(|l| matches!(l.trim(), ".checkfu/" | ".checkfu" | "/.checkfu/" | "/.checkfu")) {
        return Ok(None);
    }
    let gap = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    Ok(Some(File { path: ".gitignore".to_owned(), text: format!("{old}{gap}.checkfu/\n") }))
}

/// Writes files that must not be there yet (`.gitignore` may: its text starts with what it was).
pub fn write_new(run: &Run, dir: &Path, files: &[File]) -> Result<(), Failure> {
    let mut wrong = Diagnostics::default();
    for file in files.iter().filter(|f| f.path != ".gitignore") {
        if dir.join(&file.path).symlink_metadata().is_ok() {
            wrong.push(Diagnostic::new(&codes::cli::EXISTS, format!("{} is there already", file.path)));
        }
    }
    if wrong.has_errors() {
        return Err(Failure::many(wrong, crate::cli::view::diagnostics::Sources::new()));
    }
    for file in files {
        write_one(&dir.join(&file.path), file)?;
    }
    let shown = |file: &File| {
        let path = dir.join(&file.path);
        path.strip_prefix(&run.cwd).map_or_else(|_| path.display().to_string(), |p| p.display().to_string())
    };
    let written: Vec<String> = files.iter().map(shown).collect();
    match run.printer.format {
        Format::Json => run.printer.json(&FilesDoc { format: "checkfu.files/v1", written }),
        Format::Human => run.printer.data(&tables::files(&written)),
        Format::Markdown => run.printer.raw(&lists::files(&written)),
    }
    Ok(())
}

/// Writes one file whole or not at all: a disk that is full leaves no half file, and the `.gitignore` as it was.
fn write_one(path: &Path, file: &File) -> Result<(), Failure> {
    let write = || -> Result<(), std::io::Error> {
        let parent = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".checkfu-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the umask takes its part.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut new = builder.tempfile_in(parent)?;
        new.write_all(file.text.as_bytes())?;
        new.as_file().sync_all()?;
        // What appeared since the check is not overwritten either.
        let kept = if file.path == ".gitignore" { new.persist(path) } else { new.persist_noclobber(path) };
        kept.map(drop).map_err(|e| e.error)
    };
    write().map_err(|e| {
        let size = bytes(file.text.len() as u64);
        Failure::new(&codes::cli::WRITE, format!("{} ({size}) cannot be written: {e}", path.display()))
    })
}

/// The files of the project: one agent, one skill, one memory store.
fn project(owner: &Owner) -> Vec<File> {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.replace("OWNER", owner.as_str()) };
    vec![
        file(CONFIG, CONFIG_TEXT),
        file("agents/support.md", AGENT_TEXT),
        file("skills/triage/SKILL.md", SKILL_TEXT),
        file("memory/stores.yaml", STORE_TEXT),
        file("memory/answers/opening-hours.md", MEMORY_TEXT),
    ]
}

const CONFIG_TEXT: &str = "\
apiVersion: checkfu.com/v1
kind: Config
# Who this project acts as. Every resource that it makes belongs to this owner.
authoring_owner: OWNER
targets:
  local: {kind: embedded, path: .checkfu/workspace.db}
";

const AGENT_TEXT: &str = "\
---
name: Support
description: Answers questions of customers
model: claude-sonnet-5
tools: [{type: agent_toolset_20260401}]
skills:
  - triage
memory:
  - {store: answers, at: /mnt/memory/answers}
---
You answer questions of customers.

Look into /mnt/memory/answers first: a person approved what is written there. When nothing fits, follow the
skill `triage`. Keep an answer short, and say so when you do not know.
";

const SKILL_TEXT: &str = "\
---
name: triage
description: Sorts a question by what the customer needs first. Use it when no approved answer fits.
---

# Triage

1. Say in one sentence what the customer wants.
2. Is something broken right now? Then ask for the exact message and the time.
3. Otherwise name the page or the person that can answer.
";

const STORE_TEXT: &str = "\
apiVersion: checkfu.com/v1
kind: MemoryStore
metadata: {name: answers}
spec:
  description: Answers that a person approved
  contents:
    - {path: answers, at: /, mode: enforce}
";

const MEMORY_TEXT: &str = "\
We answer from Monday to Friday, 9:00 to 17:00 UTC.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_becomes_an_owner() {
        let of = |dir: &str| owner(None, Path::new(dir)).unwrap().to_string();
        assert_eq!(of("/x/My Agents"), "my-team/My-Agents");
        assert_eq!(of("/"), "my-team/agents");
        assert_eq!(of("/x/…"), "my-team/agents");
        assert_eq!(owner(Some("a b"), Path::new("/x")).unwrap_err().diagnostics.0[0].code.code, "cli.name");
    }

    #[test]
    fn the_local_workspace_is_ignored_and_what_is_ignored_stays() {
        let dir = tempfile::tempdir().unwrap();
        let text = |old: &str| {
            std::fs::write(dir.path().join(".gitignore"), old).unwrap();
            ignore_file(dir.path()).unwrap().map(|f| f.text)
        };
        assert_eq!(text("/target"), Some("/target\n.checkfu/\n".to_owned()));
        assert_eq!(text("a\n .checkfu/ \n"), None);
        std::fs::remove_file(dir.path().join(".gitignore")).unwrap();
        assert_eq!(ignore_file(dir.path()).unwrap().unwrap().text, ".checkfu/\n");
    }
}

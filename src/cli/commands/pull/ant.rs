//! `pull --from claude-lock.json`: a project of the `ant` tool becomes one of ours. No workspace is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cli::args::Pull;
use crate::cli::commands::Run;
use crate::cli::commands::pull::here::{Here, or_fail};
use crate::cli::commands::pull::{Pulled, append_lines, write};
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::writer::{Over, Planned, Work};
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::manifest::emit_in_order;
use crate::model::{Address, Kind};
use crate::pull::{AntProject, Body, LockEntry, ant, lock, units};
use crate::reconcile::load::folder_files;

/// Files of such a project are small.
const MAX: u64 = 4 << 20;

/// Reads the lock and its files, and writes manifests and `adopt:` lines.
pub(super) fn run(run: &Run, args: &Pull, file: &Path) -> Ran {
    let here = Here::open(run, args)?;
    let file = normalize(&run.cwd.join(file));
    let dir = file.parent().unwrap_or(&run.cwd).to_path_buf();
    let text = read(&file)?;
    let entries =
        lock(&text).map_err(|why| Failure::new(&code::LOCK, format!("{} cannot be used: {why}", file.display())))?;
    let mut texts = BTreeMap::new();
    for entry in &entries {
        let Some(kind) = entry.kind() else { continue };
        let path = if kind == Kind::Skill { format!("{}/SKILL.md", entry.path) } else { entry.path.clone() };
        texts.insert(path.clone(), read(&dir.join(&path))?);
    }
    let me = &here.config.authoring_owner;
    let known: BTreeMap<String, Address> =
        here.config.adopt.iter().map(|a| (a.id.clone(), a.address.clone())).collect();
    let mut taken: BTreeSet<Address> = here.desired().into_iter().flat_map(|d| d.resources.keys().cloned()).collect();
    if dir == here.dir {
        // What lies where it belongs is declared already, and it is what the lock names.
        taken.retain(|a| a.kind != Kind::Skill);
    }
    let (project, found) = ant(&entries, &texts, me, &taken, &known);
    let mut notes = or_fail(found)?;
    let over = if args.force { Over::Always } else { Over::Never };
    let mut planned = here.own_files(append_lines(&here, &project.adopt)?)?;
    planned.extend(manifests(&project, over)?);
    for (address, folder) in &project.skills {
        planned.extend(skill(&here, &dir, address, folder, over)?);
    }
    let (work, found) = Work::look(&here.dir, planned);
    or_fail(found)?;
    notes.extend(github(&entries));
    write(run, &here, Pulled::new(work, project.adopt, BTreeMap::new(), notes))
}

fn manifests(project: &AntProject, over: Over) -> Result<Vec<Planned>, Failure> {
    let (units, found) = units(&project.resources, &project.published, &BTreeSet::new());
    or_fail(found)?;
    let planned = |file: crate::pull::File| match file.body {
        Body::Text(text) => {
            Some(Planned { path: file.path, bytes: text.into_bytes(), executable: false, link: false, over })
        }
        Body::Held(_) => None,
    };
    Ok(units.into_iter().flat_map(|u| u.files).filter_map(planned).collect())
}

/// A skill's folder: copied from elsewhere, left where discovery finds it, or named by a document.
fn skill(here: &Here, dir: &Path, address: &Address, folder: &str, over: Over) -> Result<Vec<Planned>, Failure> {
    let name = &address.name;
    let file = |path: String, bytes: Vec<u8>, executable| Planned { path, bytes, executable, link: false, over };
    if dir != here.dir {
        let files = folder_files(dir, folder).map_err(|found| Failure::many(found, BTreeMap::new()))?;
        let planned =
            files.into_iter().map(|(e, bytes)| file(format!("skills/{name}/{}", e.path), bytes, e.executable));
        return Ok(planned.collect());
    }
    if *folder == format!("skills/{name}") || here.declares(address) {
        return Ok(Vec::new());
    }
    let document = serde_json::json!({
        "apiVersion": "checkfu.com/v1", "kind": "Skill", "metadata": { "name": name },
        "spec": { "source": { "path": format!("../{folder}") } },
    });
    let text = emit_in_order(&document, &["apiVersion", "kind", "metadata", "spec"]);
    Ok(vec![file(format!("skills/{name}.yaml"), text.into_bytes(), false)])
}

/// Skills that come from a URL stay live resources without a folder.
fn github(entries: &[LockEntry]) -> Diagnostics {
    let urls = entries.iter().filter(|e| e.path.contains("://") && e.kind == "skill");
    let told = |e: &LockEntry| {
        let message = format!("{} comes from {}; agents name it by its id and follow its newest version", e.id, e.path);
        Diagnostic::new(&code::LEFT, message).fix(format!("checkfu pull {}", e.id))
    };
    Diagnostics(urls.map(told).collect())
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::new(&codes::cli::READ, format!("{} cannot be read: {why}", path.display()));
    let metadata = path.symlink_metadata().map_err(|e| failed(e.to_string()))?;
    if !metadata.is_file() || metadata.len() > MAX {
        return Err(failed("it is no plain file of at most 4 MB".to_owned()));
    }
    std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))
}

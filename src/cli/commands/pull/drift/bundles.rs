//! Files of skills, trees and stores that moved live: taken over, removed, or joined with what the project has.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cli::commands::pull::choose::failed;
use crate::cli::commands::pull::drift::{Brought, Drift};
use crate::cli::failure::Failure;
use crate::cli::writer::{Over, Planned};
use crate::control::Blobs as _;
use crate::diag::codes::bundle::SECRET_NAME;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::live::{LiveBody, LiveResource};
use crate::model::kinds::is_under;
use crate::model::names::looks_secret;
use crate::model::tree::Entry;
use crate::model::{Digest, Kind};
use crate::pull::patch::merge::{merge, relined};
use crate::pull::{FileMove, Item, bad_link, moved_files, refused};
use crate::reconcile::load::store_prefixes;
use crate::reconcile::{Wanted, read};

/// The files of one resource after the other.
pub(super) struct Bundles<'a, 'd> {
    pub(super) drift: &'a Drift<'d>,
    pub(super) out: &'a mut Brought,
    pub(super) found: &'a mut Diagnostics,
}

/// Where the files of a resource are.
struct Place<'a> {
    wanted: &'a Wanted,
    /// Paths of files by path in the bundle; of those that are not there yet, by the caller.
    file: &'a dyn Fn(&str) -> Option<String>,
}

impl Bundles<'_, '_> {
    pub(super) async fn bring(&mut self, wanted: &Wanted) -> Result<(), Failure> {
        let Some(live) = self.drift.live.resources.get(&wanted.address) else { return Ok(()) };
        let Some(body) = &live.body else { return Ok(()) };
        match wanted.address.kind {
            Kind::Skill | Kind::FileTree => self.content(wanted, live, body).await,
            Kind::MemoryStore => self.memories(wanted, body).await,
            _ => Ok(()),
        }
    }

    async fn content(&mut self, wanted: &Wanted, live: &LiveResource, body: &LiveBody) -> Result<(), Failure> {
        let digest = |of: &Value| of.get("content").and_then(Value::as_str).and_then(|d| d.parse::<Digest>().ok());
        let (Some((set, folder)), Some(applied)) = (&wanted.content, digest(&body.applied.spec)) else { return Ok(()) };
        if digest(&body.live).is_none_or(|now| now == applied || now == set.digest) {
            return Ok(());
        }
        let entries = if set.digest == applied || self.out.taken.contains(&wanted.address) {
            set.entries.clone()
        } else {
            let Drift { control, context, desired, .. } = self.drift;
            let of = (wanted.address.kind, live.summary.id.as_str());
            let held = read::entries_of(*control, context, &desired.owner, of, applied).await;
            held.map_err(|e| failed(&e))?.unwrap_or_default()
        };
        let items = |of: &'_ [Entry]| -> BTreeMap<String, Item> {
            of.iter().map(|e| (e.path.clone(), Item::from(e))).collect()
        };
        let of = [items(&entries), items(&set.entries), items(&body.entries)];
        let file = |path: &str| Some(if folder == "." { path.to_owned() } else { format!("{folder}/{path}") });
        if self.all(&Place { wanted, file: &file }, &of).await? {
            self.drift.merged(wanted, self.out);
        }
        Ok(())
    }

    /// Memories where the files decide: in `enforce` and `upkeep`.
    async fn memories(&mut self, wanted: &Wanted, body: &LiveBody) -> Result<(), Failure> {
        let prefixes = store_prefixes(&self.drift.session.loaded, &wanted.address, &wanted.at.file);
        let modes = wanted.spec.get("modes").and_then(Value::as_array).cloned().unwrap_or_default();
        let mode = |path: &str| {
            let holds = |m: &&Value| m.get("at").and_then(Value::as_str).is_some_and(|at| is_under(path, at));
            modes.iter().find(holds).and_then(|m| m.get("mode")?.as_str())
        };
        let contents = |of: &Value| -> BTreeMap<String, Item> {
            let all = of.get("contents").and_then(Value::as_object).into_iter().flatten();
            all.filter_map(|(path, d)| Some((path.clone(), Item::plain(d.as_str()?.parse().ok()?)))).collect()
        };
        let mut live = contents(&body.live);
        live.extend(body.memories.iter().map(|m| (m.path.clone(), Item::plain(m.content_sha256))));
        let of = [contents(&body.applied.spec), contents(&wanted.spec), live];
        let file = |path: &str| {
            if let Some(known) = wanted.memories.get(path) {
                return Some(known.file.clone());
            }
            let prefix = prefixes.iter().find(|p| is_under(path, &p.at))?;
            let rest = path.strip_prefix(prefix.at.trim_end_matches('/'))?.trim_start_matches('/');
            Some(format!("{}/{rest}", prefix.folder.as_ref()?))
        };
        let place = Place { wanted, file: &file };
        let part = |holds: &dyn Fn(&str) -> bool| {
            of.clone().map(|all| all.into_iter().filter(|(path, _)| holds(path)).collect::<BTreeMap<_, _>>())
        };
        let applied = |path: &str| of[0].contains_key(path);
        // In `upkeep` what is live stays unless a line takes the file; its digest covers what was applied.
        if self.all(&place, &part(&|path| mode(path) == Some("upkeep") && applied(path))).await? {
            self.drift.merged(wanted, self.out);
        }
        if self.all(&place, &part(&|path| mode(path) == Some("upkeep") && !applied(path))).await? {
            let message = format!("{}: a memory that is new here and live stays as it is live", wanted.address);
            self.out.note(message);
        }
        // In `enforce` the files decide whatever is live.
        self.all(&place, &part(&|path| mode(path) == Some("enforce"))).await?;
        Ok(())
    }

    /// Says whether some file says more than what is live.
    async fn all(&mut self, place: &Place<'_>, of: &[BTreeMap<String, Item>; 3]) -> Result<bool, Failure> {
        let by = |i: usize| of[i].iter().map(|(path, item)| (path.as_str(), *item)).collect::<BTreeMap<_, _>>();
        let mut merged = false;
        for (path, moved) in moved_files(&by(0), &by(1), &by(2)) {
            let Some(file) = (place.file)(&path) else { continue };
            match moved {
                FileMove::Remove => self.out.removed.push(file),
                FileMove::Stays => {
                    self.stays(place, format!("{file} is gone live and was changed here: it stays"));
                    merged = true;
                }
                FileMove::Take(item) => {
                    if of[0].contains_key(&path) && !of[1].contains_key(&path) {
                        self.out.note(format!("{file} was removed here and changed live: it is back"));
                    }
                    let bytes = self.held(item.sha256).await?;
                    self.put(place, (&path, file), item, bytes);
                }
                FileMove::Join { applied, file: here, live } => {
                    merged |= self.join(place, (&path, file), (applied, here, live)).await?;
                }
            }
        }
        Ok(merged)
    }

    /// Joins the texts of a file; of what is no text the file stays, and that is told.
    async fn join(
        &mut self,
        place: &Place<'_>,
        (path, file): (&str, String),
        (applied, here, live): (Option<Item>, Item, Item),
    ) -> Result<bool, Failure> {
        let own = self.drift.session.loaded.project.open(&file, &here.sha256);
        let own = own.map_err(|e| Failure::new(&codes::cli::READ, e.to_string()))?;
        let theirs = self.held(live.sha256).await?;
        let base = match applied {
            Some(applied) => self.held(applied.sha256).await?,
            None => Vec::new(),
        };
        // Marks between bytes that are no lines would only break them.
        let text = |bytes: &Vec<u8>| std::str::from_utf8(bytes).ok().filter(|t| !t.contains('\0')).map(str::to_owned);
        let texts = [&own, &base, &theirs].map(text);
        let [Some(own), Some(base), Some(theirs)] = texts else {
            self.stays(place, format!("{file} was changed here and live, and is no text: it stays as it is here"));
            return Ok(true);
        };
        let joined = merge(&own, &base, &theirs);
        if joined.conflicts > 0 {
            self.out.marked.insert(place.wanted.address.clone());
        }
        let joined = joined.text;
        let merged = joined != theirs;
        let item = Item { executable: here.executable, ..live };
        self.put(place, (path, file), item, joined.into_bytes());
        Ok(merged)
    }

    /// The file stays as it is here: whether that is what is wanted, a person decides.
    fn stays(&mut self, place: &Place<'_>, message: String) {
        self.drift.undecided(&place.wanted.address, message, None, self.out);
    }

    /// Plans a file. One that is there keeps the line ends of the lines that stay.
    fn put(&mut self, place: &Place<'_>, (path, file): (&str, String), item: Item, bytes: Vec<u8>) {
        let address = &place.wanted.address;
        let mut bad = |code, message: String| self.found.push(Diagnostic::new(code, message));
        if let Some(why) = refused(path.trim_start_matches('/')) {
            return bad(&code::PATH, format!("{address}: `{path}` {why}"));
        }
        if item.symlink
            && let Some(why) = bad_link(path, &String::from_utf8_lossy(&bytes))
        {
            return bad(&code::PATH, format!("`{file}` would be a symbolic link: {why}"));
        }
        let name = file.rsplit('/').next().unwrap_or_default();
        if looks_secret(name) && !self.drift.session.loaded.config.allow_secret_names.contains(&file) {
            return bad(&SECRET_NAME, format!("`{file}` of {address} has a name that looks like a secret"));
        }
        let there = std::fs::read(self.drift.session.dir.join(&file)).ok();
        let over = there.as_ref().map_or(Over::Never, |raw| Over::If(Digest::of(raw)));
        let bytes = match (there.map(String::from_utf8), String::from_utf8(bytes)) {
            (Some(Ok(raw)), Ok(text)) if raw.contains('\r') && !text.contains('\r') => {
                relined(&raw, &text).into_bytes()
            }
            (_, Ok(text)) => text.into_bytes(),
            (_, Err(e)) => e.into_bytes(),
        };
        self.out.planned.push(Planned { path: file, bytes, executable: item.executable, link: item.symlink, over });
    }

    async fn held(&self, digest: Digest) -> Result<Vec<u8>, Failure> {
        let bytes = read::bytes(self.drift.control, self.drift.context, digest).await.map_err(|e| failed(&e))?;
        if Digest::of(&bytes) != digest {
            return Err(Failure::new(&codes::cli::WORKSPACE, "the workspace gave other bytes than it says it holds"));
        }
        Ok(bytes)
    }
}

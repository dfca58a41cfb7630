//! `pull --drift`: what moved live comes to the lines that declare it; everything else of the files stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::args::{Pull, What};
use crate::cli::commands::Run;
use crate::cli::commands::pull::choose::failed;
use crate::cli::commands::pull::drift::bundles::Bundles;
use crate::cli::commands::pull::here::or_fail;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran, place};
use crate::cli::files::CONFIG;
use crate::cli::session::{self, Session, Wish, context, runtime};
use crate::cli::target::Workspace;
use crate::cli::view::diagnostics::{self, Options as Shown};
use crate::cli::view::json::PulledDoc;
use crate::cli::view::patch::Changed;
use crate::cli::view::{Format, lists, patch as shown};
use crate::cli::writer::{Over, Planned, Work};
use crate::diag::codes::manifest::CONFLICT_MARKER;
use crate::diag::codes::plan::SCOPE_EMPTY;
use crate::diag::codes::pull as code;
use crate::diag::{Code, Diagnostic, Diagnostics, Location, bounded};
use crate::live::Live;
use crate::model::config::{Accept, Removed, Take};
use crate::model::op::Context;
use crate::model::{Address, Digest};
use crate::plan::{self, Held, Plan};
use crate::pull::patch::lists as config_lists;
use crate::pull::{Move, Texts, bring};
use crate::reconcile::load::{LoadOptions, load};
use crate::reconcile::{Depth, Desired, Wanted, snapshot};

mod bundles;

/// Looks at everything, then writes all of it or nothing.
pub(super) fn run(run: &Run, args: &Pull) -> Ran {
    let session = session::open(run)?;
    let control = session.place.open_to_read(&run.printer)?;
    let context = context(run, &session.loaded.config);
    let wish = Wish { what: What { only: args.what.clone(), ..What::default() }, destroy: false };
    let desired = session.desired()?;
    let options = session.options(run, &wish);
    let brought = runtime()?.block_on(async {
        let read = snapshot(Some(&control), desired, &context, Depth::Resources).await.map_err(|e| failed(&e))?;
        let plan = plan::plan(desired, &read.live, &options);
        no_such(&plan)?;
        let scope = plan::named(desired, &read.live, &options);
        let drift = Drift { session: &session, control: &control, context: &context, desired, live: &read.live };
        drift.bring(&plan, &scope).await
    })?;
    write(run, &session, brought)
}

/// An argument that names nothing ends it.
fn no_such(plan: &Plan) -> Result<(), Failure> {
    let Some(finding) = plan.findings.iter().find(|f| f.code == SCOPE_EMPTY.code) else { return Ok(()) };
    let failure = Failure::new(&SCOPE_EMPTY, finding.message.clone());
    Err(match &finding.fix {
        Some(fix) => failure.fix(fix.clone()),
        None => failure,
    })
}

/// What is to be written.
#[derive(Default)]
struct Brought {
    /// Texts as they were read, and as they are to be.
    before: Texts,
    after: Texts,
    /// Other files.
    planned: Vec<Planned>,
    removed: Vec<String>,
    /// Resources whose files say more than what is live, with the present live digest.
    merged: BTreeMap<Address, Option<Digest>>,
    /// Resources of which something stays as the files have it, though both sides moved on: a person decides.
    undecided: BTreeSet<Address>,
    /// Resources of which an `accept:` line took the content that is live.
    taken: BTreeSet<Address>,
    /// Resources that are gone live.
    gone: Vec<Address>,
    /// Resources of which a text has marks for a person to decide.
    marked: BTreeSet<Address>,
    notes: Diagnostics,
}

impl Brought {
    fn note(&mut self, message: String) {
        self.notes.push(Diagnostic::new(&code::LEFT, message));
    }
}

struct Drift<'a> {
    session: &'a Session,
    control: &'a Workspace,
    context: &'a Context,
    desired: &'a Desired,
    live: &'a Live,
}

impl Drift<'_> {
    async fn bring(&self, plan: &Plan, scope: &BTreeSet<Address>) -> Result<Brought, Failure> {
        let mut out = Brought::default();
        let mut found = Diagnostics::default();
        let mut held: BTreeMap<&Address, Vec<&Held>> = BTreeMap::new();
        // What a rollback undid did not move live.
        plan.held.iter().filter(|h| !h.rolled_back).for_each(|h| held.entry(&h.address).or_default().push(h));
        for (address, fields) in held.into_iter().filter(|(a, _)| scope.contains(*a)) {
            if fields.iter().any(|h| h.accepted.is_some() && h.field.as_deref() == Some("content")) {
                out.taken.insert(address.clone());
            }
            let Some(wanted) = self.desired.resources.get(address) else { continue };
            if fields.iter().any(|h| h.field.is_none()) {
                out.gone.push(address.clone());
            } else if let Some(d) = self.fields(wanted, &fields, &mut out)? {
                found.push(d);
            }
        }
        let mut bundles = Bundles { drift: self, out: &mut out, found: &mut found };
        for wanted in scope.iter().filter_map(|a| self.desired.resources.get(a)) {
            bundles.bring(wanted).await?;
        }
        or_fail(found)?;
        self.accept(&mut out)?;
        Ok(out)
    }

    /// Brings the fields of one resource. What is wrong with its file is given back, to be told with the others.
    fn fields(&self, wanted: &Wanted, held: &[&Held], out: &mut Brought) -> Result<Option<Diagnostic>, Failure> {
        let Some(body) = self.live.resources.get(&wanted.address).and_then(|r| r.body.as_ref()) else {
            return Ok(None);
        };
        let at = |of: &serde_json::Value, field: &str| match field.split_once('.') {
            Some((map, key)) => of.get(map)?.get(key).cloned(),
            None => of.get(field).cloned(),
        };
        let moves: Vec<Move> = held
            .iter()
            .filter_map(|h| h.field.clone().map(|field| (h, field)))
            .filter(|(_, field)| field != "content")
            .map(|(h, field)| {
                let file = at(&wanted.spec, &field);
                // What an `accept:` line decided for live is no conflict any more, and of what is owned again nothing was
                // applied that the file could have changed.
                let decided = h.accepted.is_some() || h.owned_again;
                let applied = if decided { file.clone() } else { h.applied.clone() };
                Move { applied, file, live: h.live.clone(), field }
            })
            .collect();
        if moves.is_empty() {
            return Ok(None);
        }
        for file in wanted.instructions.iter().map(|p| &p.at.file).chain([&wanted.at.file]) {
            self.open(file, out)?;
        }
        Ok(match bring(wanted, &body.live, &moves, &mut out.after) {
            Ok(brought) => {
                self.tell_shared(wanted, out);
                if brought.merged {
                    self.merged(wanted, out);
                }
                for h in held.iter().filter(|h| h.field.as_ref().is_some_and(|f| brought.kept.contains(f))) {
                    self.conflict(h, out);
                }
                if !brought.conflicts.is_empty() {
                    out.marked.insert(wanted.address.clone());
                }
                None
            }
            Err(why) => {
                let fields: Vec<&str> = moves.iter().map(|m| m.field.as_str()).collect();
                let message = format!("{}: {} cannot be brought: {why}", wanted.address, fields.join(", "));
                Some(Diagnostic::new(&code::NOT_PATCHED, message).at(wanted.at.clone(), ""))
            }
        })
    }

    /// A text that is a part of other agents too changes them with it.
    fn tell_shared(&self, wanted: &Wanted, out: &mut Brought) {
        let parts = wanted.instructions.iter().map(|p| &p.at.file).filter(|f| **f != wanted.at.file);
        for file in parts.filter(|f| out.before.get(&***f) != out.after.get(&***f)).collect::<BTreeSet<_>>() {
            let others = self.desired.resources.values().filter(|w| w.address != wanted.address);
            let others = others.filter(|w| w.instructions.iter().any(|p| p.at.file == *file));
            let names: Vec<String> = others.map(|w| w.address.to_string()).collect();
            if !names.is_empty() {
                out.note(format!("{file} is a part of {} too, and changes there with it", names.join(", ")));
            }
        }
    }

    /// Both sides moved: what the file says now is a decision, which stands in review.
    fn merged(&self, wanted: &Wanted, out: &mut Brought) {
        out.merged.insert(wanted.address.clone(), self.moved(wanted));
    }

    /// What an `accept:` line is about.
    fn moved(&self, wanted: &Wanted) -> Option<Digest> {
        let body = self.live.resources.get(&wanted.address).and_then(|r| r.body.as_ref());
        body.map(|body| plan::moved_live(wanted.address.kind, body, &wanted.unowned))
    }

    /// The file keeps its value: both are told, with the lines that decide.
    fn conflict(&self, held: &Held, out: &mut Brought) {
        let value =
            |v: Option<&serde_json::Value>| v.map_or("absent".to_owned(), |v| bounded(&v.to_string()).into_owned());
        let who = held.actor.as_ref().map(|a| format!(" by {a}")).unwrap_or_default();
        let when = held.when.as_ref().map(|w| format!(" at {w}")).unwrap_or_default();
        let message = format!(
            "{}: `{}` is {} in the file and {} live{who}{when}; last applied was {}. The file keeps its value",
            held.address,
            held.field.as_deref().unwrap_or_default(),
            value(held.wanted.as_ref()),
            value(held.live.as_ref()),
            value(held.applied.as_ref()),
        );
        self.undecided(&held.address, message, held.at.as_deref().and_then(place), out);
    }

    /// Something that a person decides. The first one of a resource has the lines for that.
    fn undecided(&self, address: &Address, message: String, at: Option<Location>, out: &mut Brought) {
        let mut told = Diagnostic::new(&code::CONFLICT, message);
        if let Some(at) = at {
            told = told.at(at, "");
        }
        let digest = self.desired.resources.get(address).and_then(|wanted| self.moved(wanted));
        let first = out.undecided.insert(address.clone());
        if let Some(digest) = digest.filter(|_| first) {
            told = told.fix(format!(
                "decide in checkfu.yaml: `take: file` sends what the files say, `take: live` lets the next `checkfu pull \
                 --drift {address}` bring what is live:\naccept:\n  - {{address: {address}, live: \"{digest}\", take: file, \
                 reason: …}}"
            ));
        } else {
            told = told.fix("it is decided together with the one before");
        }
        out.notes.push(told);
    }

    fn open(&self, file: &str, out: &mut Brought) -> Result<(), Failure> {
        if !out.before.contains_key(file) {
            let text = self.session.loaded.project.read_text(file).map_err(Failure::from)?.to_string();
            out.before.insert(file.to_owned(), text.clone());
            out.after.insert(file.to_owned(), text);
        }
        Ok(())
    }

    /// An `accept:` line for each resource whose files were joined with what is live.
    fn accept(&self, out: &mut Brought) -> Result<(), Failure> {
        let line = |(address, live): (&Address, &Option<Digest>)| {
            let reason = "the file and what was live are joined in the file".to_owned();
            Some(Accept { address: address.clone(), live: (*live)?, take: Take::File, reason })
        };
        // One line decides about all of a resource: not where something still waits.
        let decided = out.merged.iter().filter(|(address, _)| !out.undecided.contains(*address));
        let lines: Vec<Accept> = decided.filter_map(line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.open(CONFIG, out)?;
        let text = out.after.get(CONFIG).cloned().unwrap_or_default();
        let text = config_lists::add(&text, &lines).map_err(|e| super::config_not_patched(&e))?;
        out.after.insert(CONFIG.to_owned(), text);
        Ok(())
    }
}

/// What moved live as files, none of which is written.
pub(in crate::cli::commands) struct Unwritten {
    /// As they are to be; what is so already is not among them.
    pub(in crate::cli::commands) files: Vec<Planned>,
    /// Paths that go.
    pub(in crate::cli::commands) removed: Vec<String>,
    /// Resources of which a person has to decide: files and live both moved. Nothing of them is in `files`.
    pub(in crate::cli::commands) undecided: BTreeSet<Address>,
    /// Resources that are gone live.
    pub(in crate::cli::commands) gone: Vec<Address>,
    /// What is told beside.
    pub(in crate::cli::commands) notes: Diagnostics,
}

/// What would be written, without the resources of which a person has to decide.
///
/// # Errors
/// The workspace cannot be read, or a file does not say where something stands.
pub(in crate::cli::commands) async fn unwritten(
    session: &Session,
    control: &Workspace,
    context: &Context,
    options: &plan::Options,
) -> Result<Unwritten, Failure> {
    let desired = session.desired()?;
    let read = snapshot(Some(control), desired, context, Depth::Resources).await.map_err(|e| failed(&e))?;
    let plan = plan::plan(desired, &read.live, options);
    let mut scope = plan::named(desired, &read.live, options);
    let drift = Drift { session, control, context, desired, live: &read.live };
    let mut undecided = BTreeSet::new();
    loop {
        let mut out = drift.bring(&plan, &scope).await?;
        out.undecided.append(&mut out.marked);
        if out.undecided.is_empty() {
            out.texts(session);
            let (work, found) = Work::look(&session.dir, out.planned);
            or_fail(found)?;
            let Brought { removed, gone, notes, .. } = out;
            return Ok(Unwritten { files: work.into_files(), removed, undecided, gone, notes });
        }
        // A text with marks says nothing, and what is told of it beside neither.
        scope.retain(|address| !out.undecided.contains(address));
        undecided.append(&mut out.undecided);
    }
}

impl Brought {
    /// Plans the texts that changed, and says how.
    fn texts(&mut self, session: &Session) -> Vec<Changed> {
        let mut changed = Vec::new();
        for (path, after) in std::mem::take(&mut self.after) {
            let before = self.before.remove(&path);
            if before.as_ref() == Some(&after) {
                continue;
            }
            let over = before.as_ref().map_or(Over::Never, |b| Over::If(Digest::of(b.as_bytes())));
            let executable = is_executable(&session.dir.join(&path));
            let bytes = after.clone().into_bytes();
            self.planned.push(Planned { path: path.clone(), bytes, executable, link: false, over });
            changed.push(Changed { path, before, after: Some(after) });
        }
        changed
    }
}

/// Writes, shows what changed, and tells what is left to a person.
fn write(run: &Run, session: &Session, mut out: Brought) -> Ran {
    let mut changed = out.texts(session);
    for file in out.planned.iter().filter(|p| !changed.iter().any(|c| c.path == p.path)).collect::<Vec<_>>() {
        let before = std::fs::read_to_string(session.dir.join(&file.path)).ok();
        let after = Some(String::from_utf8_lossy(&file.bytes).into_owned());
        changed.push(Changed { path: file.path.clone(), before, after });
    }
    let removed =
        out.removed.iter().map(|path| Changed { path: path.clone(), before: Some(String::new()), after: None });
    changed.extend(removed);
    changed.sort_by(|a, b| a.path.cmp(&b.path));
    let (mut work, found) = Work::look(&session.dir, out.planned);
    or_fail(found)?;
    work.remove(out.removed);
    let (written, removed) = (work.written(), work.removed().to_vec());
    work.run(&session.dir)?;
    let marked = read_back(session);
    match run.printer.format {
        Format::Json => run.printer.json(&PulledDoc {
            format: "checkfu.pulled/v1",
            owner: session.loaded.config.authoring_owner.clone(),
            written: written.clone(),
            removed: removed.clone(),
            unchanged: 0,
            adopted: Vec::new(),
        }),
        Format::Human => run.printer.data(&shown::files(&changed)),
        Format::Markdown => run.printer.raw(&lists::files(&written)),
    }
    out.notes.extend(marked);
    let has = |code: &Code| out.notes.0.iter().any(|d| d.code.code == code.code);
    let (marks, kept) = (has(&CONFLICT_MARKER), has(&code::CONFLICT));
    if !out.notes.0.is_empty() {
        out.notes.sort();
        let shown = Shown { width: run.printer.err_width };
        let report = diagnostics::report(&out.notes, &session.loaded.sources, shown);
        if marks || kept { run.printer.err(&report) } else { run.printer.talk(&report) }
    }
    tell_gone(run, &out.gone);
    let said = match (written.is_empty() && removed.is_empty(), marks || kept) {
        (_, true) if marks => "Decide what stands between the marks, then: `checkfu plan`",
        (_, true) => "Decide what both sides changed, then: `checkfu plan`",
        (true, _) if out.gone.is_empty() => "Nothing moved live that the files do not say",
        (true, _) => "No file was changed",
        (false, _) => "Next: `checkfu plan`",
    };
    run.printer.talk(said);
    Ok(if marks || kept { Exit::Conflict } else { Exit::Ok })
}

/// What is gone live is taken out of Git by a person, or made anew.
fn tell_gone(run: &Run, gone: &[Address]) {
    if gone.is_empty() {
        return;
    }
    let names: Vec<String> = gone.iter().map(ToString::to_string).collect();
    let lines: Vec<Removed> = gone.iter().map(|a| Removed { address: a.to_string(), to: None, keep: false }).collect();
    let block = config_lists::block(&lines);
    run.printer.talk(&format!(
        "Gone live: {}. To take it out of Git, remove its files and add to checkfu.yaml:\n{block}To make it anew: \
         `checkfu plan --revert ADDRESS`",
        names.join(", ")
    ));
}

/// What waits for a decision in the files, and what else is wrong with them now.
fn read_back(session: &Session) -> Diagnostics {
    let options = LoadOptions { profile: None, today: session::today() };
    let found = match load(&session.dir, &options) {
        Ok(loaded) => loaded.diagnostics,
        Err(e) => e.diagnostics,
    };
    Diagnostics(found.0.into_iter().filter(|d| d.severity == crate::diag::Severity::Error).collect())
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &std::path::Path) -> bool {
    false
}

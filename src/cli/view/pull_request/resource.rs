//! The actions of a plan by resource, and what is said of one in a row and in a fold.

use std::collections::BTreeMap;

use crate::ci::RowCause;
use crate::cli::view::diff::Mark;
use crate::cli::view::fenced::{self, Hunk, Row, rows};
use crate::cli::view::markup::{cell, html_code, prose};
use crate::cli::view::text::{clip, count};
use crate::cli::view::{create, values, words};
use crate::plan::{Action, Cause, FileVerb, Plan, Step, Verb};

/// Most fields that a row names.
const FIELDS: usize = 5;
/// What is said first of a new resource, where it has it.
const FIRST: &[&str] = &["name", "model", "agent", "memory_store", "file_tree", "access", "mount_path"];
/// Longest text of users in a row.
const TEXT: usize = 200;
/// Longest name of a field in a row.
const NAME: usize = 100;

/// All actions on one resource, in the order in which they are done.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    /// At least one.
    pub(super) actions: Vec<&'a Action>,
}

/// What changes in a resource, laid out.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) hunks: Vec<Hunk>,
    /// Of each field that is prose, how many sentences come and go.
    pub(super) sentences: BTreeMap<String, (usize, usize)>,
}

/// The resources of a plan, those that lose something first, then by address. What is only recorded is none.
pub(super) fn resources(plan: &Plan) -> Vec<Resource<'_>> {
    let mut actions: Vec<&Action> = plan.actions.iter().filter(|a| !words::settles(a)).collect();
    // Those on one resource stay in the order in which they are done.
    actions.sort_by(|a, b| a.address.cmp(&b.address));
    let mut out: Vec<Resource<'_>> = Vec::new();
    for action in actions {
        match out.last_mut() {
            Some(last) if last.actions[0].address == action.address => last.actions.push(action),
            _ => out.push(Resource { actions: vec![action] }),
        }
    }
    out.sort_by_key(|r| !r.retires());
    out
}

/// The sign of a verb in a table.
fn icon(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "➕",
        Verb::Update => "✏️",
        Verb::Publish => "⬆️",
        Verb::Repoint => "↪️",
        Verb::Replace => "🔁",
        Verb::Rename | Verb::Adopt | Verb::TakeOver | Verb::Release | Verb::HandOver => "🔀",
        Verb::Protect => "🔒",
        Verb::Unprotect => "🔓",
        Verb::Retire => "➖",
        Verb::Record => "📝",
        Verb::Policy => "⚖️",
    }
}

impl<'a> Resource<'a> {
    pub(super) fn retires(&self) -> bool {
        self.actions.iter().any(|a| words::retires(a))
    }

    pub(super) fn irreversible(&self) -> bool {
        self.actions.iter().any(|a| words::irreversible(a))
    }

    pub(super) fn creates(&self) -> bool {
        self.actions.iter().all(|a| a.verb == Verb::Create)
    }

    pub(super) fn subject(&self) -> String {
        let from = self.actions.iter().find(|a| a.verb == Verb::Rename);
        words::subject(from.unwrap_or(&self.actions[0]))
    }

    /// The first is what happens to the resource as a whole.
    pub(super) fn verb(&self) -> Verb {
        self.actions[0].verb
    }

    /// `✏️ update`, `🔀 adopt, update`.
    pub(super) fn verbs(&self) -> String {
        let mut names: Vec<&str> = self.actions.iter().map(|a| a.verb.as_str()).collect();
        names.dedup();
        format!("{} {}", icon(self.verb()), names.join(", "))
    }

    /// Where it is written, as `file:line:column`.
    pub(super) fn at(&self) -> Option<&'a str> {
        self.actions.iter().find_map(|a| a.about.at.as_deref())
    }

    /// Where fields are written that are not written where the resource is, each place once.
    pub(super) fn places(&self) -> Vec<(&'a str, &'a str)> {
        let mut out: Vec<(&str, &str)> = Vec::new();
        for change in self.actions.iter().flat_map(|a| &a.about.changes) {
            if let Some(at) = change.at.as_deref().filter(|at| Some(*at) != self.at())
                && out.iter().all(|(_, known)| *known != at)
            {
                out.push((values::path(change), at));
            }
        }
        out
    }

    /// Why it is in the plan.
    pub(super) fn cause(&self, causes: &BTreeMap<String, RowCause>) -> String {
        let mut all: Vec<RowCause> = self.actions.iter().filter_map(|a| causes.get(&a.id)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(RowCause::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Everything that changes in it.
    pub(super) fn details(&self) -> Details {
        let mut details = Details::default();
        for action in &self.actions {
            details.add(action);
        }
        details
    }

    /// What changes, for a row: Markdown.
    pub(super) fn what(&self, details: Option<&Details>) -> String {
        let mut parts: Vec<String> = Vec::new();
        if self.irreversible() {
            parts.push("**cannot be undone**".to_owned());
        }
        for action in &self.actions {
            parts.extend(sentence(action).map(|s| prose(&clip(&s, TEXT))));
        }
        let names = self.fields(details, cell);
        parts.extend((!names.is_empty()).then(|| names.join(", ")));
        parts.extend(self.files());
        let live: u32 = self.actions.iter().map(|a| a.about.live_at_once).sum();
        parts.extend((live > 0).then(|| format!("**live at once for {}**", count(live as usize, "agent"))));
        parts.join("; ")
    }

    /// The line of its fold: HTML.
    pub(super) fn summary(&self, details: &Details) -> String {
        let names = self.fields(Some(details), html_code);
        let parts: Vec<String> =
            (!names.is_empty()).then(|| names.join(", ")).into_iter().chain(self.files()).collect();
        let tail = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
        format!("{} {}{tail}", self.verbs(), html_code(&self.subject()))
    }

    /// The fields that change, with how many sentences come and go.
    fn fields(&self, details: Option<&Details>, shown: impl Fn(&str) -> String) -> Vec<String> {
        let mut names: Vec<&str> = Vec::new();
        for change in self.actions.iter().flat_map(|a| &a.about.changes) {
            let path = values::path(change);
            if !names.contains(&path) {
                names.push(path);
            }
            // Hundreds of them are only counted.
            if names.len() > 50 * FIELDS {
                break;
            }
        }
        let one = |name: &&str| {
            let sentences = details.and_then(|d| d.sentences.get(*name));
            let tail = match sentences {
                Some((0, 0)) => " (white space)".to_owned(),
                Some((come, gone)) => format!(" +{come} −{gone}"),
                None => String::new(),
            };
            format!("{}{tail}", shown(&clip(name, NAME)))
        };
        let mut out: Vec<String> = names.iter().take(FIELDS).map(one).collect();
        if names.len() > FIELDS {
            let n = names.len() - FIELDS;
            out.push(format!("and {n} more"));
        }
        out
    }

    /// `files: 1 added, 2 changed`.
    fn files(&self) -> Option<String> {
        let verbs = [
            (FileVerb::Add, "added"),
            (FileVerb::Modify, "changed"),
            (FileVerb::Remove, "removed"),
            (FileVerb::Rename, "renamed"),
            (FileVerb::Mode, "with another mode"),
        ];
        let of = |verb: FileVerb| self.actions.iter().flat_map(|a| &a.about.files).filter(|f| f.change == verb).count();
        let parts: Vec<String> = verbs
            .iter()
            .map(|(v, word)| (of(*v), word))
            .filter(|(n, _)| *n > 0)
            .map(|(n, w)| format!("{n} {w}"))
            .collect();
        (!parts.is_empty()).then(|| format!("files: {}", parts.join(", ")))
    }
}

/// What is said of an action as a whole, text of users in it.
fn sentence(action: &Action) -> Option<String> {
    match &action.step {
        _ if words::moves(action) || words::retires(action) || action.verb == Verb::Replace => {
            Some(action.about.reason.clone()).filter(|r| !r.is_empty())
        }
        Step::Create { spec, .. } => {
            let fields = create::fields(spec, FIRST);
            (!fields.is_empty()).then(|| fields.join(" · "))
        }
        _ => None,
    }
}

impl Details {
    fn add(&mut self, action: &Action) {
        if let Step::Create { spec, replaces: None, .. } = &action.step {
            let all: Vec<&str> = spec.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let fields = create::fields(spec, &all);
            self.bare(fields.iter().flat_map(|f| rows(Mark::Added, f)).collect());
        }
        for change in &action.about.changes {
            let (mut hunks, sentences) = fenced::change(change);
            let why = match change.cause {
                Cause::Live => ", moved live, is put back",
                Cause::Both => ", file and live moved",
                Cause::File | Cause::Reference => "",
            };
            for hunk in &mut hunks {
                hunk.head.push_str(why);
            }
            self.hunks.extend(hunks);
            if let Some(sentences) = sentences {
                self.sentences.insert(values::path(change).to_owned(), sentences);
            }
        }
        let files = &action.about.files;
        self.bare(files.iter().flat_map(|f| rows(fenced::of_file(f.change), &values::file(f))).collect());
        let remarks = words::remarks(action);
        let remarks = remarks.iter().filter(|r| *r != "cannot be undone");
        self.bare(remarks.flat_map(|r| rows(Mark::Gap, r)).collect());
    }

    /// Lines of no field, set apart from the field before them.
    fn bare(&mut self, rows: Vec<Row>) {
        if !rows.is_empty() {
            self.hunks.push(Hunk::bare(rows));
        }
    }
}

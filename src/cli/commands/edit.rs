//! `edit`: what is live, in an editor, and written at once as break-glass. It is then held until a person decides. A text
//! that is wrong comes back with what is wrong on top, until it is right or left as it is.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::cli::args::Edit as Args;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{self, context, load_project, runtime, target};
use crate::cli::target::choose;
use crate::cli::view::Format;
use crate::cli::view::diagnostics::fix;
use crate::cli::view::json::EditDoc;
use crate::cli::view::markup::code;
use crate::cli::view::text::line;
use crate::control::{ControlError, ErrorKind};
use crate::diag::{Diagnostic, Diagnostics, Severity, codes};
use crate::model::op::Context;
use crate::reconcile::edit::{self, Change, Opened};

/// Opens, waits, writes.
pub fn run(run: &Run, args: &Args) -> Ran {
    let editor = run.environment.editor.as_deref();
    let editor = editor.ok_or_else(|| Failure::new(&codes::edit::NO_EDITOR, "neither VISUAL nor EDITOR is set"))?;
    let (dir, loaded) = load_project(run, None)?;
    let place = choose(&loaded.config, target(run), &dir)?;
    let owner = &loaded.config.authoring_owner;
    let reads = context(run, &loaded.config);
    let runtime = runtime()?;
    let failed = |e: ControlError| Failure::control("read the workspace", &e);
    place.may_write(&run.printer)?;
    let control = place.open_existing(&run.printer)?.ok_or_else(|| {
        let message = format!("target {} has no workspace yet: {} does not exist", place.name, place.written);
        Failure::new(&codes::cli::NO_WORKSPACE, message).fix("checkfu apply")
    })?;
    let opened = runtime.block_on(edit::open(&control, &reads, owner, &args.address)).map_err(failed)?;
    let Some(opened) = opened else {
        let message = format!("{owner} has no live {} in target {}", args.address, place.name);
        return Err(Failure::new(&codes::cli::NOT_FOUND, message).fix("checkfu get"));
    };
    let writes = Context {
        actor: session::actor(run),
        break_glass: Some(args.reason.clone()),
        // Whoever may open the file may do this; a server asks its token.
        admin: true,
        ..Context::default()
    };
    let file = Text::write(&opened)?;
    let mut before = opened.text.clone();
    for _ in 0..MOST_TIMES {
        let text = match ask(editor, file.path()).and_then(|()| file.read()) {
            Ok(text) => text,
            Err(failure) => return Err(file.given_up(failure, &opened)),
        };
        let checked = match runtime.block_on(edit::check(&control, &reads, owner, &opened, &text)) {
            Ok(checked) => checked,
            Err(error) => return Err(file.kept(failed(error))),
        };
        let found = match checked {
            Ok(Change::Nothing) => return Ok(told(run, &opened, &Change::Nothing, opened.version)),
            Ok(change) => match runtime.block_on(edit::write(&control, &writes, &opened, &change)) {
                Ok(written) => {
                    run.printer.note_written();
                    let version = written.map_or(opened.version, |w| w.version);
                    return Ok(told(run, &opened, &change, version));
                }
                Err(error) if error.kind == ErrorKind::Invalid => not_written(&opened, &error).diagnostics,
                Err(error) => return Err(file.kept(not_written(&opened, &error))),
            },
            Err(found) => found,
        };
        // Left as it was, with what is wrong on top: that is how a person gives up.
        if text == before || text.trim().is_empty() {
            return Err(file.wrong(found, &opened, &text));
        }
        file.again(&found, &opened, &text)?;
        before = text;
    }
    let text = file.read()?;
    let message = format!("it was wrong {MOST_TIMES} times; nothing was written");
    let mut found = Diagnostics(vec![Diagnostic::new(&codes::edit::EDITOR, message)]);
    if let Ok(Err(why)) = runtime.block_on(edit::check(&control, &reads, owner, &opened, &text)) {
        found.extend(why);
    }
    Err(file.wrong(found, &opened, &text))
}

fn not_written(opened: &Opened, error: &ControlError) -> Failure {
    let stale = error.kind == ErrorKind::Conflict && error.details.get("reason").is_some_and(|r| r == "stale");
    if !stale {
        return Failure::control("write the workspace", error);
    }
    let message = format!("{} was changed by another since it was opened; nothing was written", opened.address);
    Failure::new(&codes::edit::MOVED, message).exit(Exit::Conflict)
}

/// Most times that the editor is opened: one that is a program would go on for ever.
const MOST_TIMES: usize = 20;
/// What each line begins with that tells what is wrong. These are no part of the text.
const SAID: &str = "# checkfu: ";

/// A text without the lines on top that tell what is wrong.
fn unsaid(mut text: &str) -> &str {
    while let Some((line, rest)) = text.split_once('\n')
        && line.trim_start_matches('\u{feff}').starts_with(SAID.trim_end())
    {
        text = rest;
    }
    text
}

/// The lines on top of a text that tell what is wrong with it, with the lines of the file that they make.
fn said(found: &Diagnostics, file: &str) -> String {
    let mut out = vec!["nothing is written yet: correct this and save, or close it unchanged to give up".to_owned()];
    let rows = found.0.iter().filter(|d| d.severity == Severity::Error);
    let above = u32::try_from(1 + rows.clone().count()).unwrap_or(u32::MAX);
    out.extend(rows.map(|d| {
        let at = d.place().filter(|at| *at.file == *file && at.line > 0);
        let at = at.map(|at| format!("line {}: ", at.line.saturating_add(above))).unwrap_or_default();
        format!("{at}{} (fix: {})", line(&d.message), line(fix(d)))
    }));
    format!("{SAID}{}\n", out.join(&format!("\n{SAID}")))
}

/// A private file with what is edited. It goes when this ends, unless it is kept.
struct Text(tempfile::NamedTempFile);

impl Text {
    fn write(opened: &Opened) -> Result<Self, Failure> {
        let cannot =
            |e: std::io::Error| Failure::new(&codes::cli::WRITE, format!("no temporary file can be made: {e}"));
        let is_markdown = Path::new(&opened.file).extension().is_some_and(|e| e == "md");
        let suffix = if is_markdown { ".md" } else { ".yaml" };
        // It is made with mode 0600.
        let mut file = tempfile::Builder::new().prefix("checkfu-edit-").suffix(suffix).tempfile().map_err(cannot)?;
        file.write_all(opened.text.as_bytes()).and_then(|()| file.flush()).map_err(cannot)?;
        Ok(Self(file))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// What it holds now. Read by its name: editors put a new file in its place.
    fn read(&self) -> Result<String, Failure> {
        std::fs::read_to_string(self.path())
            .map(|text| unsaid(&text).to_owned())
            .map_err(|e| Failure::new(&codes::cli::READ, format!("{} cannot be read: {e}", self.path().display())))
    }

    /// Puts what is wrong on top of the text.
    fn again(&self, found: &Diagnostics, opened: &Opened, text: &str) -> Result<(), Failure> {
        let all = format!("{}{text}", said(found, &opened.file));
        std::fs::write(self.path(), all)
            .map_err(|e| Failure::new(&codes::cli::WRITE, format!("{} cannot be written: {e}", self.path().display())))
    }

    /// The editor did not end well, or left what cannot be read: what was written until then is kept.
    fn given_up(self, failure: Failure, opened: &Opened) -> Failure {
        let as_opened = std::fs::read(self.path()).is_ok_and(|bytes| bytes == opened.text.as_bytes());
        if as_opened { failure } else { self.kept(failure) }
    }

    /// Keeps it, and says where it is.
    fn kept(self, failure: Failure) -> Failure {
        let path = self.path().display().to_string();
        match self.0.keep() {
            Ok(_) => failure.hint(format!("what you wrote is in {path}")),
            Err(e) => failure.hint(format!("what you wrote cannot be kept: {}", e.error)),
        }
    }

    /// Everything that is wrong with it, with places in the file itself.
    fn wrong(self, mut found: Diagnostics, opened: &Opened, text: &str) -> Failure {
        let path = self.path().display().to_string();
        for label in found.0.iter_mut().flat_map(|d| &mut d.labels).filter(|l| *l.at.file == *opened.file) {
            label.at.file = path.as_str().into();
        }
        // Kept without what was told on top, so that the lines are those that are told now.
        let _ = std::fs::write(self.path(), text);
        found.sort();
        let sources = BTreeMap::from([(path, text.into())]);
        self.kept(Failure::many(found, sources))
    }
}

/// Runs the editor and waits for its end. It may be a command with options.
fn ask(editor: &str, path: &Path) -> Result<(), Failure> {
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{editor} \"$@\""), editor]).arg(path);
        shell
    } else {
        let mut words = editor.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(path);
        command
    };
    let bad = |why: String| Failure::new(&codes::edit::EDITOR, format!("`{}` {why}", line(editor)));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(bad(format!("ended with {status}; nothing was written"))),
        Err(e) => Err(bad(format!("cannot be started: {e}"))),
    }
}

fn told(run: &Run, opened: &Opened, change: &Change, version: u64) -> Exit {
    let (address, fields) = (&opened.address, change.fields());
    let printer = &run.printer;
    let text = |shown: fn(&str) -> String| {
        if fields.is_empty() {
            return format!("Nothing changed in {}; nothing was written.\n", shown(&address.to_string()));
        }
        let names: Vec<String> = fields.iter().map(|f| shown(f)).collect();
        format!("{} is changed live, version {version}: {}\n", shown(&address.to_string()), names.join(", "))
    };
    match printer.format {
        Format::Human => printer.data(&text(line)),
        Format::Markdown => printer.raw(&text(code)),
        Format::Json => printer.json(&EditDoc {
            format: "checkfu.edit/v1",
            address: address.clone(),
            id: opened.id.clone(),
            fields: fields.clone(),
            version,
        }),
    }
    if !fields.is_empty() {
        printer.talk(&format!(
            "It stays so, whatever is applied, until it is written into the files (checkfu pull --drift {address}) or put back (checkfu revert {address})."
        ));
    }
    Exit::Ok
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Location;

    #[test]
    fn what_is_told_on_top_is_no_part_of_the_text() {
        let at = |line| Location { line, ..Location::file("agents/a.md") };
        let found = Diagnostics(vec![
            Diagnostic::new(&codes::edit::NOT_HERE, "a\nb").at(at(2), ""),
            Diagnostic::new(&codes::edit::REFERENCE, "c").at(Location::file("other"), ""),
        ]);
        let text = "---\nmodle: m # checkfu: no\n---\n";
        let shown = said(&found, "agents/a.md") + text;
        // The line that is named is that of the file as it is opened again.
        assert!(shown.contains("# checkfu: line 5: a\\nb (fix: "), "{shown}");
        assert_eq!(shown.lines().nth(4), Some("modle: m # checkfu: no"));
        assert_eq!(unsaid(&shown), text);
        assert_eq!(unsaid(&shown.replace('\n', "\r\n")), text.replace('\n', "\r\n"));
        assert_eq!((unsaid(text), unsaid("")), (text, ""));
    }
}

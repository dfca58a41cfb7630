//! `edit`: what is live, in an editor, and written at once as break-glass. It is then held until a person decides.

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
use crate::cli::view::json::EditDoc;
use crate::cli::view::markup::code;
use crate::cli::view::text::line;
use crate::control::{ControlError, ErrorKind};
use crate::diag::{Diagnostics, codes};
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
    let file = Text::write(&opened)?;
    ask(editor, file.path())?;
    let text = file.read()?;
    let checked = runtime.block_on(edit::check(&control, &reads, owner, &opened, &text));
    let change = match checked {
        Ok(Ok(change)) => change,
        Ok(Err(found)) => return Err(file.wrong(found, &opened, &text)),
        Err(error) => return Err(file.kept(failed(error))),
    };
    if change == Change::Nothing {
        return Ok(told(run, &opened, &change, opened.version));
    }
    let writes = Context {
        actor: session::actor(run),
        break_glass: Some(args.reason.clone()),
        // Whoever may open the file may do this; a server asks its token.
        admin: true,
        ..Context::default()
    };
    let version = match runtime.block_on(edit::write(&control, &writes, &opened, &change)) {
        Ok(written) => written.map_or(opened.version, |w| w.version),
        Err(error) => return Err(file.kept(not_written(&opened, &error))),
    };
    run.printer.note_written();
    Ok(told(run, &opened, &change, version))
}

fn not_written(opened: &Opened, error: &ControlError) -> Failure {
    let stale = error.kind == ErrorKind::Conflict && error.details.get("reason").is_some_and(|r| r == "stale");
    if !stale {
        return Failure::control("write the workspace", error);
    }
    let message = format!("{} was changed by another since it was opened; nothing was written", opened.address);
    Failure::new(&codes::edit::MOVED, message).exit(Exit::Conflict)
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
            .map_err(|e| Failure::new(&codes::cli::READ, format!("{} cannot be read: {e}", self.path().display())))
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

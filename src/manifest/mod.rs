//! Text → documents with spans: YAML, front matter, agents in Markdown, skills, the configuration. Pure.
//!
//! ```text
//! text ─▶ yaml (tree with spans) ─▶ JSON ─▶ schema + rules of the kind ─▶ Document
//!   └─▶ front (splitter) ─┘                └─▶ findings, located through the tree
//! ```

mod agent;
mod check;
mod config;
mod document;
mod emit;
mod explain;
pub mod front;
pub mod schema;
mod skill;
mod stream;
mod suggest;
mod text;
mod unread;
pub mod yaml;

pub use config::{ConfigDocument, config};
pub use document::{Document, FieldMode, Form, Mode};
pub use emit::{emit, emit_in_order};
pub use skill::{skill_head, skill_name};
pub use stream::slug;
pub use suggest::nearest;
pub use unread::Unread;

use crate::diag::{Diagnostics, LineIndex};

/// What a file gave.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Its documents.
    pub documents: Vec<Document>,
    /// What it may declare besides, in parts that could not be read; each comes with an error.
    pub unread: Vec<Unread>,
    /// Everything that is wrong with it.
    pub found: Diagnostics,
}

/// Reads the documents of a file and everything that is wrong with them, at once. Never panics. The path of the
/// file gives an agent in Markdown and a skill its name. For [`Form::Config`] only the other documents of
/// `checkfu.yaml` are returned; [`config`] reads the configuration itself.
pub fn parse(form: Form, index: &LineIndex) -> Parsed {
    let mut out = Parsed::default();
    let Some(start) = text::check(index, &mut out.found) else {
        out.unread.push(Unread::of(form, index));
        return out;
    };
    if matches!(form, Form::AgentMarkdown | Form::Skill) {
        text::check_marks(index, start..index.text().len(), &mut out.found);
    }
    let one = match form {
        Form::Yaml | Form::Config => {
            stream::read(index, start, form, &mut out);
            return out;
        }
        Form::AgentMarkdown => agent::read(index, start, &mut out.found),
        Form::Skill => skill::read(index, start, &mut out.found),
    };
    match one {
        Some(document) => out.documents.push(document),
        None => out.unread.push(Unread::of(form, index)),
    }
    out
}

/// What a text that a manifest names may not hold: the marks of a conflict.
pub fn conflict_marks(index: &LineIndex) -> Diagnostics {
    let mut found = Diagnostics::default();
    text::check_marks(index, 0..index.text().len(), &mut found);
    found
}

#[cfg(test)]
mod tests;

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
pub mod yaml;

pub use config::{ConfigDocument, config};
pub use document::{Document, FieldMode, Form, Mode};
pub use emit::emit;
pub use skill::{SkillHead, skill_head};
pub use suggest::nearest;

use crate::diag::{Diagnostics, LineIndex};

/// Reads the documents of a file and everything that is wrong with them, at once. Never panics. The path of the
/// file gives an agent in Markdown and a skill its name. For [`Form::Config`] only the other documents of
/// `checkfu.yaml` are returned; [`config`] reads the configuration itself.
pub fn parse(form: Form, index: &LineIndex) -> (Vec<Document>, Diagnostics) {
    let mut found = Diagnostics::default();
    let Some(start) = text::check(index, &mut found) else { return (Vec::new(), found) };
    let documents = match form {
        Form::Yaml | Form::Config => stream::read(index, start, form, &mut found),
        Form::AgentMarkdown => {
            vec![agent::read(index, start, &mut found).unwrap_or_else(|| agent::unread(index, start))]
        }
        Form::Skill => skill::read(index, start, &mut found).into_iter().collect(),
    };
    (documents, found)
}

#[cfg(test)]
mod tests;

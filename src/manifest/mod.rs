//! Text → documents with spans: YAML, front matter, agents in Markdown, skills, the configuration. Pure.

mod emit;
pub mod front;
mod text;
pub mod yaml;

pub use emit::emit;

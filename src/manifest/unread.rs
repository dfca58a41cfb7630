//! What is declared where nothing could be read: a reference to it is not dangling.

use crate::diag::LineIndex;
use crate::manifest::document::Form;
use crate::model::{Address, Kind};

/// Something that may be declared in a part of a project that could not be read. An error says why it could not, so
/// nothing is said of what refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its kind; `None` = any.
    pub kind: Option<Kind>,
    /// Its name; `None` = any.
    pub name: Option<String>,
}

impl Unread {
    /// Anything at all.
    pub const ANY: Self = Self { kind: None, name: None };

    /// What a file of a form declares, as far as its path tells: a skill is named by its folder, an agent in
    /// Markdown by its stem.
    pub fn file(form: Form, path: &str) -> Self {
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let named = |kind, name: &str| Self { kind: Some(kind), name: Some(name.to_owned()) };
        match form {
            Form::Skill => named(Kind::Skill, parts.next().unwrap_or_default()),
            Form::AgentMarkdown => named(Kind::Agent, file.trim_end_matches(".md")),
            Form::Yaml | Form::Config => Self::ANY,
        }
    }

    pub(super) fn of(form: Form, index: &LineIndex) -> Self {
        Self::file(form, index.file())
    }

    /// May this be the resource of that address? An agent brings its short mounts along.
    pub fn may_be(&self, address: &Address) -> bool {
        let is = |kind: Kind, name: &str| {
            self.kind.is_none_or(|k| k == kind) && self.name.as_deref().is_none_or(|n| n == name)
        };
        let agent = matches!(address.kind, Kind::MemoryMount | Kind::FileTreeMount)
            .then(|| address.name.split_once('.'))
            .flatten();
        is(address.kind, &address.name) || agent.is_some_and(|(agent, _)| is(Kind::Agent, agent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_be(unread: &Unread, address: &str) -> bool {
        unread.may_be(&address.parse().unwrap())
    }

    #[test]
    fn a_path_tells_what_it_would_declare() {
        let skill = Unread::file(Form::Skill, "skills/faq/SKILL.md");
        assert!(may_be(&skill, "Skill/faq") && !may_be(&skill, "Skill/other") && !may_be(&skill, "Agent/faq"));
        let agent = Unread::file(Form::AgentMarkdown, "agents/support.md");
        assert!(may_be(&agent, "Agent/support") && may_be(&agent, "MemoryMount/support.answers"));
        assert!(!may_be(&agent, "Agent/other") && !may_be(&agent, "FileTreeMount/other.docs"));
        assert!(may_be(&Unread::file(Form::Yaml, "a.yaml"), "Environment/x"));
        assert!(!may_be(&Unread { kind: Some(Kind::FileTree), name: None }, "Environment/x"));
    }
}

//! A project of the machine: what its owner has written, as files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use checkfu::model::{Address, Kind};

/// Canonical fields with texts, those that the machine changes.
pub(super) type Fields = BTreeMap<&'static str, String>;

/// The fields of a kind that the machine changes.
pub(super) fn fields_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Agent => &["description", "instructions", "labels.team", "name"],
        Kind::Environment => &["description", "labels.team"],
        Kind::Skill => &["content"],
        _ => unreachable!("the machine makes no {kind}"),
    }
}

/// A declared resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) fields: Fields,
    /// Of an environment: unique in the workspace, and never changed.
    pub(super) shown: String,
    /// Of an agent: a skill of the same project.
    pub(super) uses: Option<String>,
}

/// What one owner has in Git.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) owner: &'static str,
    pub(super) resources: BTreeMap<Address, Declared>,
    pub(super) moved: BTreeMap<Address, Address>,
    /// Address → the keys beside it.
    pub(super) removed: BTreeMap<Address, String>,
    /// Address → id and the keys beside it.
    pub(super) adopt: BTreeMap<Address, (String, String)>,
}

impl Files {
    /// Writes the project anew, whole.
    pub(super) fn write(&self, dir: &Path) {
        for folder in ["agents", "skills", "environments"] {
            drop(std::fs::remove_dir_all(dir.join(folder)));
            std::fs::create_dir_all(dir.join(folder)).unwrap();
        }
        std::fs::write(dir.join("checkfu.yaml"), self.config()).unwrap();
        for (address, declared) in &self.resources {
            let name = &address.name;
            let field = |f: &str| declared.fields.get(f).map(String::as_str);
            match address.kind {
                Kind::Agent => {
                    std::fs::write(dir.join(format!("agents/{name}.md")), agent(declared)).unwrap();
                }
                Kind::Skill => {
                    std::fs::create_dir_all(dir.join(format!("skills/{name}"))).unwrap();
                    let text = skill(name, field("content").unwrap_or_default());
                    std::fs::write(dir.join(format!("skills/{name}/SKILL.md")), text).unwrap();
                }
                _ => {
                    let mut text =
                        format!("apiVersion: checkfu.com/v1\nkind: Environment\nmetadata:\n  name: {name}\n");
                    if let Some(team) = field("labels.team") {
                        writeln!(text, "  labels: {{team: {team}}}").unwrap();
                    }
                    writeln!(text, "spec:\n  name: {}", declared.shown).unwrap();
                    if let Some(description) = field("description") {
                        writeln!(text, "  description: {description}").unwrap();
                    }
                    std::fs::write(dir.join(format!("environments/{name}.yaml")), text).unwrap();
                }
            }
        }
    }

    fn config(&self) -> String {
        let mut text = format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: {}\n", self.owner);
        text.push_str("policy: {max_retire: 10000, max_retire_percent: 100}\n");
        let mut list = |key: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                writeln!(text, "{key}:").unwrap();
                for line in lines {
                    writeln!(text, "  - {{{line}}}").unwrap();
                }
            }
        };
        list("moved", self.moved.iter().map(|(to, from)| format!("from: {from}, to: {to}")).collect());
        list("removed", self.removed.iter().map(|(a, more)| format!("address: {a}{more}")).collect());
        list("adopt", self.adopt.iter().map(|(a, (id, more))| format!("address: {a}, id: {id}{more}")).collect());
        text
    }

    /// Does a resource have this unique name?
    pub(super) fn shows(&self, shown: &str) -> bool {
        !shown.is_empty() && self.resources.values().any(|d| d.shown == shown)
    }

    /// Skills that an agent may use.
    pub(super) fn skills(&self) -> BTreeSet<String> {
        self.resources.keys().filter(|a| a.kind == Kind::Skill).map(|a| a.name.clone()).collect()
    }

    /// Adds a resource. No line may say that it left this address.
    pub(super) fn declare(&mut self, address: &Address, declared: Declared) {
        self.removed.remove(address);
        self.moved.retain(|_, from| from != address);
        self.resources.insert(address.clone(), declared);
    }

    /// Takes a resource out, and every use of it.
    pub(super) fn drop_(&mut self, address: &Address) -> Option<Declared> {
        self.moved.remove(address);
        self.adopt.remove(address);
        let declared = self.resources.remove(address);
        if address.kind == Kind::Skill {
            let users = self.resources.values_mut().filter(|d| d.uses.as_ref() == Some(&address.name));
            users.for_each(|d| d.uses = None);
        }
        declared
    }
}

fn agent(declared: &Declared) -> String {
    let mut text = "---\nmodel: claude-sonnet-5\n".to_owned();
    for field in ["name", "description"] {
        if let Some(value) = declared.fields.get(field) {
            writeln!(text, "{field}: {value}").unwrap();
        }
    }
    if let Some(team) = declared.fields.get("labels.team") {
        writeln!(text, "labels: {{team: {team}}}").unwrap();
    }
    text.push_str("tools: [{type: agent_toolset_20260401}]\n");
    if let Some(skill) = &declared.uses {
        writeln!(text, "skills: [{skill}]").unwrap();
    }
    let prose = declared.fields.get("instructions").map(String::as_str).unwrap_or_default();
    write!(text, "---\n{prose}").unwrap();
    text
}

/// The one file of a skill.
pub(super) fn skill(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: A skill of the machine.\n---\n{text}\n")
}

//! `explain CODE|KIND[.FIELD]`.

use std::collections::BTreeMap;

use crate::cli::args::Explain;
use crate::cli::commands::Run;
use crate::cli::configuration;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::CONFIG;
use crate::cli::view::json::ExplainDoc;
use crate::cli::view::{Format, catalog, lists};
use crate::diag::codes;
use crate::model::Kind;
use crate::model::kinds::{self, KindDef};

/// Explains a code, a kind or a field.
pub fn run(run: &Run, args: &Explain) -> Ran {
    let (text, rows) = explain(args.topic.trim())?;
    match run.printer.format {
        Format::Json => run.printer.json(&ExplainDoc { format: "checkfu.explain/v1", topic: args.topic.clone(), rows }),
        Format::Human => run.printer.data(&text),
        Format::Markdown => run.printer.raw(&lists::explained(args.topic.trim(), &rows)),
    }
    Ok(Exit::Ok)
}

/// A text for people, and its rows.
pub type Explained = (String, Vec<BTreeMap<&'static str, String>>);

/// What a topic is: as text, and as rows.
pub fn explain(topic: &str) -> Result<Explained, Failure> {
    if let Some(code) = codes::find(topic) {
        return Ok((catalog::code(code), vec![catalog::code_row(code)]));
    }
    if let Some(explained) = of_config(topic) {
        return explained;
    }
    let (kind, field) = topic.split_once('.').map_or((topic, None), |(kind, field)| (kind, Some(field)));
    let Some(def) = kind_named(kind) else {
        return Err(near(topic));
    };
    let Some(name) = field else {
        return Ok((catalog::kind(def), def.fields.iter().map(catalog::field_row).collect()));
    };
    // The canonical form has no `spec.` in front of a field; a person may write it.
    let name = name.strip_prefix("spec.").unwrap_or(name);
    match def.field(name) {
        Some(field) => Ok((catalog::field(field), vec![catalog::field_row(field)])),
        None => {
            let names: Vec<&str> = def.fields.iter().map(|f| f.name).collect();
            let message = format!("{} has no field `{name}`", def.kind);
            Err(Failure::new(&codes::cli::TOPIC, message).fix(format!("one of {}", names.join(", "))))
        }
    }
}

/// `Config`, `checkfu.yaml`, `Config.policy`.
fn of_config(topic: &str) -> Option<Result<Explained, Failure>> {
    let path = [configuration::NAME, CONFIG].iter().find_map(|name| {
        let (head, rest) = topic.split_at_checked(name.len())?;
        let path = if rest.is_empty() { Some("") } else { rest.strip_prefix('.') };
        path.filter(|_| head.eq_ignore_ascii_case(name))
    })?;
    let keys = configuration::find(path);
    if keys.is_empty() {
        let message = format!("{CONFIG} has no key `{path}`");
        return Some(Err(
            Failure::new(&codes::cli::TOPIC, message).fix(format!("checkfu explain {}", configuration::NAME))
        ));
    }
    let text = keys.iter().map(catalog::key).collect::<Vec<_>>().concat();
    Some(Ok((text, keys.iter().map(catalog::key_row).collect())))
}

fn kind_named(text: &str) -> Option<&'static KindDef> {
    Kind::ALL.into_iter().find(|k| k.as_str().eq_ignore_ascii_case(text)).map(kinds::def)
}

/// Nothing has this name: what has a name like it?
fn near(topic: &str) -> Failure {
    let names = codes::all()
        .into_iter()
        .map(|c| c.code)
        .chain(Kind::ALL.into_iter().map(Kind::as_str))
        .chain([configuration::NAME]);
    let best = names
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &topic.to_lowercase()), name))
        .min()
        .filter(|(distance, name)| *distance * 3 <= name.len());
    let failure = Failure::new(&codes::cli::TOPIC, format!("`{topic}` is no code, kind or field"));
    match best {
        Some((_, name)) => failure.fix(format!("checkfu explain {name}")),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_kinds_and_near_misses() {
        let (text, rows) = explain("cli.usage").unwrap();
        assert!(text.contains("cli.usage") && rows[0]["fix"].contains("--help"));
        let wrong = |topic: &str| explain(topic).unwrap_err().diagnostics.0.remove(0);
        assert!(explain("config").unwrap().0.contains("policy.max_retire"));
        assert_eq!(explain("Config.policy.max_retire").unwrap().1[0]["default"], "`20`");
        assert_eq!(explain("checkfu.yaml.policy").unwrap().1, explain("Config.policy").unwrap().1);
        assert_eq!(wrong("Config.nothing").fix.as_deref(), Some("checkfu explain Config"));
        assert!(explain("agent").unwrap().0.contains("Agent"));
        assert_eq!(wrong("cli.usge").fix.as_deref(), Some("checkfu explain cli.usage"));
        assert_eq!(wrong("zzzzzzzzzz").fix, None);
        assert_eq!(wrong("Agent.nothing").code.code, "cli.topic");
    }
}

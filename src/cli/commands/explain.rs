//! `explain CODE|KIND[.FIELD]`.

use std::collections::BTreeMap;

use crate::cli::args::Explain;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::view::json::ExplainDoc;
use crate::cli::view::{Format, catalog};
use crate::diag::codes;
use crate::model::Kind;
use crate::model::kinds::{self, KindDef};

/// Explains a code, a kind or a field.
pub fn run(run: &Run, args: &Explain) -> Ran {
    let (text, rows) = explain(args.topic.trim())?;
    if run.printer.format == Format::Json {
        run.printer.json(&ExplainDoc { format: "checkfu.explain/v1", topic: args.topic.clone(), rows });
    } else {
        run.printer.data(&text);
    }
    Ok(Exit::Ok)
}

type Explained = (String, Vec<BTreeMap<&'static str, String>>);

fn explain(topic: &str) -> Result<Explained, Failure> {
    if let Some(code) = codes::find(topic) {
        return Ok((catalog::code(code), vec![catalog::code_row(code)]));
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

fn kind_named(text: &str) -> Option<&'static KindDef> {
    Kind::ALL.into_iter().find(|k| k.as_str().eq_ignore_ascii_case(text)).map(kinds::def)
}

/// Nothing has this name: what has a name like it?
fn near(topic: &str) -> Failure {
    let names = codes::all().into_iter().map(|c| c.code).chain(Kind::ALL.into_iter().map(Kind::as_str));
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
        assert!(explain("agent").unwrap().0.contains("Agent"));
        let wrong = |topic: &str| explain(topic).unwrap_err().diagnostics.0.remove(0);
        assert_eq!(wrong("cli.usge").fix.as_deref(), Some("checkfu explain cli.usage"));
        assert_eq!(wrong("zzzzzzzzzz").fix, None);
        assert_eq!(wrong("Agent.nothing").code.code, "cli.topic");
    }
}

//! A skill is named by the front matter of its `SKILL.md`, in every version of it.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::control::embedded::digests;
use crate::control::embedded::error::{Result, refused};
use crate::control::embedded::write::Tx;
use crate::diag::codes::control as codes;
use crate::manifest;
use crate::model::kinds::Object;
use crate::model::op::ContentOf;
use crate::store::resource::Resource;
use crate::store::version::Version;
use crate::store::{Conn, document};

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// Puts the name of the files into the body of a create that says none.
pub(super) fn name_by_files(tx: &Tx<'_>, body: &mut Object, content: Option<&ContentOf>) -> Result<()> {
    if body.get("name").is_none_or(Value::is_null)
        && let Some(text) = content.map(|c| skill_file(tx, c)).transpose()?.flatten()
        && let Some(name) = manifest::skill_name(&text)
    {
        body.insert("name".to_owned(), Value::String(name));
    }
    Ok(())
}

/// Refuses files that are another skill's, or nobody's. That they are there at all is checked before.
pub(super) fn check_name(tx: &Tx<'_>, r: &Resource, content: &ContentOf) -> Result<()> {
    let body = digests::body(tx.conn, r)?;
    let name = body.get("name").and_then(Value::as_str).unwrap_or_default();
    let wide: String = name.nfkc().collect();
    let found = skill_file(tx, content)?.and_then(|text| manifest::skill_name(&text));
    match found {
        Some(found) if found == wide => Ok(()),
        Some(found) => {
            Err(refused(&codes::SKILL_NAME, format!("its {SKILL_FILE} says `name: {found}`, the skill is `{name}`")))
        }
        None => {
            Err(refused(&codes::SKILL_NAME, format!("no `name` can be read from the front matter of its {SKILL_FILE}")))
        }
    }
}

/// What a version of a skill says that it is for; empty if it says nothing that can be read.
pub(super) fn description(conn: &Conn, v: &Version) -> Result<String> {
    let entries = document::entries(conn, v.digest)?;
    let Some(entry) = entries.iter().find(|e| e.path == SKILL_FILE) else { return Ok(String::new()) };
    let text = document::blob(conn, entry.sha256)?.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.and_then(|text| manifest::skill_description(&text)).unwrap_or_default())
}

/// The text of `SKILL.md`, if it is held and is one.
fn skill_file(tx: &Tx<'_>, content: &ContentOf) -> Result<Option<String>> {
    let Some(entry) = content.entries.iter().find(|e| e.path == SKILL_FILE) else { return Ok(None) };
    let bytes = document::blob(tx.conn, entry.sha256)?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

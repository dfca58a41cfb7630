//! A skill is named by the front matter of its `SKILL.md`, in every version of it. And how one version goes.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::control::embedded::error::{Result, not_found, refused};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{digests, references, rights};
use crate::diag::codes::control as codes;
use crate::manifest;
use crate::model::kinds::Object;
use crate::model::op::{ContentOf, Expect, VersionOf};
use crate::model::tree::Entry;
use crate::model::{Digest, Kind};
use crate::store::resource::Resource;
use crate::store::{Conn, document, version};

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

/// Deletes a version. One that a current agent names stays; one that only old versions of agents name is listed no
/// more and stays readable.
pub(super) fn delete_version(tx: &Tx<'_>, request: &VersionOf) -> Result<Effect> {
    let at = Expect { id: request.id.clone(), version: None };
    let (mut r, _) = rights::for_change(tx, Some(Kind::Skill), &at)?;
    let there = match version::by_id(tx.conn, &request.version)?.filter(|v| v.resource == r.id) {
        Some(v) if !version::is_deleted(tx.conn, &v)? => v,
        _ => return Err(not_found(format!("version {} of {}", request.version, r.id))),
    };
    references::refuse_if_version_named(tx, &r, &there.id)?;
    // The two newest say whether it is the only one, and which is the newest without it.
    let newest = version::before(tx.conn, &r.id, i64::MAX.unsigned_abs(), 2)?;
    let Some(next) = newest.into_iter().find(|v| v.number != there.number) else {
        return Err(refused(&codes::ONLY_VERSION, format!("{} is the only version of {}", there.id, r.id)));
    };
    version::delete(tx.conn, &there, &tx.now)?;
    let mut fields = vec![format!("versions.{}", there.id)];
    if r.content_version.as_ref() == Some(&there.id) {
        // Numbers are not given twice: `r.number` stays.
        r.content = Some(next.digest);
        r.content_version = Some(next.id);
        fields.insert(0, "content".to_owned());
    }
    r.version += 1;
    r.updated_at.clone_from(&tx.now);
    let body = digests::body(tx.conn, &r)?;
    digests::save(tx.conn, &mut r, body)?;
    Ok(Effect::of(&r, None, true, fields))
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

/// Name and description of a version, as its `SKILL.md` says them.
pub(super) fn described(conn: &Conn, files: Digest) -> Result<(Option<String>, Option<String>)> {
    let text = text_of(conn, &document::entries(conn, files)?)?;
    Ok(text.map(|text| manifest::skill_head(&text)).unwrap_or_default())
}

fn skill_file(tx: &Tx<'_>, content: &ContentOf) -> Result<Option<String>> {
    text_of(tx.conn, &content.entries)
}

/// The text of `SKILL.md`, if it is held and is one.
fn text_of(conn: &Conn, entries: &[Entry]) -> Result<Option<String>> {
    let Some(entry) = entries.iter().find(|e| e.path == SKILL_FILE) else { return Ok(None) };
    let bytes = document::blob(conn, entry.sha256)?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

//! What comes in headers: who acts, for which apply, under which key.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::control::fields::invalid;
use crate::control::http::{
    ACTION, API_VERSION, APPLY, BETA, BREAK_GLASS, DecodeError, EPOCH, KEY, OWNER, PREFER, VERSION,
};
use crate::model::Owner;
use crate::model::op::Context;

/// A header takes visible ASCII: what else a text has is percent-encoded, and so are the `%` that it has, and
/// blanks, since those at either end would be lost.
const TEXT: &AsciiSet = &CONTROLS.add(b'%').add(b' ');

const MINIMAL: &str = "return=minimal";

/// Two betas that name two shapes of the same resources.
const EXCLUSIVE: [&str; 2] = ["agent-memory-2026-07-22", "managed-agents-2026-04-01"];

/// Longest value of a header of ours, in bytes.
const LONGEST: usize = 1_024;

/// The headers of a context, but for credentials: owner, apply, action, key, break-glass, epoch, `prefer`.
pub fn encode_context(context: &Context) -> Vec<(&'static str, String)> {
    let coded = |text: &String| utf8_percent_encode(text, TEXT).to_string();
    let headers = [
        (OWNER, context.owner.as_ref().map(ToString::to_string)),
        (APPLY, context.apply.clone()),
        (ACTION, context.action.as_ref().map(coded)),
        (KEY, context.key.clone()),
        (BREAK_GLASS, context.break_glass.as_ref().map(coded)),
        (EPOCH, context.epoch.clone()),
        (PREFER, (!context.represent).then(|| MINIMAL.to_owned())),
    ];
    headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Reads the headers; actor, its kind and admin come from the token and are not in it. Where a header is there
/// more than once, `header` gives its values joined by commas.
///
/// # Errors
/// `validation.invalid`, 400, with the header.
pub fn decode_context<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Result<Context, DecodeError> {
    let mut wrong = Vec::new();
    let mut text = |name: &str| {
        let value = header(name)?;
        let visible = value.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
        if value.trim().is_empty() || value.len() > LONGEST || !visible {
            let problem = format!("it has 1 to {LONGEST} visible ASCII characters");
            wrong.push((name.to_owned(), problem));
            return None;
        }
        Some(value.to_owned())
    };
    let (owner, apply, key, epoch) = (text(OWNER), text(APPLY), text(KEY), text(EPOCH));
    let (action, break_glass, version) = (text(ACTION), text(BREAK_GLASS), text(VERSION));
    let owner = owner.and_then(|o| o.parse::<Owner>().map_err(|e| wrong.push((OWNER.to_owned(), e.to_string()))).ok());
    if version.is_some_and(|v| v != API_VERSION) {
        wrong.push((VERSION.to_owned(), format!("this server speaks {API_VERSION}")));
    }
    let betas = header(BETA).unwrap_or_default();
    if EXCLUSIVE.iter().all(|beta| values(betas).any(|v| v == *beta)) {
        wrong.push((BETA.to_owned(), format!("{} and {} exclude each other", EXCLUSIVE[0], EXCLUSIVE[1])));
    }
    if !wrong.is_empty() {
        return Err(invalid(&wrong));
    }
    let decoded = |text: String| percent_decode_str(&text).decode_utf8_lossy().into_owned();
    Ok(Context {
        owner,
        apply,
        key,
        epoch,
        action: action.map(decoded),
        break_glass: break_glass.map(decoded),
        represent: !values(header(PREFER).unwrap_or_default()).any(|v| v.eq_ignore_ascii_case(MINIMAL)),
        ..Context::default()
    })
}

fn values(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ';']).map(str::trim)
}

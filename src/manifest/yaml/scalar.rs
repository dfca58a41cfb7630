//! Plain scalars by the YAML 1.2 core schema, and quoting.

use crate::manifest::yaml::Kind;

/// What a plain scalar means.
pub(super) fn core(text: &str) -> Kind {
    let own = || Kind::Str(text.to_owned());
    match text.as_bytes().first() {
        None => Kind::Null,
        Some(b'~') if text.len() == 1 => Kind::Null,
        Some(b'n' | b'N') if matches!(text, "null" | "Null" | "NULL") => Kind::Null,
        Some(b't' | b'T') if matches!(text, "true" | "True" | "TRUE") => Kind::Bool(true),
        Some(b'f' | b'F') if matches!(text, "false" | "False" | "FALSE") => Kind::Bool(false),
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => number(text).unwrap_or_else(own),
        _ => own(),
    }
}

fn number(text: &str) -> Option<Kind> {
    if let Some(hex) = text.strip_prefix("0x") {
        let ok = !hex.is_empty() && hex.bytes().all(|c| c.is_ascii_hexdigit());
        return ok.then(|| u64::from_str_radix(hex, 16).ok().map(whole))?;
    }
    if let Some(octal) = text.strip_prefix("0o") {
        let ok = !octal.is_empty() && octal.bytes().all(|c| matches!(c, b'0'..=b'7'));
        return ok.then(|| u64::from_str_radix(octal, 8).ok().map(whole))?;
    }
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(Kind::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Some(Kind::Float(f64::NEG_INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Kind::Float(f64::NAN)),
        _ => {}
    }
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !body.is_empty() && body.bytes().all(|c| c.is_ascii_digit()) {
        let float = || text.parse().ok().map(Kind::Float);
        return if text.starts_with('-') {
            text.parse().ok().map(Kind::Int).or_else(float)
        } else {
            body.parse::<u64>().ok().map(whole).or_else(float)
        };
    }
    is_float(body).then(|| text.parse().ok().map(Kind::Float))?
}

/// `\. [0-9]+ | [0-9]+ (\. [0-9]*)?`, then `([eE] [-+]? [0-9]+)?`
fn is_float(body: &str) -> bool {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let before = digits(body);
    let mut rest = &body[before..];
    match rest.strip_prefix('.') {
        Some(after) => {
            let n = digits(after);
            if before + n == 0 {
                return false;
            }
            rest = &after[n..];
        }
        None if before == 0 => return false,
        None => {}
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

fn whole(u: u64) -> Kind {
    i64::try_from(u).map_or(Kind::UInt(u), Kind::Int)
}

/// A text as a quoted scalar on one line.
pub fn quote(text: &str) -> String {
    if text.chars().any(char::is_control) {
        // JSON's escapes are YAML's too.
        serde_json::Value::String(text.to_owned()).to_string()
    } else if text.contains(['"', '\\']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}

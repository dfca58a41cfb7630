//! Pages of lists: how many items, where the next one begins, and moments to filter by.

use crate::control::embedded::error::{Result, invalid};

/// What every cursor begins with.
const CURSOR: &str = "page_";

/// How many items a page holds: `default` where nothing is asked, else 1 to `most`.
pub(super) fn limit(asked: Option<u32>, default: u32, most: u32) -> Result<u32> {
    match asked {
        None => Ok(default),
        Some(n) if (1..=most).contains(&n) => Ok(n),
        Some(n) => Err(invalid(format!("`limit` is 1 to {most}, not {n}"))),
    }
}

/// A cursor after the item with this key.
pub(super) fn cursor(key: &str) -> String {
    let mut out = String::with_capacity(CURSOR.len() + 2 * key.len());
    out.push_str(CURSOR);
    for byte in key.bytes() {
        for half in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    out
}

/// The key in a cursor.
pub(super) fn key(cursor: &str) -> Result<String> {
    let read = || {
        let hex = cursor.strip_prefix(CURSOR)?.as_bytes();
        let half = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let byte = |pair: &[u8]| Some(half(pair[0])? << 4 | half(*pair.get(1)?)?);
        String::from_utf8(hex.chunks(2).map(byte).collect::<Option<Vec<u8>>>()?).ok()
    };
    read().ok_or_else(no_cursor)
}

/// `page` was not given by this list.
pub(super) fn no_cursor() -> crate::control::ControlError {
    invalid("`page` is no cursor of this list")
}

/// A moment (RFC 3339) in UTC without its `Z`: as text that sorts as time does.
pub(super) fn moment(what: &str, text: &str) -> Result<String> {
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => Ok(sortable(at)),
        Err(_) => Err(invalid(format!("`{what}` is no time of RFC 3339: {text:?}"))),
    }
}

/// As [`moment`].
pub(super) fn sortable(at: jiff::Timestamp) -> String {
    at.to_string().trim_end_matches('Z').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_gives_its_key_back_and_nothing_else_is_one() {
        for text in ["", "/a/b.md", "/ü/日本", "12.7"] {
            assert_eq!(key(&cursor(text)).unwrap(), text);
        }
        for bad in ["", "page", "page_0", "page_zz", "page_ff", "/a"] {
            assert_eq!(key(bad).unwrap_err().code, "validation.invalid", "{bad}");
        }
    }

    #[test]
    fn limits_are_refused_not_cut() {
        assert_eq!((limit(None, 20, 100).unwrap(), limit(Some(100), 20, 100).unwrap()), (20, 100));
        for bad in [0, 101] {
            assert!(limit(Some(bad), 20, 100).is_err());
        }
    }

    #[test]
    fn moments_of_any_offset_sort_as_time_does() {
        let of = |text: &str| moment("created_at[gte]", text).unwrap();
        assert_eq!(of("2026-01-01T02:00:00+02:00"), "2026-01-01T00:00:00");
        assert!(of("2026-01-01T00:00:00Z") < of("2026-01-01T00:00:00.5Z"));
        assert!(moment("created_at[gte]", "yesterday").is_err());
    }
}

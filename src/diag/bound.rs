//! A bound for what is echoed: a value of ten megabytes is told in two thousand bytes, whoever wrote the message.

use std::borrow::Cow;

/// Most bytes of a text that are shown as they are.
pub const MOST: usize = 2_000;
/// Bytes from the end of a longer text: what a sentence says after the value in it.
const END: usize = 500;
/// Room for the words that count what is left out.
const WORDS: usize = 60;

/// The text; or its beginning and its end, and how many bytes between them are left out. Never longer than [`MOST`]
/// bytes, and no character is cut.
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST {
        return Cow::Borrowed(text);
    }
    let from = text.floor_char_boundary(MOST - END - WORDS);
    let to = text.ceil_char_boundary(text.len() - END);
    Cow::Owned(format!("{}… ({} bytes left out) …{}", &text[..from], to - from, &text[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_and_counts_the_rest() {
        assert_eq!(bounded("short"), "short");
        assert_eq!(bounded(&"x".repeat(MOST)).len(), MOST);
        for fill in ["x", "é", "日", "🙂"] {
            for shift in 0..4 {
                let text = format!("{}`{}` is no name", "y".repeat(shift), fill.repeat(1_000_000));
                let told = bounded(&text);
                assert!(told.len() <= MOST && told.ends_with("` is no name"), "{told}");
                let (start, rest) = told.split_once("… (").unwrap();
                let (count, end) = rest.split_once(" bytes left out) …").unwrap();
                assert_eq!(start.len() + count.parse::<usize>().unwrap() + end.len(), text.len());
                assert!(text.starts_with(start) && text.ends_with(end));
            }
        }
    }
}

//! What holds for every input of every target.

use checkfu::diag::Diagnostics;

/// Every place lies in the text and cuts no character.
pub fn in_text(text: &str, diagnostics: &Diagnostics) {
    for label in diagnostics.0.iter().flat_map(|d| &d.labels) {
        let at = &label.at;
        assert!(at.start <= at.end && at.end <= text.len(), "{at} is outside");
        assert!(text.is_char_boundary(at.start) && text.is_char_boundary(at.end), "{at} cuts a character");
    }
}

//! YAML manifests and `checkfu.yaml`: no input may panic or hang, and every place must lie in the text.

#![no_main]

use checkfu::diag::{Diagnostics, LineIndex};
use checkfu::manifest::{Form, parse};
use libfuzzer_sys::fuzz_target;

fn in_text(text: &str, diagnostics: &Diagnostics) {
    for label in diagnostics.0.iter().flat_map(|d| &d.labels) {
        let at = &label.at;
        assert!(at.start <= at.end && at.end <= text.len(), "{at} is outside");
        assert!(text.is_char_boundary(at.start) && text.is_char_boundary(at.end), "{at} cuts a character");
    }
}

fuzz_target!(|text: &str| {
    let index = LineIndex::new("fuzz.yaml", text);
    for form in [Form::Yaml, Form::Config] {
        let (_, diagnostics) = parse(form, &index);
        in_text(text, &diagnostics);
    }
});

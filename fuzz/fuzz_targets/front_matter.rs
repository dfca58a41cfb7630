//! Front matter of agents and skills: no input may panic or hang, and every place must lie in the text.

#![no_main]

use checkfu::diag::LineIndex;
use checkfu::manifest::{Form, parse};
use checkfu_fuzz::in_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let index = LineIndex::new("agents/fuzz.md", text);
    for form in [Form::AgentMarkdown, Form::Skill] {
        let parsed = parse(form, &index);
        in_text(text, &parsed.found);
    }
});

//! The law of a patch: the document reads as it did with that value set, and no line but those of it changed.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::layout::{Place, line_start, next_line};
use super::*;

/// Decisions from bytes; zero when there are no more.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn roll(&mut self, n: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % n
    }
}

const TEXTS: [&str; 22] = [
    "x",
    "two words",
    "",
    "true",
    "1.0",
    "a: b",
    "it's",
    "say \"hi\"",
    "# no",
    "- x",
    "one\ntwo\n",
    "one\n\ntwo",
    " deep\nless\n",
    "a\n\n\n",
    "\ttab\nx",
    "é 日 🙂",
    "a, b]",
    "\u{7}",
    "tail \nx\n",
    "long words that go on and on until a line of sixty is full and more\nnext\n",
    "\n\n",
    "{{x}}",
];

fn text(dice: &mut Dice<'_>) -> &'static str {
    TEXTS[dice.roll(TEXTS.len())]
}

/// A random value to set.
fn value(dice: &mut Dice<'_>, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 4 } else { 6 }) {
        0 => json!(text(dice)),
        1 => json!(dice.roll(9)),
        2 => json!(true),
        3 => Value::Null,
        4 => (0..dice.roll(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => (0..dice.roll(4)).map(|i| (format!("k{i}"), value(dice, depth - 1))).collect(),
    }
}

/// A random document as people write it: all styles, comments, anchors, aliases and merge keys.
struct Scribe<'d, 'b> {
    dice: &'d mut Dice<'b>,
    out: String,
    maps: usize,
    texts: usize,
    shared: bool,
}

impl Scribe<'_, '_> {
    fn comment(&mut self) -> &'static str {
        if self.dice.roll(4) == 1 { " # c" } else { "" }
    }

    fn flow(&mut self, depth: usize) -> String {
        match self.dice.roll(if depth == 0 { 4 } else { 6 }) {
            0 => "plain".to_owned(),
            1 => "'single'".to_owned(),
            2 => "\"dou\\tble\"".to_owned(),
            3 if self.shared && self.texts > 0 => format!("*t{}", self.dice.roll(self.texts)),
            3 => "12".to_owned(),
            4 => {
                let items: Vec<String> = (0..self.dice.roll(4)).map(|_| self.flow(depth - 1)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => {
                let entries: Vec<String> =
                    (0..self.dice.roll(4)).map(|i| format!("k{i}: {}", self.flow(depth - 1))).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// What stands behind an indicator, with its line end.
    fn after(&mut self, indent: usize, depth: usize) {
        let pad = " ".repeat(indent + 2);
        let kind = self.dice.roll(if depth == 0 { 6 } else { 9 });
        match kind {
            0 | 1 => {
                let value = self.flow(2);
                let anchor = if self.shared && self.dice.roll(4) == 1 && value == "plain" {
                    self.texts += 1;
                    format!("&t{} ", self.texts - 1)
                } else {
                    String::new()
                };
                let comment = self.comment();
                let _ = writeln!(self.out, " {anchor}{value}{comment}");
            }
            2 => self.out.push_str(" # nothing\n"),
            3 => {
                let sign = ["|", "|-", "|+", ">", ">-", "| # c"][self.dice.roll(6)];
                let _ = write!(self.out, " {sign}\n{pad}one line\n{pad}two\n\n{pad}three\n");
                self.out.push_str(["", "\n", "\n\n"][self.dice.roll(3)]);
            }
            4 => {
                let _ = write!(self.out, " plain\n{pad}that goes on\n");
            }
            5 if self.shared && self.maps > 0 => {
                let _ = writeln!(self.out, " *m{}", self.dice.roll(self.maps));
            }
            5 => self.out.push_str(" \"quoted\"\n"),
            6 | 7 => {
                let anchor = self.shared && self.dice.roll(3) == 1;
                let comment = self.comment();
                let name = if anchor { format!(" &m{}", self.maps) } else { String::new() };
                let _ = writeln!(self.out, "{name}{comment}");
                self.map(indent + 2, depth - 1);
                // It can be named once it is whole.
                self.maps +=
                    usize::from(anchor && self.out.contains(&format!("&m{} ", self.maps).trim_end().to_owned()));
            }
            _ => {
                let comment = self.comment();
                let _ = writeln!(self.out, "{comment}");
                let indent = if self.dice.roll(3) == 1 { indent } else { indent + 2 };
                for _ in 0..=self.dice.roll(3) {
                    self.line_before(indent);
                    let _ = write!(self.out, "{}-", " ".repeat(indent));
                    self.after(indent, depth - 1);
                }
            }
        }
    }

    fn line_before(&mut self, indent: usize) {
        match self.dice.roll(8) {
            1 => drop(writeln!(self.out, "{}# about", " ".repeat(indent))),
            2 => self.out.push('\n'),
            _ => {}
        }
    }

    fn map(&mut self, indent: usize, depth: usize) {
        for i in 0..=self.dice.roll(4) {
            self.line_before(indent);
            if i == 1 && self.shared && self.maps > 0 && self.dice.roll(2) == 1 {
                let _ = writeln!(self.out, "{}<<: *m{}", " ".repeat(indent), self.dice.roll(self.maps));
            }
            let key = ["a", "\"b\"", "'c'", "d", "e e"][i];
            let _ = write!(self.out, "{}{key}:", " ".repeat(indent));
            self.after(indent, depth);
        }
    }
}

fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| {
            out.push(format!("{at}/{k}"));
            pointers(v, &format!("{at}/{k}"), out);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| {
            out.push(format!("{at}/{i}"));
            pointers(v, &format!("{at}/{i}"), out);
        }),
        _ => {}
    }
}

fn document(dice: &mut Dice<'_>) -> (String, bool) {
    let shared = dice.roll(2) == 1;
    let line_break = ["\n", "\r\n"][dice.roll(2)];
    let end = dice.roll(3) == 1;
    let mut scribe = Scribe { dice, out: String::new(), maps: 0, texts: 0, shared };
    scribe.map(0, 3);
    let mut out = scribe.out.replace('\n', line_break);
    if end {
        out.truncate(out.trim_end().len());
    }
    (out, shared)
}

/// Is there a list with equal items? Which of them changed is in the eye of the beholder.
fn has_twins(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().any(|(i, v)| items[..i].contains(v)) || items.iter().any(has_twins)
        }
        Value::Object(map) => map.values().any(has_twins),
        _ => false,
    }
}

/// Where an entry begins and ends.
fn written(root: &Place<'_>, pointer: &str) -> Option<(usize, usize)> {
    let place = pointer.split('/').skip(1).try_fold(root, |at, step| match step.parse::<usize>() {
        Ok(i) if at.below.iter().all(|p| p.key.is_none()) => at.below.get(i),
        _ => at.below.iter().find(|p| p.name() == step),
    });
    place.map(|p| (p.lead, p.end))
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut dice = Dice(bytes.iter());
    let (text, shared) = document(&mut dice);
    let whole = 0..text.len();
    let Ok(old) = read(&text, &whole) else { return Ok(()) };
    let mut all = Vec::new();
    pointers(&old, "", &mut all);
    all.push("/new".to_owned());
    let pointer = &all[dice.roll(all.len())];
    let mut want = old.clone();
    let out = if dice.roll(4) == 1 {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match want.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.remove(key)),
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            _ => {}
        }
        remove(&text, whole, pointer)
    } else {
        let value = value(&mut dice, 2);
        make(&mut want, pointer).unwrap().clone_from(&value);
        set(&text, whole, pointer, &value)
    };
    // A merge key of which every entry is written anew leaves no trace in the tree, and its anchor cannot go.
    let out = match out {
        Err(PatchError::NotWritten) if text.contains("<<") => return Ok(()),
        out => {
            out.map_err(|e| TestCaseError::fail(format!("{e}: {pointer} = {:?} in\n{text}", want.pointer(pointer))))?
        }
    };
    let now =
        read(&out, &(0..out.len())).map_err(|e| TestCaseError::fail(format!("{e}: {pointer}\n{text}\n=>\n{out}")))?;
    prop_assert_eq!(&now, &want, "{}\n{}\n=>\n{}", pointer, text, out);
    if now == old {
        prop_assert_eq!(&out, &text);
    }
    let root = tree(&text, &(0..text.len())).unwrap().unwrap();
    let places = layout(&text, &root).unwrap();
    // Blank lines that come to stand behind `|+` would be its own, so its sign changes.
    let distinct = !shared && !text.contains("|+") && !has_twins(&want) && !has_twins(&old);
    if let (true, Some((lead, end))) = (distinct, written(&places, pointer)) {
        let (head, tail) = (text[..line_start(&text, lead)].trim_end(), text[next_line(&text, end)..].trim_end());
        prop_assert!(out.starts_with(head), "head: {pointer}\n{text}\n=>\n{out}");
        prop_assert!(out.trim_end().ends_with(tail), "tail: {pointer}\n{text}\n=>\n{out}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_sets_the_value_and_nothing_else(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        check(&bytes)?;
    }
}

//! What stays byte for byte, and that the value is what was asked for.

use serde_json::{Value, json};

use super::lists::{add, take_out};
use super::*;
use crate::model::config::{Accept, Adopt, Moved, Removed, Take};
use crate::model::{Address, Digest, Kind};

fn moved(from: &str, to: &str) -> Moved {
    Moved { from: Address::new(Kind::Agent, from), to: Address::new(Kind::Agent, to) }
}

fn adopt(name: &str, id: &str) -> Adopt {
    Adopt { address: Address::new(Kind::Agent, name), target: None, id: id.into(), from: None }
}

const CONFIG: &str = "# ours\napiVersion: checkfu.com/v1\nkind: Config # this\nauthoring_owner: \"acme/x\"\n";

#[test]
fn a_missing_list_comes_at_the_end_and_goes_with_its_last_line() {
    let with = add(CONFIG, &[moved("a", "b")]).unwrap();
    assert_eq!(with, format!("{CONFIG}moved:\n  - {{from: Agent/a, to: Agent/b}}\n"));
    assert_eq!(add(&with, &[moved("a", "b")]).unwrap(), with);
    let two = add(&with, &[moved("c", "d")]).unwrap();
    assert_eq!(two, format!("{with}  - {{from: Agent/c, to: Agent/d}}\n"));
    assert_eq!(take_out(&two, &[moved("c", "d")]).unwrap(), with);
    assert_eq!(take_out(&two, &[moved("a", "b"), moved("c", "d")]).unwrap(), CONFIG);
    assert_eq!(take_out(&two, &[moved("x", "y")]).unwrap(), two);
}

#[test]
fn line_ends_mark_and_the_missing_last_line_end_stay() {
    let unix = format!("\u{feff}{CONFIG}adopt:\n- address: Agent/z # kept\n  id: 'agent_1'\n# end");
    for text in [unix.clone(), unix.replace('\n', "\r\n"), unix.replace('\n', "\r\n") + "\r\n", unix.clone() + "\n"] {
        let br = if text.contains('\r') { "\r\n" } else { "\n" };
        let with = add(&text, &[adopt("y", "agent_2")]).unwrap();
        let item = format!("{br}- address: Agent/y{br}  id: agent_2{br}# end");
        assert_eq!(with, text.replace(&format!("{br}# end"), &item));
        assert_eq!(take_out(&with, &[adopt("y", "agent_2")]).unwrap(), text);
        let other = take_out(&with, &[adopt("z", "agent_1")]).unwrap();
        assert_eq!(other, with.replace(&format!("- address: Agent/z # kept{br}  id: 'agent_1'{br}"), ""));
        let none = take_out(&text, &[adopt("z", "agent_1")]).unwrap();
        assert_eq!(none, text.replace(&format!("adopt:{br}- address: Agent/z # kept{br}  id: 'agent_1'{br}"), ""));
    }
}

#[test]
fn lists_in_brackets_stay_in_brackets() {
    let text = format!("{CONFIG}moved: [{{from: Agent/a, to: Agent/b}}] # m\nremoved: []\naccept: ~\ntargets: {{}}\n");
    let with = add(&text, &[moved("c", "d")]).unwrap();
    assert_eq!(with, text.replace("Agent/b}]", "Agent/b}, {from: Agent/c, to: Agent/d}]"));
    assert_eq!(
        take_out(&with, &[moved("a", "b")]).unwrap(),
        text.replace("Agent/a, to: Agent/b", "Agent/c, to: Agent/d")
    );
    assert_eq!(
        take_out(&text, &[moved("a", "b")]).unwrap(),
        text.replace("moved: [{from: Agent/a, to: Agent/b}] # m\n", "")
    );
    let line = Removed { address: "Agent/billing-*".into(), to: None, keep: true };
    let with = add(&text, &[line]).unwrap();
    assert_eq!(with, text.replace("removed: []", "removed:\n  - {address: Agent/billing-*, keep: true}"));
    let line = Accept {
        address: Address::new(Kind::Agent, "a"),
        live: Digest::of(b""),
        take: Take::Live,
        reason: "a: b".into(),
    };
    let with = add(&text, std::slice::from_ref(&line)).unwrap();
    let written =
        format!("accept:\n  - address: Agent/a\n    live: {}\n    take: live\n    reason: \"a: b\"\n", Digest::of(b""));
    assert_eq!(with, text.replace("accept: ~\n", &written));
    let again = Accept { live: Digest::of(b"x"), ..line };
    assert_eq!(
        add(&with, &[again]).unwrap(),
        with.replace(&Digest::of(b"").to_string(), &Digest::of(b"x").to_string())
    );
    let rows = format!(
        "{CONFIG}adopt: [\n  # one\n  {{address: Agent/a, id: x}}, # a\n  {{address: Agent/b, id: y}} # b\n]\n"
    );
    let with = add(&rows, &[adopt("c", "z")]).unwrap();
    assert_eq!(with, rows.replace("id: y} # b\n", "id: y}, # b\n  {address: Agent/c, id: z}\n"));
    assert_eq!(take_out(&with, &[adopt("b", "y")]).unwrap(), with.replace("  {address: Agent/b, id: y}, # b\n", ""));
}

#[test]
fn other_documents_of_the_file_stay() {
    let other = "---\napiVersion: checkfu.com/v1\nkind: Skill\nmoved: no\n";
    let text = format!("{CONFIG}moved:\n  - {{from: Agent/a, to: Agent/b}}\n\n{other}");
    assert_eq!(take_out(&text, &[moved("a", "b")]).unwrap(), format!("{CONFIG}\n{other}"));
    let with = add(&text, &[adopt("a", "b")]).unwrap();
    assert!(with.ends_with(&format!("  - {{address: Agent/a, id: b}}\n\n{other}")), "{with}");
    assert!(add("a: [", &[adopt("a", "b")]).is_err() && add("a: 1\n", &[adopt("a", "b")]).is_err());
}

/// The first document with one value set.
fn put(text: &str, pointer: &str, value: Value) -> String {
    let out = set(text, 0..text.len(), pointer, &value).unwrap();
    let mut want = read(text, &(0..text.len())).unwrap();
    *make(&mut want, pointer).unwrap() = value;
    assert_eq!(read(&out, &(0..out.len())).unwrap(), want, "{out}");
    out
}

#[test]
fn a_scalar_keeps_its_style_where_that_holds_the_new_one() {
    let text = "a: plain  # c\nb: 'single'\nc: \"double\"\nd: 1\nl: [x, 'y', \"z\"] # l\n";
    assert_eq!(put(text, "/a", json!("other")), text.replace("plain", "other"));
    assert_eq!(put(text, "/a", json!("a: b")), text.replace("plain", "\"a: b\""));
    assert_eq!(put(text, "/a", json!("true")), text.replace("plain", "\"true\""));
    assert_eq!(put(text, "/a", json!(7)), text.replace("plain", "7"));
    assert_eq!(put(text, "/b", json!("it's")), text.replace("single", "it''s"));
    assert_eq!(put(text, "/c", json!("a\"b")), text.replace("double", "a\\\"b"));
    assert_eq!(put(text, "/d", json!("1")), text.replace("d: 1", "d: \"1\""));
    assert_eq!(put(text, "/d", json!(null)), text.replace("d: 1", "d: null"));
    assert_eq!(put(text, "/l/0", json!("p, q")), text.replace("[x", "[\"p, q\""));
    assert_eq!(put(text, "/l/1", json!("p")), text.replace("'y'", "'p'"));
    assert_eq!(put(text, "/a", json!("one\ntwo\n")), text.replace("plain  # c", "|  # c\n  one\n  two"));
    assert_eq!(put(text, "/a", json!(["one"])), text.replace("plain  # c", " # c\n  - one"));
    assert_eq!(put(text, "/e/f", json!("g")), format!("{text}e:\n  f: g\n"));
}

#[test]
fn a_block_text_changes_in_its_lines() {
    let text = "s:\n  a: |- # why\n      one\n       \n      two\n\n  b: >+\n    long line\n    goes on\n\n    next\n\nend: 1\n";
    assert_eq!(put(text, "/s/a", json!("one\n \n2")), text.replace("two", "2"));
    assert_eq!(put(text, "/s/a", json!("one\n \ntwo\n")), text.replace("|- #", "| #"));
    assert_eq!(put(text, "/s/b", json!("long line goes on\nlast\n\n")), text.replace("next", "last"));
    assert_eq!(
        put(text, "/s/b", json!("long line goes on\nnext\n")),
        text.replace(">+", ">").replace("next\n\n", "next\n")
    );
    put(text, "/s/a", json!("  deep\nless\n\n\n"));
    put(text, "/s/a", json!("\n\n"));
    put(text, "/s/b", json!(" x\ny"));
    let dos = text.replace('\n', "\r\n");
    assert_eq!(put(&dos, "/s/a", json!("one\n \n2")), dos.replace("two", "2"));
    assert_eq!(put("a: |\n  x", "/a", json!("y\n")), "a: |\n  y\n");
}

#[test]
fn lists_and_maps_change_in_what_differs() {
    let text =
        "t: # tools\n  # first\n  - type: a # a\n    on: true\n  - type: b\nm: {x: 1, y: 2}\nn:\n- p\n# mid\n- q\n";
    assert_eq!(
        put(text, "/t", json!([{"type": "a", "on": false}, {"type": "b"}])),
        text.replace("on: true", "on: false")
    );
    assert_eq!(put(text, "/t", json!([{"type": "b"}])), text.replace("  - type: a # a\n    on: true\n", ""));
    assert_eq!(
        put(text, "/t", json!([{"type": "a", "on": true}, {"type": "c", "k": [1]}, {"type": "b"}])),
        text.replace("  - type: b", "  - type: c\n    k:\n      - 1\n  - type: b")
    );
    assert_eq!(put(text, "/t/0", json!({"on": true})), text.replace("type: a # a\n    on", "on"));
    assert_eq!(put(text, "/m", json!({"y": 2, "z": []})), text.replace("x: 1, y: 2", "y: 2, z: []"));
    assert_eq!(
        put(text, "/n", json!(["o", "p", "q", "r"])),
        text.replace("- p", "- o\n- p").replace("- q", "- q\n- r")
    );
    assert_eq!(put(text, "/n", json!([])), text.replace("n:\n- p\n# mid\n- q", "n: []"));
    assert_eq!(
        put(text, "/t", json!("x")),
        format!("t: # tools\n  # first\n  \"x\"\n{}", &text[text.find("m:").unwrap()..])
    );
    let without = remove(text, 0..text.len(), "/t").unwrap();
    assert_eq!(without, text[text.find("m:").unwrap()..]);
}

#[test]
fn what_an_alias_brings_changes_at_its_use() {
    let text = "a: &x {p: 1, q: two}\nb: *x\nc:\n  <<: *x # base\n  r: 3\nd: &s text\ne: [*s, *s]\n";
    assert_eq!(put(text, "/b/p", json!(5)), text.replace("b: *x", "b:\n  p: 5\n  q: two"));
    assert_eq!(put(text, "/c/p", json!(5)), text.replace("r: 3", "r: 3\n  p: 5"));
    assert_eq!(put(text, "/e/1", json!("u")), text.replace("*s]", "u]"));
    assert_eq!(put(text, "/d", json!("new")), text.replace("&s text\ne: [*s, *s]", "&s new\ne: [text, text]"));
    put(text, "/a/p", json!(9));
    put(text, "/a", json!("gone"));
    put(text, "/c", json!({"q": "two", "r": 3}));
    let out = remove(text, 0..text.len(), "/a").unwrap();
    assert_eq!(read(&out, &(0..out.len())).unwrap()["c"], json!({"p": 1, "q": "two", "r": 3}));
}

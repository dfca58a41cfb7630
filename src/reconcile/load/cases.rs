//! The table of front matter cases: our verdict under each profile beside those of two other validators, and the
//! page that says where and why they differ. `UPDATE=1` writes both anew; the column `why` is written by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::diag::Severity;

const TABLE: &str = "tests/cases/skill-frontmatter.tsv";
const PAGE: &str = "docs/skill-verdicts.md";
const HEAD: &str = "case\tfolder\tskills-ref\tquick_validate\tcheckfu\tagentskills\tclaude\twhy";

/// A row of the table.
struct Case {
    name: String,
    folder: String,
    /// `valid`, `invalid` or `crash`, of skills-ref 0.1.1 and quick_validate.
    others: [String; 2],
    why: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> Vec<Case> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let c: Vec<&str> = line.split('\t').collect();
        assert_eq!(c.len(), 8, "{line:?}");
        let own = |i: usize| c[i].to_owned();
        Case { name: own(0), folder: own(1), others: [own(2), own(3)], why: own(7) }
    });
    rows.collect()
}

/// Front matter of the lines given, and a text.
fn matter(lines: &str) -> Vec<u8> {
    format!("---\n{lines}\n---\n# Body\n\nText\n").into_bytes()
}

/// `description` of a skill called `a`.
fn described(value: &str) -> Vec<u8> {
    matter(&format!("name: a\ndescription: {value}"))
}

/// A skill whose name is written so.
fn named(value: &str) -> Vec<u8> {
    matter(&format!("name: {value}\ndescription: d"))
}

/// More lines for a skill that is right.
fn with(lines: &str) -> Vec<u8> {
    matter(&format!("name: a\ndescription: d\n{lines}"))
}

/// The bytes of `SKILL.md` of a case; nothing where the case is about the file and not its text.
fn bytes(case: &Case) -> Option<Vec<u8>> {
    let x = |n: usize| "x".repeat(n);
    let bytes = match case.name.as_str() {
        "BOM before ---" => [b"\xef\xbb\xbf".to_vec(), with("license: MIT")].concat(),
        "CRLF whole file" => String::from_utf8(named("a")).unwrap().replace('\n', "\r\n").into(),
        "lone CR line ends" => String::from_utf8(named("a")).unwrap().replace('\n', "\r").into(),
        "blank line before ---" => [b"\n".to_vec(), named("a")].concat(),
        "'--- ' trailing space on fence" => b"--- \nname: a\ndescription: d\n--- \n# Body\n".to_vec(),
        "'----' (4 dashes) as the fences" => b"----\nname: a\ndescription: d\n----\n# Body\n".to_vec(),
        "'---yaml' opening" => b"---yaml\nname: a\ndescription: d\n---\n# Body\n".to_vec(),
        "'...' as the closing fence, no ---" => b"---\nname: a\ndescription: d\n...\n# Body\n".to_vec(),
        "'...' then a --- rule in the body" => b"---\nname: a\ndescription: d\n...\n# Body\n\n---\nmore\n".to_vec(),
        "--- inside the description value" => matter("name: a\ndescription: use a --- b rule\nlicense: MIT"),
        "--- in description, last key" => described("use a --- b"),
        "a YAML comment holding ---" => matter("# --- header ---\nname: a\ndescription: d"),
        "closing fence indented by a space" => b"---\nname: a\ndescription: d\n ---\n# Body\n".to_vec(),
        "no closing fence at all" => b"---\nname: a\ndescription: d\n# Body\n".to_vec(),
        "no newline at end, nothing after fence" => b"---\nname: a\ndescription: d\n---".to_vec(),
        "empty frontmatter" => b"---\n---\n# Body\n".to_vec(),
        "frontmatter only a comment" => matter("# nothing"),
        "scalar frontmatter" => matter("hello"),
        "unquoted colon-space in description" => described("Use this: always"),
        "unquoted colon, no space (http://x)" => described("see http://x.y"),
        "unquoted ' #' in description" => described("fix issue #12 fast # really"),
        "description starts with a quote and goes on" => described("\"x\" and y"),
        "description starts with @" => described("@x does it"),
        "description starts with *" => described("*x does it"),
        "description starts with [" => described("[x] does it"),
        "description flow list [x, y]" => described("[x, y]"),
        "description >- folded" => described(">-\n  x\n  y"),
        "description | literal, trailing newline" => described("|\n  x"),
        "description 1024 chars" => described(&x(1024)),
        "description 1025 chars" => described(&x(1025)),
        "description '|' block: 1024 chars + the newline" => described(&format!("|\n  {}", x(1024))),
        "description 1024 x 4-byte emoji" => described(&"\u{1f600}".repeat(1024)),
        "description empty string ''" => described("''"),
        "description: (null)" => matter("name: a\ndescription:"),
        "description only blanks" => described("'   '"),
        "description has <b> tag" => described("use <b>x</b>"),
        "description has a < b" => described("if a < b"),
        "name quoted with outer spaces" => named("' a '"),
        "name 'a/b' in dir b" => named("a/b"),
        "name '-'" => named("'-'"),
        "name full-width ａ, dir a" => named("ａ"),
        "name ﬁle (ligature), dir file" => named("ﬁle"),
        "name Ⅷ (upper roman), dir viii" => named("Ⅷ"),
        "name 한국어 NFC, dir NFD" => named("한국어"),
        "name a－b full-width hyphen, dir a-b" => named("a－b"),
        "65 chars that NFKC to 64? ('ﬁ' expands) 63+ﬁ" => named(&format!("{}ﬁ", "a".repeat(63))),
        "compatibility ''" => with("compatibility: ''"),
        "compatibility: (null)" => with("compatibility:"),
        "compatibility 500" => with(&format!("compatibility: {}", x(500))),
        "compatibility 501" => with(&format!("compatibility: {}", x(501))),
        "compatibility list" => with("compatibility:\n  - x"),
        "license list" => with("license:\n  - MIT"),
        "license empty" => with("license:"),
        "license map" => with("license:\n  id: MIT"),
        "metadata list" => with("metadata:\n  - x"),
        "metadata string" => with("metadata: x"),
        "metadata nested map" => with("metadata:\n  o:\n    k: v"),
        "metadata {a: b} flow" => with("metadata: {a: b}"),
        "metadata {} flow" => with("metadata: {}"),
        "metadata version 1.10 unquoted" => with("metadata:\n  version: 1.10"),
        "allowed-tools block list" => with("allowed-tools:\n  - Read"),
        "allowed-tools flow list" => with("allowed-tools: [Read]"),
        "allowed-tools 'Read, Bash'" => with("allowed-tools: Read, Bash"),
        "allowed-tools with unquoted glob *" => with("allowed-tools: * Read"),
        "duplicate key name" => matter("name: a\nname: a\ndescription: d"),
        "duplicate key description" => matter("name: a\ndescription: d\ndescription: e"),
        "anchor + alias" => matter("name: &n a\ndescription: *n"),
        "tag !!str" => matter("name: a\ndescription: !!str d"),
        "merge key <<" => matter("base: &b\n  k: v\nname: a\ndescription: d\nmetadata:\n  <<: *b"),
        "tab indentation" => with("metadata:\n\tk: v"),
        "Name: capital key" => matter("Name: a\ndescription: d"),
        "unknown field version" => with("version: 1.0.0"),
        "unknown field disable-model-invocation" => with("disable-model-invocation: true"),
        "allowed_tools (underscore)" => with("allowed_tools: Read"),
        "control character U+0007 in description" => described("d\u{7}e"),
        "U+0080 in description" => described("d\u{80}e"),
        "invalid UTF-8 byte in body" => [named("a"), b"\xff\n".to_vec()].concat(),
        "UTF-16 LE file" => {
            let text = String::from_utf8(named("a")).unwrap();
            [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
        }
        "NUL in body" => [named("a"), b"a\0b\n".to_vec()].concat(),
        "body empty" => b"---\nname: a\ndescription: d\n---\n".to_vec(),
        "file empty" => Vec::new(),
        "dir name upper 'A', name a" => named("a"),
        name if name.starts_with("name") => named(&case.folder),
        _ => return None,
    };
    Some(bytes)
}

/// Makes the folder of a case.
fn make(case: &Case, project: &Path) {
    let folder = project.join("skills").join(&case.folder);
    fs::create_dir_all(&folder).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    if let Some(bytes) = bytes(case) {
        return put("SKILL.md", &bytes);
    }
    match case.name.as_str() {
        "file named skill.md" => put("skill.md", &named("a")),
        "file named Skill.md" => put("Skill.md", &named("a")),
        "file named SKILL.MD" => put("SKILL.MD", &named("a")),
        "both SKILL.md (bad) and skill.md (good)" => {
            put("SKILL.md", b"bad\n");
            put("skill.md", &named("a"));
        }
        "SKILL.md is a directory" => fs::create_dir(folder.join("SKILL.md")).unwrap(),
        "SKILL.md symlink to ../t.md" => {
            fs::write(project.join("skills/t.md"), named("a")).unwrap();
            std::os::unix::fs::symlink("../t.md", folder.join("SKILL.md")).unwrap();
        }
        "SKILL.md dangling symlink" => std::os::unix::fs::symlink("../none.md", folder.join("SKILL.md")).unwrap(),
        "nested sub/SKILL.md inside" => {
            put("SKILL.md", &named("a"));
            fs::create_dir(folder.join("sub")).unwrap();
            put("sub/SKILL.md", &matter("name: sub\ndescription: d"));
        }
        other => panic!("no input for the case {other:?}"),
    }
}

/// `valid` or `invalid`, and the codes of errors and warnings.
fn verdict(project: &Path, profile: Profile) -> String {
    let options = LoadOptions { profile: Some(profile), today: jiff::civil::date(2026, 11, 30) };
    let loaded = load(project, &options).unwrap();
    let codes = |severity: Severity| {
        let mut codes: Vec<&str> =
            loaded.diagnostics.0.iter().filter(|d| d.severity == severity).map(|d| d.code.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.join(" ")
    };
    let (errors, warnings) = (codes(Severity::Error), codes(Severity::Warning));
    assert_eq!(errors.is_empty(), loaded.desired.is_some());
    let skills = loaded.counts.get(&Kind::Skill).copied().unwrap_or_default();
    assert!(
        skills == 1 || !errors.is_empty(),
        "a skill was dropped without a word: {warnings} {:?}",
        loaded.diagnostics
    );
    let mut out = if errors.is_empty() { "valid".to_owned() } else { format!("invalid: {errors}") };
    if !warnings.is_empty() {
        let _ = write!(out, " (warns: {warnings})");
    }
    out
}

fn is_valid(verdict: &str) -> bool {
    verdict.starts_with("valid")
}

/// Does a verdict of ours differ from one of the others' where it should be explained?
fn differs(case: &Case, ours: &[String; 3]) -> bool {
    let theirs = |i: usize| is_valid(&case.others[i]);
    is_valid(&ours[0]) != theirs(0)
        || is_valid(&ours[0]) != theirs(1)
        || is_valid(&ours[1]) != theirs(0)
        || is_valid(&ours[2]) != theirs(1)
}

fn page(rows: &[(Case, [String; 3])]) -> String {
    let mut out = "\
# Verdicts on SKILL.md\n\n\
Checkfu reads front matter with a full YAML 1.2 parser, between lines that are exactly `---`, and reports all\n\
findings at once. Two other validators are common: `skills-ref` 0.1.1, the reference of the open format, which\n\
splits at the characters `---` and reads a subset of YAML with texts alone; and `quick_validate.py` of\n\
skill-creator, which reads YAML 1.1. This page lists every case of `tests/cases/skill-frontmatter.tsv` on which\n\
one of our profiles and one of them disagree, and why. It is made from that table, which the tests hold against\n\
the code.\n\n\
- `checkfu` (the default) has an error for what breaks a client, a warning for what only some refuse.\n\
- `agentskills` follows `skills-ref`, but for what it reads wrongly.\n\
- `claude` follows what an upload to Claude refuses.\n\n"
        .to_owned();
    let differing = rows.iter().filter(|(c, ours)| differs(c, ours)).count();
    let _ = writeln!(out, "{} cases, {differing} with a difference.\n", rows.len());
    out.push_str("| case | skills-ref | quick_validate | checkfu | agentskills | claude | why |\n|---|---|---|---|---|---|---|\n");
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    let short = |v: &str| if is_valid(v) { "valid" } else { "invalid" };
    for (c, ours) in rows.iter().filter(|(c, ours)| differs(c, ours)) {
        let cells = [&c.name, &c.others[0], &c.others[1]].map(|t| cell(t)).join(" | ");
        let ours = ours.each_ref().map(|v| short(v)).join(" | ");
        let _ = writeln!(out, "| {cells} | {ours} | {} |", cell(&c.why));
    }
    out
}

#[test]
fn every_case_has_our_verdict_beside_the_others() {
    let mut rows = Vec::new();
    for case in table() {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join(CONFIG_FILE), "apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a\n")
            .unwrap();
        make(&case, project.path());
        let ours = Profile::ALL.map(|p| verdict(project.path(), p));
        rows.push((case, ours));
    }
    let mut table = format!("{HEAD}\n");
    for (c, ours) in &rows {
        let cells = [&c.name, &c.folder, &c.others[0], &c.others[1], &ours[0], &ours[1], &ours[2], &c.why];
        table.push_str(&cells.map(String::as_str).join("\t"));
        table.push('\n');
    }
    let page = page(&rows);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join(TABLE), &table).unwrap();
        fs::write(root().join(PAGE), &page).unwrap();
    }
    let unexplained: Vec<&str> =
        rows.iter().filter(|(c, ours)| differs(c, ours) == c.why.is_empty()).map(|(c, _)| c.name.as_str()).collect();
    assert_eq!(unexplained, Vec::<&str>::new(), "`why` is for the cases that differ, and for all of them");
    assert_eq!(rows.len(), 122);
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_default();
    for (line, (old, new)) in read(TABLE).lines().zip(table.lines()).enumerate() {
        assert_eq!(old, new, "{TABLE}:{}; UPDATE=1 writes it anew", line + 1);
    }
    assert!(read(TABLE) == table && read(PAGE) == page, "{TABLE} or {PAGE} is out of date; UPDATE=1 writes them anew");
}

//! What GitHub's runner reads: commands in the log, the job summary, the file of outputs. Text of users is never a
//! command.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::ci::{Annotation, Level};
use crate::cli::view::markup::shorten;
use crate::cli::view::style;
use crate::cli::view::text::visible;

/// Most remarks of one level that are shown one by one; the runner drops those over 10 without a word.
const MOST: usize = 9;
/// Most bytes of a summary, those of earlier runs of the step among them: one byte over 1 MiB and all of it is dropped.
pub const SUMMARY: u64 = 1_000_000;

/// Text of the log. The runner's page reads `##[` anywhere in a line, stopped or not.
pub fn log(text: &str) -> String {
    visible(&style::plain(text), true).replace("##[", "## [")
}

/// The remarks as commands, the gravest first, and how many more there are.
pub fn annotations(all: &[Annotation]) -> String {
    let mut out = String::new();
    for level in [Level::Error, Level::Warning, Level::Notice] {
        let of: Vec<&Annotation> = all.iter().filter(|a| a.level == level).collect();
        for a in of.iter().take(MOST) {
            out.push_str(&command(a));
        }
        if of.len() > MOST {
            let (word, rest) = (word(level), of.len() - MOST);
            let _ = writeln!(out, "::{word} title=checkfu::and {rest} more; all are in the job summary");
        }
    }
    out
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    }
}

fn command(a: &Annotation) -> String {
    let mut properties = Vec::new();
    if let Some(file) = &a.file {
        properties.push(format!("file={}", property(file)));
        for (name, n) in [("line", a.line), ("col", a.column)] {
            if n > 0 {
                properties.push(format!("{name}={n}"));
            }
        }
    }
    properties.push(format!("title={}", property(&format!("checkfu {}: {}", a.code, a.title))));
    format!("::{} {}::{}\n", word(a.level), properties.join(","), data(&a.message))
}

/// Escapes the text of a command.
pub fn data(text: &str) -> String {
    visible(text, true).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The summary, cut at a line's end where it would be too long beside what is there.
pub fn summary(markdown: &str, held: u64) -> String {
    let room = usize::try_from(SUMMARY.saturating_sub(held)).unwrap_or_default();
    shorten(&format!("{markdown}\n"), room)
}

/// The outputs, one `name=value` a line. No value has a line feed.
pub fn outputs(values: &BTreeMap<&'static str, String>) -> String {
    let mut out = String::new();
    for (name, value) in values {
        let _ = writeln!(out, "{name}={}", value.replace(['\r', '\n'], " "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(level: Level, message: &str) -> Annotation {
        let (code, title) = ("a.b".to_owned(), "x, y: z".to_owned());
        Annotation { level, file: Some("a,b.md".into()), line: 3, column: 1, code, title, message: message.into() }
    }

    #[test]
    fn ten_remarks_of_a_level_are_the_most_and_the_gravest_come_first() {
        let all: Vec<Annotation> =
            [Level::Warning, Level::Error].iter().flat_map(|l| (0..30).map(|_| remark(*l, "m"))).collect();
        let text = annotations(&all);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 20);
        assert!(lines[..10].iter().all(|l| l.starts_with("::error ")) && lines[9].contains("and 21 more"), "{text}");
        assert!(lines[10..].iter().all(|l| l.starts_with("::warning ")), "{text}");
    }

    #[test]
    fn a_remark_is_one_command_whatever_it_says() {
        let text = annotations(&[remark(Level::Error, "100%\r\n::add-mask::x")]);
        let wanted = "::error file=a%2Cb.md,line=3,col=1,title=checkfu a.b%3A x%2C y%3A z::";
        assert!(text.starts_with(wanted) && text.lines().count() == 1, "{text}");
        assert!(text.contains("100%25") && text.contains("%0A::add-mask::x"), "{text}");
        assert_eq!(log("##[error]x").matches("##[").count(), 0);
    }

    #[test]
    fn a_summary_stays_below_what_the_runner_takes_with_what_is_there() {
        let long = "é line\n".repeat(200_000);
        for held in [0, 10, 999_000] {
            let text = summary(&long, held);
            assert!(text.len() as u64 + held <= SUMMARY, "{held}");
            assert!(text.ends_with("left out here.**\n"), "{held}");
        }
        assert_eq!(summary(&long, SUMMARY), "");
        assert_eq!(summary("short", 0), "short\n");
    }

    #[test]
    fn an_output_is_one_line() {
        let all = BTreeMap::from([("changes", "true".to_owned()), ("plan-file", "a\nexit-code=0".to_owned())]);
        assert_eq!(outputs(&all), "changes=true\nplan-file=a exit-code=0\n");
    }

    #[test]
    fn a_summary_that_is_cut_closes_what_it_has_open() {
        assert_eq!(summary("# a", 0), "# a\n");
        let text =
            format!("<details><summary>x</summary>\n\n````diff\n{}````\n\n</details>\n", "+ one\n".repeat(200_000));
        let held = 400_000;
        let cut = summary(&text, held);
        let room = usize::try_from(SUMMARY - held).unwrap();
        assert!(cut.len() <= room && cut.len() > room - 100, "{}", cut.len());
        assert!(
            cut.ends_with("+ one\n````\n\n</details>\n\n**The rest is left out here.**\n"),
            "{}",
            &cut[cut.len() - 80..]
        );
        assert_eq!(summary(&text, SUMMARY), "");
        assert_eq!(summary(&text, SUMMARY - 60), "\n**The rest is left out here.**\n");
    }
}

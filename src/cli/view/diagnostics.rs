//! Diagnostics for people, through `miette`: code, message, excerpt, fix, hints, how many.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan};

use crate::cli::view::excerpt::Excerpt;
use crate::cli::view::text;
use crate::diag::{Diagnostic, Diagnostics, Label, Location, Severity};

/// The texts that excerpts are taken from, by file.
pub type Sources = BTreeMap<String, Arc<str>>;

/// How a report is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Columns that lines are broken at. `None`: never, so that a command in them can be copied whole.
    pub width: Option<usize>,
}

/// What excerpts fit into where there is no terminal, so that output does not depend on where it runs.
const PLAIN_WIDTH: usize = 100;

/// All diagnostics in file order, then how many. Ends with a line feed; empty when there are none.
pub fn report(diagnostics: &Diagnostics, sources: &Sources, options: Options) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode())
        .with_width(options.width.unwrap_or(PLAIN_WIDTH))
        .with_wrap_lines(options.width.is_some())
        .with_links(false)
        .with_context_lines(1)
        .without_syntax_highlighting();
    let sorted = diagnostics.shown();
    let mut out = String::new();
    for diagnostic in &sorted.0 {
        // Writing into a text cannot fail, and every span of an excerpt is inside it.
        let _ = handler.render_report(&mut out, &Report::new(diagnostic, sources));
        out.push('\n');
    }
    out + &summary(&sorted)
}

/// `3 errors, 1 warning` and a line feed; empty when there is nothing.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let words: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
        .into_iter()
        .map(|(severity, word)| (diagnostics.count(severity), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| text::count(n, word))
        .collect();
    if words.is_empty() { String::new() } else { words.join(", ") + "\n" }
}

/// What to do: what the diagnostic itself says, else what its code says in general.
pub fn fix(d: &Diagnostic) -> &str {
    d.fix.as_deref().unwrap_or(d.code.fix)
}

/// One diagnostic, or the part of one that is in another file.
struct Report {
    code: Option<String>,
    message: String,
    severity: Severity,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    excerpt: Option<Excerpt>,
    elsewhere: Vec<Report>,
}

impl Report {
    fn new(d: &Diagnostic, sources: &Sources) -> Self {
        let mut by_file: Vec<(&Arc<str>, Vec<&Label>)> = Vec::new();
        for label in &d.labels {
            match by_file.iter_mut().find(|(file, _)| *file == &label.at.file) {
                Some((_, labels)) => labels.push(label),
                None => by_file.push((&label.at.file, vec![label])),
            }
        }
        let mut groups = by_file.into_iter();
        let (labels, excerpt) = groups.next().map(|(_, l)| marks(&l, sources)).unwrap_or_default();
        let elsewhere = groups.map(|(file, l)| Report::elsewhere(file, &l, sources)).collect();
        let rule = d.rule.map(|r| format!(" ({r})")).unwrap_or_default();
        let message = text::line(&d.message);
        // Without an excerpt the place would be nowhere.
        let message = match d.place() {
            Some(at) if excerpt.is_none() => format!("{}: {message}", place(at)),
            _ => message,
        };
        let fix = format!("fix: {}", text::visible(fix(d).trim_end(), true));
        let help: Vec<String> = std::iter::once(fix).chain(d.hints.iter().map(|h| text::visible(h, true))).collect();
        Report {
            code: Some(format!("{}{rule}", d.code.code)),
            message,
            severity: d.severity,
            help: Some(help.join("\n")),
            labels,
            excerpt,
            elsewhere,
        }
    }

    fn elsewhere(file: &str, labels: &[&Label], sources: &Sources) -> Self {
        let (marks, excerpt) = marks(labels, sources);
        let message = match (&excerpt, labels.first()) {
            (None, Some(l)) => format!("{}: {}", place(&l.at), text::line(&l.text)),
            _ => format!("see also {}", text::line(file)),
        };
        let severity = Severity::Note;
        Report { code: None, message, severity, help: None, labels: marks, excerpt, elsewhere: Vec::new() }
    }
}

fn place(at: &Location) -> String {
    text::line(&at.to_string())
}

fn marks(labels: &[&Label], sources: &Sources) -> (Vec<LabeledSpan>, Option<Excerpt>) {
    let source = labels.first().and_then(|l| sources.get(l.at.file.as_ref())).filter(|s| !s.is_empty());
    let Some(source) = source else { return (Vec::new(), None) };
    let places: Vec<&Location> = labels.iter().map(|l| &l.at).collect();
    let excerpt = Excerpt::new(source, &places);
    let mark = |(i, label): (usize, &&Label)| {
        let text = (!label.text.is_empty()).then(|| text::line(&label.text));
        let span = excerpt.span(&label.at);
        if i == 0 { LabeledSpan::new_primary_with_span(text, span) } else { LabeledSpan::new_with_span(text, span) }
    };
    (labels.iter().enumerate().map(mark).collect(), Some(excerpt))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|c| Box::new(c) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.excerpt.as_ref().map(|e| e as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|r| r as &dyn miette::Diagnostic)))
    }
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;

//! Diagnostics as Markdown for a pull request, within the same bounds as a plan.

use crate::cli::view::diagnostics::{fix, summary};
use crate::cli::view::markup::{code, fence, fit, indent, prose};
use crate::cli::view::text::{clip, count};
use crate::cli::view::words;
use crate::diag::{Diagnostic, Diagnostics};

/// How many of each severity, then as many rows as fit, in file order.
pub fn diagnostics(all: &Diagnostics) -> String {
    let sorted = all.shown();
    let title = summary(&sorted);
    let title = if title.is_empty() { "no errors" } else { title.trim_end() };
    let rest = |left| format!("{}. `checkfu validate` shows all.", count(left, "diagnostic"));
    fit(format!("### checkfu: {title}\n\n"), sorted.0.iter().map(row), rest)
}

fn row(d: &Diagnostic) -> String {
    let severity = words::severity(d.severity);
    let at = d.place().map(|at| format!(" at {}", code(&clip(&at.to_string(), 300)))).unwrap_or_default();
    let message = prose(&d.message);
    let fix = indent(&fence("text", fix(d)));
    format!("- {severity} {}{at}: {message}\n{fix}", code(d.code.code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::markup::BUDGET;
    use crate::diag::Location;
    use crate::diag::codes::cli::READ;

    #[test]
    fn rows_are_safe_and_those_that_do_not_fit_are_counted() {
        let d = Diagnostic::new(&READ, "<b> @team `x`").at(Location::file("a`.yaml"), "").fix("```\n@team");
        insta::assert_snapshot!(diagnostics(&Diagnostics(vec![d.clone()])), @r"
    ### checkfu: 1 error

    - error `cli.read` at ``a`.yaml:1:1``: &lt;b&gt; @<!-- -->team \`x\`
      ````text
      ```
      @team
      ````
    ");
        let text = diagnostics(&Diagnostics(vec![d; 10_000]));
        assert!(text.len() <= BUDGET);
        let shown = text.lines().filter(|l| l.starts_with("- error")).count();
        assert!(
            text.starts_with("### checkfu: 10000 errors") && text.contains(&format!("{} diagnostics", 10_000 - shown))
        );
    }
}

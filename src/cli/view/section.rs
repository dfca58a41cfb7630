//! A list in a Markdown document of bounded length, folded or not: it grows row by row, and a row that does not fit is
//! left out whole.

/// Kept free for what closes a folded list and for what counts the rows that are left out.
pub const TAIL: usize = 600;
const CLOSE: &str = "\n</details>\n";

/// A list that grows.
#[derive(Debug)]
pub struct Section<'a> {
    /// What it grows in.
    pub out: &'a mut String,
    /// Ours: no text of users. Nothing is written before the first row that fits.
    pub title: &'a str,
    /// Folded away, or below a heading.
    pub fold: bool,
    /// Most bytes of `out` with it.
    pub most: usize,
    open: bool,
}

impl<'a> Section<'a> {
    /// A folded list that has no row yet.
    pub fn folded(out: &'a mut String, title: &'a str, most: usize) -> Self {
        Self { out, title, fold: true, most, open: false }
    }

    /// One below a heading.
    pub fn headed(out: &'a mut String, title: &'a str, most: usize) -> Self {
        Self { out, title, fold: false, most, open: false }
    }

    fn opening(&self) -> String {
        match (self.open, self.fold) {
            (true, _) => String::new(),
            (false, true) => format!("\n<details><summary>{}</summary>\n\n", self.title),
            (false, false) => format!("\n#### {}\n\n", self.title),
        }
    }

    /// Adds a row. `false`: it does not fit, and is left out.
    pub fn push(&mut self, row: &str) -> bool {
        let opening = self.opening();
        if self.out.len().saturating_add(opening.len() + row.len() + CLOSE.len()) > self.most {
            return false;
        }
        self.out.push_str(&opening);
        self.open = true;
        self.out.push_str(row);
        true
    }

    /// Ends it.
    pub fn close(self) {
        if self.open && self.fold {
            self.out.push_str(CLOSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_does_not_fit_is_left_out_and_nothing_is_opened_for_it() {
        let mut out = String::new();
        let mut section = Section::folded(&mut out, "Rows", 80);
        let large = "x".repeat(80);
        assert!(!section.push(&large) && section.push("- a\n") && !section.push(&large) && section.push("- b\n"));
        section.close();
        assert_eq!(out, "\n<details><summary>Rows</summary>\n\n- a\n- b\n\n</details>\n");
        assert!(out.len() <= 80);
        let mut out = String::new();
        Section::headed(&mut out, "Rows", 3).close();
        assert_eq!(out, "");
    }
}

//! A text that is joined from several: which part of it a change belongs to.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::desired::TextPart;

/// The texts of the parts after the whole text has changed: lines go to the part that held what they replace, and what
/// comes between two lines to the part of the line before. `None`: the blank line between two parts is gone, so they
/// are no parts any more.
pub(super) fn distribute(old: &str, parts: &[TextPart], new: &str) -> Option<Vec<String>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut texts: Vec<Vec<&str>> = vec![Vec::new(); parts.len()];
    let end = |p: &TextPart| p.line + p.lines;
    let of_line = |line: usize| parts.iter().position(|p| (p.line..end(p)).contains(&line));
    // Between two lines: behind the last line of a part is its end, in front of the first one its beginning.
    let of_gap = |line: usize| parts.iter().position(|p| p.line <= line && line <= end(p));
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (_, was, is) = op.as_tag_tuple();
        match op {
            DiffOp::Equal { .. } => {
                for (i, line) in was.zip(&new[is]) {
                    if let Some(part) = of_line(i) {
                        texts[part].push(line);
                    }
                }
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                if was.clone().any(|line| of_line(line).is_none()) {
                    return None;
                }
                let part = if was.is_empty() { of_gap(was.start) } else { of_line(was.start) }?;
                texts[part].extend(&new[is]);
            }
        }
    }
    let texts: Vec<String> = texts.into_iter().map(|lines| lines.join("\n")).collect();
    (texts.join("\n\n") == new.join("\n")).then_some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Location;

    fn parts(texts: &[&str]) -> (String, Vec<TextPart>) {
        let mut line = 0;
        let part = |text: &&str| {
            let lines = text.split('\n').count();
            let part = TextPart { line, lines, at: Location::file("x"), verbatim: true };
            line += lines + 1;
            part
        };
        let parts = texts.iter().map(part).collect();
        (texts.join("\n\n"), parts)
    }

    #[test]
    fn a_change_goes_to_the_part_that_holds_it() {
        let (old, of) = parts(&["one\ntwo", "three\n\nfour", "five"]);
        let changed = |new: &str| distribute(&old, &of, new);
        let want = |texts: [&str; 3]| Some(texts.map(str::to_owned).to_vec());
        assert_eq!(changed(&old), want(["one\ntwo", "three\n\nfour", "five"]));
        assert_eq!(changed("one\n2\n\nthree\n\nfour\n\nfive"), want(["one\n2", "three\n\nfour", "five"]));
        assert_eq!(
            changed("one\ntwo\nmore\n\nthree\n\nfour\n\nfive"),
            want(["one\ntwo\nmore", "three\n\nfour", "five"])
        );
        assert_eq!(changed("one\ntwo\n\nthree\n\nfour\n\nfive\nsix"), want(["one\ntwo", "three\n\nfour", "five\nsix"]));
        assert_eq!(changed("one\ntwo\n\nthree\n\n4\n\nfive"), want(["one\ntwo", "three\n\n4", "five"]));
        assert_eq!(changed("something\nelse"), None);
        assert_eq!(changed("one\ntwo\nthree\n\nfour\n\nfive"), None);
    }
}

//! Limits of sets: the offender and the five largest files are named. MB are 1,000,000 bytes.

use std::fmt::Write as _;

use crate::bundle::Purpose;
use crate::diag::{Code, Diagnostic, Diagnostics, Location, codes::bundle as codes};

const MB: u64 = 1_000_000;

/// Most bytes of one file of a set, after line ends are normalized.
pub(crate) fn file_limit(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Skill => 30 * MB,
        Purpose::Tree => 25 * MB,
        Purpose::Memory => 102_400,
    }
}

fn total_limit(purpose: Purpose) -> Option<u64> {
    match purpose {
        Purpose::Skill => Some(30 * MB),
        Purpose::Tree => Some(250 * MB),
        Purpose::Memory => None,
    }
}

fn count_limit(purpose: Purpose) -> (usize, &'static Code) {
    match purpose {
        Purpose::Skill => (200, &codes::MANY_FILES),
        Purpose::Tree => (1024, &codes::LIMIT),
        Purpose::Memory => (10_000, &codes::LIMIT),
    }
}

/// Is a set so far over its limits on disk that line ends cannot save it, and reading it is of no use?
pub(crate) fn hopeless(purpose: Purpose, files: usize, bytes: u64) -> bool {
    let (most, code) = count_limit(purpose);
    (files > most && code == &codes::LIMIT) || total_limit(purpose).is_some_and(|l| bytes > 2 * l)
}

/// Checks sizes (path relative to the project folder, bytes) of the set at `path`.
pub(crate) fn check(purpose: Purpose, path: &str, sizes: &[(String, u64)], out: &mut Diagnostics) {
    let mut by_size: Vec<&(String, u64)> = sizes.iter().collect();
    by_size.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut largest = String::from("largest: ");
    for (n, (file, size)) in by_size.iter().take(5).enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        // writing to a String cannot fail
        let _ = write!(largest, "{comma}{file} ({})", bytes(*size));
    }
    let mut over = |code, message: String, at: &str| {
        out.push(Diagnostic::new(code, message).at(Location::file(at), "").hint(largest.clone()));
    };
    let limit = file_limit(purpose);
    for (file, size) in by_size.iter().take_while(|f| f.1 > limit) {
        over(&codes::LIMIT, format!("`{file}` has {}, at most {} are allowed", bytes(*size), bytes(limit)), file);
    }
    let total: u64 = sizes.iter().map(|s| s.1).sum();
    if let Some(limit) = total_limit(purpose).filter(|l| total > *l) {
        let message = format!("`{path}` has {} in all, at most {} are allowed", bytes(total), bytes(limit));
        over(&codes::LIMIT, message, path);
    }
    let (limit, code) = count_limit(purpose);
    if sizes.len() > limit {
        let most = if code == &codes::LIMIT { "at most" } else { "some clients take at most" };
        over(code, format!("`{path}` has {} files, {most} {limit}", sizes.len()), path);
    }
}

/// Bytes for people: exact, with thousands.
fn bytes(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + " bytes"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(purpose: Purpose, sizes: &[u64]) -> Vec<(&'static str, String)> {
        let sizes: Vec<_> = sizes.iter().enumerate().map(|(i, s)| (format!("d/f{i:05}"), *s)).collect();
        let mut out = Diagnostics::default();
        check(purpose, "d", &sizes, &mut out);
        out.0.into_iter().map(|d| (d.code.code, format!("{} / {}", d.message, d.hints.join(" ")))).collect()
    }

    #[test]
    fn at_the_limit_is_fine_and_one_over_is_told() {
        assert!(said(Purpose::Tree, &vec![0; 1024]).is_empty());
        assert!(said(Purpose::Tree, &[25 * MB; 10]).is_empty());
        assert!(said(Purpose::Skill, &[1; 200]).is_empty() && said(Purpose::Skill, &[30 * MB]).is_empty());
        assert!(said(Purpose::Memory, &vec![102_400; 10_000]).is_empty());
        assert_eq!(said(Purpose::Tree, &vec![0; 1025])[0].0, "bundle.limit");
        assert_eq!(said(Purpose::Skill, &[1; 201])[0].0, "bundle.many_files");
        assert_eq!(said(Purpose::Memory, &vec![0; 10_001])[0].0, "bundle.limit");
        let tree = said(Purpose::Tree, &[25 * MB, 25 * MB + 1, 1, 2, 3, 4]);
        assert_eq!(
            tree,
            [(
                "bundle.limit",
                "`d/f00001` has 25,000,001 bytes, at most 25,000,000 bytes are allowed / largest: d/f00001 (25,000,001 \
                 bytes), d/f00000 (25,000,000 bytes), d/f00005 (4 bytes), d/f00004 (3 bytes), d/f00003 (2 bytes)"
                    .to_owned()
            )]
        );
        assert!(said(Purpose::Skill, &[20 * MB, 10 * MB, 1])[0].1.starts_with("`d` has 30,000,001 bytes in all"));
        assert!(
            said(Purpose::Tree, &[[25 * MB; 10].as_slice(), &[1]].concat())[0].1.starts_with("`d` has 250,000,001")
        );
        assert!(said(Purpose::Memory, &[102_401])[0].1.starts_with("`d/f00000` has 102,401"));
    }
}

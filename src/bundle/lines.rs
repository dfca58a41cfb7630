//! Line ends: the rule of a file, CRLF to LF over a stream, and the test for text that `text=auto` asks for.

use memchr::memchr;

/// What happens to CRLF in a file that holds CR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Bytes are bytes.
    Keep,
    /// CRLF becomes LF.
    Convert,
    /// CRLF becomes LF when the whole looks like text.
    Auto,
}

/// Turns CRLF into LF over chunks. A lone CR stays.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    held: bool,
}

impl Converter {
    /// Passes on a chunk; a CR at its end waits for the next.
    pub(crate) fn push(&mut self, mut chunk: &[u8], out: &mut impl FnMut(&[u8])) {
        if self.held && !chunk.is_empty() {
            self.held = false;
            if chunk[0] != b'\n' {
                out(b"\r");
            }
        }
        let mut from = 0;
        while let Some(found) = memchr(b'\r', &chunk[from..]) {
            let at = from + found;
            match chunk.get(at + 1) {
                None => {
                    out(&chunk[..at]);
                    self.held = true;
                    return;
                }
                Some(b'\n') => {
                    out(&chunk[..at]);
                    chunk = &chunk[at + 1..];
                    from = 0;
                }
                Some(_) => from = at + 1,
            }
        }
        out(chunk);
    }

    /// Passes on what still waits.
    pub(crate) fn finish(&mut self, out: &mut impl FnMut(&[u8])) {
        if std::mem::take(&mut self.held) {
            out(b"\r");
        }
    }
}

/// Counts what Git counts to tell text from binary: NUL and lone CR never are text, and of 128 characters
/// at most one may be a control character. A last Ctrl-Z is forgiven.
#[derive(Debug, Default)]
pub(crate) struct TextTest {
    nul: bool,
    lone_cr: bool,
    held_cr: bool,
    printable: u64,
    other: u64,
    last: u8,
}

impl TextTest {
    /// Looks at a chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        for &byte in chunk {
            if std::mem::take(&mut self.held_cr) && byte != b'\n' {
                self.lone_cr = true;
            }
            match byte {
                b'\r' => self.held_cr = true,
                b'\n' => {}
                0x08 | b'\t' | 0x0c | 0x1b => self.printable += 1,
                0 => {
                    self.nul = true;
                    self.other += 1;
                }
                0x01..=0x1f | 0x7f => self.other += 1,
                _ => self.printable += 1,
            }
        }
        self.last = chunk.last().copied().unwrap_or(self.last);
    }

    /// Was it text?
    pub(crate) fn is_text(&self) -> bool {
        let other = self.other - u64::from(self.last == 0x1a);
        !self.nul && !self.lone_cr && !self.held_cr && (self.printable >> 7) >= other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn converted(chunks: &[&[u8]]) -> Vec<u8> {
        let mut all = Vec::new();
        let mut converter = Converter::default();
        for chunk in chunks {
            converter.push(chunk, &mut |b| all.extend_from_slice(b));
        }
        converter.finish(&mut |b| all.extend_from_slice(b));
        all
    }

    fn is_text(bytes: &[u8]) -> bool {
        let mut test = TextTest::default();
        test.push(bytes);
        test.is_text()
    }

    #[test]
    fn crlf_becomes_lf_and_a_lone_cr_stays() {
        assert_eq!(converted(&[b"a\r\nb\rc\r\r\n", b"\r", b"\n\r", b"", b"x\r"]), b"a\nb\rc\r\n\n\rx\r");
    }

    #[test]
    fn text_as_git_sees_it() {
        assert!(is_text(b"a\r\nb\tc\x1b") && is_text(b"") && is_text(b"a\x1a") && is_text("é\r\n".as_bytes()));
        assert!(!is_text(b"a\0") && !is_text(b"a\rb") && !is_text(b"a\r") && !is_text(b"a\x01"));
        assert!(is_text(&[&[b'a'; 128][..], b"\x01"].concat()));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(bytes in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'x')], 0..40), cut in 0usize..40) {
            let cut = cut.min(bytes.len());
            let whole = String::from_utf8(bytes.clone()).unwrap().replace("\r\n", "\n");
            prop_assert_eq!(converted(&[&bytes[..cut], &bytes[cut..]]), whole.as_bytes());
        }
    }
}

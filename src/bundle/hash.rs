//! Hashing a file in one pass: the bytes are read once, CR is looked for in the same buffer, and from the
//! first CR on they are converted as the file's rule says.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memmem};
use sha2::{Digest as _, Sha256};

use crate::bundle::lines::{Converter, Rule, TextTest};
use crate::model::Digest;

/// Large enough for few system calls, small enough to stay in the second-level cache of a core.
const BUFFER: usize = 128 * 1024;

/// Every pointer of Git LFS starts so.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

thread_local! {
    static CHUNK: RefCell<Vec<u8>> = RefCell::new(vec![0; BUFFER]);
}

/// What one reading of a file's content shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Of the bytes after line ends are normalized.
    pub(crate) sha256: Digest,
    /// Bytes after line ends are normalized.
    pub(crate) size: u64,
    /// Was there a CR on disk, so that the rule mattered?
    pub(crate) has_cr: bool,
    /// Is it a pointer of Git LFS?
    pub(crate) lfs: bool,
    /// Does something stand in it that may be the first mark of a conflict?
    pub(crate) marked: bool,
    /// The bytes after normalization, where they were asked for.
    pub(crate) bytes: Option<Vec<u8>>,
}

enum State {
    /// No CR so far.
    Clean,
    /// CR seen, bytes are bytes.
    Keep,
    /// CR seen, CRLF becomes LF.
    Convert(Converter),
}

struct Sink {
    sha: Sha256,
    size: u64,
    marks: Marks,
    bytes: Option<Vec<u8>>,
}

impl Sink {
    fn push(&mut self, chunk: &[u8]) {
        self.sha.update(chunk);
        self.size += chunk.len() as u64;
        self.marks.push(chunk);
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(chunk);
        }
    }
}

/// Looks for words in a text that comes in chunks.
struct Marks {
    words: &'static [u8],
    /// The end of what came before, in which the words may begin.
    tail: Vec<u8>,
    found: bool,
}

impl Marks {
    fn push(&mut self, chunk: &[u8]) {
        if self.found {
            return;
        }
        let most = self.words.len() - 1;
        self.tail.extend_from_slice(&chunk[..chunk.len().min(most)]);
        self.found = memmem::find(&self.tail, self.words).is_some() || memmem::find(chunk, self.words).is_some();
        if chunk.len() >= most {
            self.tail.clear();
            self.tail.extend_from_slice(&chunk[chunk.len() - most..]);
        } else {
            self.tail.drain(..self.tail.len().saturating_sub(most));
        }
    }
}

/// How a conflict begins that waits for somebody to decide.
const MARK: &[u8] = b"<<<<<<< ";

/// Reads and hashes a file of at most `limit` bytes on disk. `rule` is asked at the first CR alone.
/// With `keep` the bytes are given back too. Errors: those of reading, those of `rule`, and
/// [`io::ErrorKind::FileTooLarge`].
pub(crate) fn file(
    file: &mut File,
    limit: u64,
    keep: bool,
    rule: impl FnOnce() -> io::Result<Rule>,
) -> io::Result<Facts> {
    CHUNK.with_borrow_mut(|buffer| read(file, limit, keep, rule, buffer))
}

fn read(
    file: &mut File,
    limit: u64,
    keep: bool,
    rule: impl FnOnce() -> io::Result<Rule>,
    buffer: &mut [u8],
) -> io::Result<Facts> {
    let marks = Marks { words: MARK, tail: Vec::new(), found: false };
    let mut sink = Sink { sha: Sha256::new(), size: 0, marks, bytes: keep.then(Vec::new) };
    let mut state = State::Clean;
    let mut rule = Some(rule);
    let mut lfs = false;
    let mut done = 0u64;
    loop {
        let n = match file.read(buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let mut chunk = &buffer[..n];
        lfs |= done == 0 && chunk.starts_with(LFS);
        done += n as u64;
        if done > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if matches!(state, State::Clean)
            && let Some(at) = memchr(b'\r', chunk)
        {
            sink.push(&chunk[..at]);
            chunk = &chunk[at..];
            let said = rule.take().map_or(Ok(Rule::Keep), |ask| ask())?;
            let convert = match said {
                Rule::Keep => false,
                Rule::Convert => true,
                Rule::Auto => is_text(file, done, limit)?,
            };
            state = if convert { State::Convert(Converter::default()) } else { State::Keep };
        }
        match &mut state {
            State::Clean | State::Keep => sink.push(chunk),
            State::Convert(converter) => converter.push(chunk, &mut |b| sink.push(b)),
        }
    }
    if let State::Convert(converter) = &mut state {
        converter.finish(&mut |b| sink.push(b));
    }
    Ok(Facts {
        sha256: Digest::from_bytes(sink.sha.finalize().into()),
        size: sink.size,
        has_cr: !matches!(state, State::Clean),
        lfs,
        marked: sink.marks.found,
        bytes: sink.bytes,
    })
}

/// Looks through the whole file, then goes back to where reading stopped. Only files with CR under
/// `text=auto` are read twice.
fn is_text(file: &mut File, at: u64, limit: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut test = TextTest::default();
    let mut buffer = vec![0; BUFFER];
    let mut whole = (&mut *file).take(limit);
    loop {
        match whole.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => test.push(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    file.seek(SeekFrom::Start(at))?;
    Ok(test.is_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn facts(bytes: &[u8], rule: Rule) -> Facts {
        let mut f = tempfile::tempfile().unwrap();
        f.write_all(bytes).unwrap();
        f.rewind().unwrap();
        file(&mut f, 1 << 20, true, || Ok(rule)).unwrap()
    }

    #[test]
    fn the_rule_decides_over_crlf() {
        let long = [vec![b'x'; BUFFER - 1], b"\r\nend\r\n".to_vec()].concat();
        let lf = [vec![b'x'; BUFFER - 1], b"\nend\n".to_vec()].concat();
        for (rule, wanted) in [(Rule::Keep, &long), (Rule::Convert, &lf), (Rule::Auto, &lf)] {
            let got = facts(&long, rule);
            assert_eq!((got.sha256, got.size), (Digest::of(wanted), wanted.len() as u64), "{rule:?}");
            assert_eq!(got.bytes.as_ref(), Some(wanted));
            assert!(got.has_cr);
        }
        let binary = b"a\r\n\0b";
        assert_eq!(facts(binary, Rule::Auto).sha256, Digest::of(binary));
    }

    #[test]
    fn every_byte_value_and_no_byte() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(facts(&all, Rule::Auto).sha256, Digest::of(&all));
        assert_eq!(facts(b"", Rule::Convert).sha256, Digest::of(b""));
        assert!(!facts(b"a\n", Rule::Convert).has_cr);
    }

    #[test]
    fn a_mark_is_found_wherever_chunks_end() {
        for at in [0, 1, BUFFER - 8, BUFFER - 7, BUFFER - 1, BUFFER, 2 * BUFFER - 3] {
            for end in [&b""[..], b"x", b"\r\n"] {
                let text = [vec![b'x'; at], MARK.to_vec(), end.to_vec()].concat();
                assert!(facts(&text, Rule::Convert).marked, "{at}");
                assert!(!facts(&text[..at + MARK.len() - 1], Rule::Convert).marked, "{at}");
            }
        }
        // Each CR ends a chunk.
        assert!(facts(b"a\r\nb\r\n\r\n<<<<<<< file\r\n", Rule::Convert).marked);
        assert!(!facts(b"<<<<\r\n<<<< file\r\n", Rule::Convert).marked);
    }

    #[test]
    fn bounds_and_pointers() {
        assert!(facts(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", Rule::Keep).lfs);
        let mut f = tempfile::tempfile().unwrap();
        f.write_all(b"12345").unwrap();
        f.rewind().unwrap();
        assert_eq!(file(&mut f, 4, false, || Ok(Rule::Keep)).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}

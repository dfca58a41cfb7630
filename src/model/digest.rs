//! Digests and the canonical JSON they are taken over (RFC 8785).

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A SHA-256, written `sha256:` and 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of the canonical JSON of a value.
    pub fn of_json<T: serde::Serialize + ?Sized>(value: &T) -> Self {
        Self::of(&canonical_json(value))
    }

    /// From the 32 bytes of a finished hash.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hex digits without the `sha256:` in front.
    pub fn hex(&self) -> String {
        let mut out = String::with_capacity(64);
        for b in self.0 {
            out.push(char::from(b"0123456789abcdef"[usize::from(b >> 4)]));
            out.push(char::from(b"0123456789abcdef"[usize::from(b & 15)]));
        }
        out
    }

    /// `sha256:` and the first twelve digits, for people.
    pub fn short(&self) -> String {
        format!("sha256:{}", &self.hex()[..12])
    }
}

/// A digest over pieces that are never together.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all pieces in a row.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// RFC 8785 JSON: sorted keys, shortest numbers, no blanks. Values here always serialize: no map has a
/// key that is not a text and no number is infinite, as `serde_json::Value` cannot hold one.
pub fn canonical_json<T: serde::Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(&value).unwrap_or_default()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: write sha256: and 64 lower-case hex digits")]
pub struct DigestError(String);

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(s: &str) -> Result<Self, DigestError> {
        let bad = || DigestError(s.chars().take(80).collect());
        let hex = s.strip_prefix("sha256:").ok_or_else(bad)?.as_bytes();
        if hex.len() != 64 {
            return Err(bad());
        }
        let nibble = |c: u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let mut out = [0; 32];
        for (i, pair) in hex.chunks_exact(2).enumerate() {
            let (Some(hi), Some(lo)) = (nibble(pair[0]), nibble(pair[1])) else { return Err(bad()) };
            out[i] = hi << 4 | lo;
        }
        Ok(Self(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_changes_no_digest() {
        let a: serde_json::Value = serde_json::from_str(r#"{"b":[1,2.0],"a":"é"}"#).unwrap();
        let b: serde_json::Value = serde_json::from_str(r#"{"a":"\u00e9","b":[1.0,2]}"#).unwrap();
        assert_eq!(canonical_json(&a), "{\"a\":\"é\",\"b\":[1,2]}".as_bytes());
        assert_eq!(Digest::of_json(&a), Digest::of_json(&b));
    }

    #[test]
    fn text_round_trip() {
        let d = Digest::of(b"");
        assert_eq!(d.to_string(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(d.to_string().parse::<Digest>().unwrap(), d);
        assert!("sha256:E3".parse::<Digest>().is_err());
    }
}

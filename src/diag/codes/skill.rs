//! Codes of `skill`.

codes! {}

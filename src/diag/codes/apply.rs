//! Codes of `apply`.

codes! {}

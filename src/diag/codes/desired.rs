//! Codes of `desired`.

codes! {}

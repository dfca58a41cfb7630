//! Codes of `cli`.

codes! {}

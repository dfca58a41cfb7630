//! Codes of `plan`.

codes! {}

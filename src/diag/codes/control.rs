//! Codes of `control`.

codes! {}

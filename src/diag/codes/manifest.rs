//! Codes of `manifest`.

codes! {}

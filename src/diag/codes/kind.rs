//! Codes of `kind`.

codes! {}

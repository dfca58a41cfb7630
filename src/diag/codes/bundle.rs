//! Codes of `bundle`.

codes! {}

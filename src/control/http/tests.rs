//! Laws of the codec.

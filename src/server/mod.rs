//! The workspace over HTTP.

pub mod openapi;

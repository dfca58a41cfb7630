//! Laws of the codec: what is encoded and decoded again is what it was, for every variant.

mod errors;
mod headers;
mod refused;
mod requests;
mod responses;
mod routes;
mod samples;

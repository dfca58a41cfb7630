//! The workspace over HTTP: routes from the OPERATIONS table; decode, authorize, call, encode.

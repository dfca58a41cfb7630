//! A workspace behind a server: each operation one HTTP request, sent again only where that is safe.

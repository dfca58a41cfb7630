//! The `checkfu` command.
fn main() {}

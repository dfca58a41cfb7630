//! A remark on a line of a file, which a code host shows beside it.

/// How grave a remark is; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The run fails by it.
    Error,
    /// It should be looked at.
    Warning,
    /// Told.
    Notice,
}

/// A remark on a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// How grave.
    pub level: Level,
    /// Path from the top of the repository, with `/`; absent: of the whole run.
    pub file: Option<String>,
    /// From 1; 0 without a line.
    pub line: u32,
    /// From 1; 0 without a column.
    pub column: u32,
    /// Code of the table, as `manifest.unknown_key`, or the id of an action.
    pub code: String,
    /// A few words.
    pub title: String,
    /// One or more sentences; may hold text of users.
    pub message: String,
}

//! Is the database whole? For `doctor`; no operation of the workspace.

use crate::control::ControlError;
use crate::control::embedded::Embedded;
use crate::store::StoreError;

impl Embedded {
    /// What SQLite's quick check finds, a line each; empty: the database is whole. Reads every page.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn integrity(&self) -> Result<Vec<String>, ControlError> {
        let check = || -> Result<Vec<String>, StoreError> {
            let conn = self.inner.database.reader()?;
            let mut rows = conn.prepare("PRAGMA quick_check(20)")?;
            let found: Result<Vec<String>, _> = rows.query_map([], |row| row.get(0))?.collect();
            Ok(found?)
        };
        let found = check()?;
        Ok(if found == ["ok"] { Vec::new() } else { found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::embedded::EmbeddedOptions;

    #[test]
    fn a_new_workspace_is_whole_and_a_damaged_page_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.db");
        let open = || Embedded::open(&path, EmbeddedOptions::seeded(1));
        assert_eq!(open().unwrap().integrity().unwrap(), Vec::<String>::new());
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 4_096;
        bytes[last..].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        // Found when it is opened, or by the check.
        assert!(open().map_or(true, |w| w.integrity().map_or(true, |found| !found.is_empty())));
    }
}

//! The epoch of the workspace, as the database says now.

use crate::store::{Conn, Result};

/// Drawn anew by a restore.
pub(crate) fn get(conn: &Conn) -> Result<String> {
    Ok(conn.prepare_cached("SELECT epoch FROM workspace")?.query_row([], |r| r.get(0))?)
}

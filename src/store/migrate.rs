//! Numbered migrations, each with its checksum in a table; a newer schema is refused.

use rusqlite::{Connection, params};

use crate::model::Digest;
use crate::store::error::{StoreError, Trouble};

/// `ckfu`: says in the file's header that it is a workspace.
pub(super) const APPLICATION_ID: u32 = 0x636b_6675;

/// Every migration, in order; the number is its place, from 1.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_workspace.sql"),
    include_str!("migrations/0002_old_answers.sql"),
    include_str!("migrations/0003_journal.sql"),
    include_str!("migrations/0004_tokens.sql"),
    include_str!("migrations/0005_memory_versions_and_files.sql"),
    include_str!("migrations/0006_lists.sql"),
    include_str!("migrations/0007_offers.sql"),
];

/// The schema that this program writes.
pub(super) fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Brings the schema of an open database to the newest, in one transaction, and checks that the migrations it
/// has had are the ones that this program knows.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    migrate_to(conn, newest())
}

/// The same up to one of them.
pub(super) fn migrate_to(conn: &mut Connection, to: u32) -> Result<(), StoreError> {
    let have: u32 = conn.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    if have > newest() {
        return Err(StoreError::new(
            Trouble::Newer,
            format!("the workspace has schema {have}, this checkfu knows up to {}", newest()),
        ));
    }
    if have > 0 {
        check(conn, have)?;
    }
    if have >= to {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL) STRICT",
    )?;
    for (at, text) in MIGRATIONS.iter().enumerate().take(to as usize).skip(have as usize) {
        tx.execute_batch(text)?;
        tx.execute(
            "INSERT INTO migration (number, checksum) VALUES (?1, ?2)",
            params![at + 1, Digest::of(text.as_bytes())],
        )?;
    }
    tx.pragma_update(None, "user_version", to)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.commit()?;
    Ok(())
}

/// Has a database an older schema than this program reads? A newer one was refused when the file was looked at.
pub(super) fn is_older(conn: &Connection) -> Result<bool, StoreError> {
    let have: u32 = conn.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    check(conn, have)?;
    Ok(have < newest())
}

/// Checks the schema of a database that cannot be written.
pub(super) fn is_newest(conn: &Connection) -> Result<(), StoreError> {
    let have: u32 = conn.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    check(conn, have)?;
    if have == newest() {
        return Ok(());
    }
    let what = format!("the workspace has schema {have}, and cannot be written to bring it to {}", newest());
    Err(StoreError::new(Trouble::ReadOnly, what))
}

fn check(conn: &Connection, have: u32) -> Result<(), StoreError> {
    let mut statement = conn.prepare("SELECT number, checksum FROM migration ORDER BY number")?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, u32>(0)?, r.get::<_, Digest>(1)?)))?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let known = MIGRATIONS.iter().zip(1..).map(|(text, n)| (n, Digest::of(text.as_bytes()))).take(have as usize);
    if rows.into_iter().eq(known) {
        Ok(())
    } else {
        Err(StoreError::new(
            Trouble::Damaged,
            "the workspace was made by migrations other than the ones that this checkfu knows",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the first schemas had of memories: rows by path, without versions of their own.
    const BEFORE: &str = "
        INSERT INTO version VALUES ('s', 4, '4', x'00', 't4', 'eve');
        INSERT INTO memory VALUES ('s', '/a', 1, 2, 'mem_1', zeroblob(32), 1, 'ann', 'api', NULL, 't1');
        INSERT INTO memory VALUES ('s', '/a', 2, 3, 'mem_1', zeroblob(32), 2, 'sesn', 'session', NULL, 't2');
        INSERT INTO memory VALUES ('s', '/b', 3, 4, 'mem_1', zeroblob(32), 2, 'ann', 'api', 'acme/a', 't3');
        INSERT INTO memory VALUES ('s', '/c', 3, NULL, 'mem_2', zeroblob(32), 3, 'ann', 'api', NULL, 't3');
    ";

    /// A database of a schema, with rows.
    fn of(schema: u32, rows: &str) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE migration (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL) STRICT")
            .unwrap();
        for (number, text) in (1..=schema).zip(MIGRATIONS) {
            conn.execute_batch(text).unwrap();
            let row = params![number, Digest::of(text.as_bytes())];
            conn.execute("INSERT INTO migration (number, checksum) VALUES (?1, ?2)", row).unwrap();
        }
        conn.execute_batch(rows).unwrap();
        conn.pragma_update(None, "user_version", schema).unwrap();
        conn
    }

    fn texts(conn: &Connection, sql: &str) -> Vec<String> {
        let mut rows = conn.prepare(sql).unwrap();
        rows.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Two applies of schema 6: the first makes an agent and a skill, the second changes the agent, replaces the skill
    /// and makes and retires a store. Then the agent is changed beside any apply, and a tree is given up.
    const JOURNAL: &str = "
        INSERT INTO document VALUES (x'01', '{}'), (x'02', '{}'), (x'03', '{}'), (x'04', '{}'), (x'05', '{}'),
                                    (x'06', '{}');
        INSERT INTO resource (id, kind, name, body, version, state, created_at, updated_at, number, owner, address,
                              protected, superseded, seq, since, applied, unowned)
        VALUES ('agent_1', 'Agent', 'a', x'01', 3, 'live', 't', 't', 3, 'acme/a', 'Agent/a', 1, 0, 1, 2, x'06', '[]'),
               ('skill_1', 'Skill', 's', x'01', 1, 'deleted', 't', 't', 1, NULL, NULL, 0, 0, 1, 3, NULL, '[]'),
               ('skill_2', 'Skill', 's', x'01', 1, 'live', 't', 't', 1, 'acme/a', 'Skill/s', 0, 0, 1, 7, x'04', '[]'),
               ('ftree_1', 'FileTree', 't', x'01', 1, 'live', 't', 't', 1, NULL, NULL, 0, 0, 2, 3, NULL, '[]');
        INSERT INTO apply (id, owner, actor, plan_digest, source, addresses, began_at)
        VALUES ('apply_1', 'acme/a', 'ci', x'00', '{}', '[]', 't'), ('apply_2', 'acme/a', 'ci', x'00', '{}', '[]', 't');
        INSERT INTO fact (seq, at, operation, actor, actor_kind, apply, resource, fields)
        VALUES (1, 't', 'applies.begin', 'ci', 'api', NULL, 'apply_1', '[]'),
               (2, 't', 'agents.create', 'ci', 'api', 'apply_1', 'agent_1', '[]'),
               (3, 't', 'skills.create', 'ci', 'api', 'apply_1', 'skill_1', '[]'),
               (4, 't', 'file_trees.create', 'ci', 'api', 'apply_1', 'ftree_1', '[]'),
               (5, 't', 'applies.begin', 'ci', 'api', NULL, 'apply_2', '[]'),
               (6, 't', 'agents.update', 'ci', 'api', 'apply_2', 'agent_1', '[]'),
               (7, 't', 'skills.create', 'ci', 'api', 'apply_2', 'skill_2', '[]'),
               (8, 't', 'skills.delete', 'ci', 'api', 'apply_2', 'skill_1', '[]'),
               (9, 't', 'memory_stores.create', 'ci', 'api', 'apply_2', 'memstore_1', '[]'),
               (10, 't', 'memory_stores.archive', 'ci', 'api', 'apply_2', 'memstore_1', '[]'),
               (11, 't', 'agents.update', 'ann', 'api', NULL, 'agent_1', '[]'),
               (12, 't', 'authoring.release', 'ann', 'api', NULL, 'ftree_1', '[]');
        INSERT INTO receipt_line (apply, seq, action, outcome, operation, id, spec)
        VALUES ('apply_1', 1, 'Agent/a#create', 'done', 'agents.create', 'agent_1', x'01'),
               ('apply_1', 2, 'Skill/s#create', 'done', 'skills.create', 'skill_1', x'02'),
               ('apply_1', 3, 'FileTree/t#create', 'done', 'file_trees.create', 'ftree_1', x'01'),
               ('apply_1', 4, 'owner#policy', 'done', 'authoring.policy', 'acme/a', NULL),
               ('apply_2', 1, 'Agent/a#update', 'done', 'agents.update', 'agent_1', x'03'),
               ('apply_2', 2, 'Skill/s#replace', 'done', 'skills.create', 'skill_2', x'04'),
               ('apply_2', 3, 'Skill/s#retire-skill_1', 'done', 'skills.delete', 'skill_1', x'02'),
               ('apply_2', 4, 'MemoryStore/m#create', 'done', 'memory_stores.create', 'memstore_1', x'05'),
               ('apply_2', 5, 'MemoryStore/m#retire', 'done', 'memory_stores.archive', 'memstore_1', x'05'),
               ('apply_2', 6, 'Agent/b#update', 'stale', 'agents.update', 'agent_9', NULL);
    ";

    #[test]
    fn what_applies_of_schema_6_left_is_what_their_owner_had() {
        let mut conn = of(6, JOURNAL);
        migrate(&mut conn).unwrap();
        let rows = texts(
            &conn,
            "SELECT address || ' ' || fact || ' ' || id || ' ' || coalesce(nullif(hex(spec), ''), '-') || ' ' || protected \
             FROM holding ORDER BY fact, address",
        );
        let wanted = [
            "Agent/a 2 agent_1 01 1",
            "Skill/s 3 skill_1 02 0",
            "FileTree/t 4 ftree_1 01 0",
            "Agent/a 6 agent_1 03 1",
            "Skill/s 7 skill_2 04 0",
            "MemoryStore/m 9 memstore_1 05 0",
            "MemoryStore/m 10 memstore_1 - 0",
            "Agent/a 12 agent_1 06 1",
            "FileTree/t 12 ftree_1 - 0",
        ];
        assert_eq!(rows, wanted);
        assert_eq!(texts(&conn, "SELECT id FROM resource WHERE offered IS NOT NULL"), Vec::<String>::new());
    }

    #[test]
    fn memories_of_the_first_schema_become_versions() {
        let mut conn = of(4, BEFORE);
        migrate(&mut conn).unwrap();
        let rows = texts(
            &conn,
            "SELECT version_id || ' ' || id || ' ' || operation || ' ' || path || ' ' || coalesce(size, '-') || ' ' \
                 || from_version || '..' || coalesce(until_version, '') || ' ' || created_at || ' ' || at || ' ' || actor \
                 FROM memory ORDER BY seq",
        );
        let wanted = [
            "1 mem_1 created /a 1 1..2 t1 t1 ann",
            "2 mem_1 modified /a 2 2..3 t1 t2 sesn",
            "3 mem_1 modified /b 2 3..4 t1 t3 ann",
            "4 mem_2 created /c 3 3.. t3 t3 ann",
            "5 mem_1 deleted /b - 4..4 t1 t4 eve",
        ];
        assert_eq!(rows, wanted.map(|row| format!("memver_{}{row}", "0".repeat(25))));
    }
}

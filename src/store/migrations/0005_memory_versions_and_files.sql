-- A row of `memory` is a version of one memory: who wrote what, and in which MemoryVersions of the store it is.

CREATE TABLE memory_version (
  seq              INTEGER PRIMARY KEY,
  version_id       TEXT NOT NULL,
  store            TEXT NOT NULL,
  id               TEXT NOT NULL,
  operation        TEXT NOT NULL CHECK (operation IN ('created', 'modified', 'deleted')),
  -- Path, content and size go when the version is redacted; a `deleted` one has no content.
  path             TEXT,
  sha256           BLOB,
  size             INTEGER,
  -- It is in MemoryVersion n when from_version <= n and n < until_version: a `deleted` one is in none.
  from_version     INTEGER NOT NULL,
  until_version    INTEGER,
  -- When the memory was made, whatever became of it since.
  created_at       TEXT NOT NULL,
  actor            TEXT NOT NULL,
  actor_kind       TEXT NOT NULL,
  owner            TEXT,
  at               TEXT NOT NULL,
  redacted_at      TEXT,
  redacted_by      TEXT,
  redacted_by_kind TEXT
) STRICT;

-- What was written before versions had ids gets ids that sort before any that are drawn.
INSERT INTO memory_version (version_id, store, id, operation, path, sha256, size, from_version, until_version,
                            created_at, actor, actor_kind, owner, at)
SELECT 'memver_' || printf('%026d', row_number() OVER (ORDER BY store, number, path, operation)),
       store, id, operation, path, sha256, size, number, until_version, created_at, actor, actor_kind, owner, at
FROM (
  SELECT store, id, path, sha256, size, from_version AS number, until_version, actor, actor_kind, owner, at,
         min(at) OVER (PARTITION BY store, id) AS created_at,
         CASE WHEN from_version = min(from_version) OVER (PARTITION BY store, id) THEN 'created' ELSE 'modified' END
           AS operation
  FROM memory
  UNION ALL
  SELECT m.store, m.id, m.path, NULL, NULL, m.until_version, m.until_version, v.actor, 'api', NULL, v.created_at,
         (SELECT min(at) FROM memory f WHERE f.store = m.store AND f.id = m.id), 'deleted'
  FROM memory m JOIN version v ON v.resource = m.store AND v.number = m.until_version
  WHERE NOT EXISTS (SELECT 1 FROM memory n WHERE n.store = m.store AND n.id = m.id AND n.from_version = m.until_version)
)
ORDER BY store, number, path, operation;

DROP TABLE memory;
ALTER TABLE memory_version RENAME TO memory;
CREATE UNIQUE INDEX memory_now ON memory (store, path) WHERE until_version IS NULL;
CREATE UNIQUE INDEX memory_version_id ON memory (version_id);
CREATE INDEX memory_lineage ON memory (store, id, from_version);
CREATE INDEX memory_number ON memory (store, from_version);
CREATE INDEX memory_content ON memory (sha256) WHERE sha256 IS NOT NULL;

-- Files that were uploaded. The digest goes when the file has expired and its bytes are let go of.
CREATE TABLE file (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  filename   TEXT NOT NULL,
  mime_type  TEXT NOT NULL,
  digest     BLOB,
  size       INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  actor      TEXT NOT NULL
) STRICT;
CREATE INDEX file_digest ON file (digest) WHERE digest IS NOT NULL;
CREATE INDEX file_expires ON file (expires_at) WHERE expires_at IS NOT NULL AND digest IS NOT NULL;

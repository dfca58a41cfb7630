-- The workspace: resources, versions, bodies by digest, ownership, journal.

CREATE TABLE workspace (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  id         TEXT NOT NULL,
  epoch      TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

-- JSON by the digest of its canonical form: wire bodies and applied specs.
CREATE TABLE document (
  digest BLOB PRIMARY KEY,
  json   TEXT NOT NULL
) STRICT;

-- File bodies by the digest of their bytes.
CREATE TABLE blob (
  digest BLOB PRIMARY KEY,
  bytes  BLOB NOT NULL
) STRICT;

-- The entries of skills and trees, by the digest over them.
CREATE TABLE file_set (
  digest  BLOB PRIMARY KEY,
  entries TEXT NOT NULL
) STRICT;

-- One row a resource. A deleted one keeps its row: for who holds it, and for the versions that stay readable.
CREATE TABLE resource (
  id              TEXT PRIMARY KEY,
  kind            TEXT NOT NULL,
  name            TEXT NOT NULL,
  body            BLOB NOT NULL REFERENCES document (digest),
  version         INTEGER NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('live', 'archived', 'deleted')),
  created_at      TEXT NOT NULL,
  updated_at      TEXT NOT NULL,
  archived_at     TEXT,
  content         BLOB,
  content_version TEXT,
  number          INTEGER NOT NULL,
  unique_name     TEXT,
  agent           TEXT,
  place           TEXT,
  owner           TEXT,
  address         TEXT,
  protected       INTEGER NOT NULL,
  superseded      INTEGER NOT NULL,
  seq             INTEGER NOT NULL,
  since           INTEGER NOT NULL,
  applied         BLOB REFERENCES document (digest),
  unowned         TEXT NOT NULL,
  applied_digest  BLOB,
  live_digest     BLOB,
  gone            INTEGER
) STRICT;
CREATE UNIQUE INDEX resource_address ON resource (owner, address) WHERE owner IS NOT NULL AND superseded = 0;
CREATE UNIQUE INDEX resource_unique_name ON resource (kind, unique_name) WHERE unique_name IS NOT NULL;
CREATE INDEX resource_owned ON resource (owner, id) WHERE owner IS NOT NULL;
CREATE INDEX resource_unowned ON resource (kind, name) WHERE owner IS NULL AND state = 'live';
CREATE INDEX resource_kind ON resource (kind, id);
CREATE INDEX resource_place ON resource (agent) WHERE place IS NOT NULL;

-- Who refers to whom, by the current bodies of live resources.
CREATE TABLE reference (
  from_id TEXT NOT NULL,
  to_id   TEXT NOT NULL,
  version TEXT NOT NULL,
  follows INTEGER NOT NULL,
  PRIMARY KEY (from_id, to_id, version, follows)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_to ON reference (to_id);

-- Versions that some version of some agent names: they stay readable.
CREATE TABLE named_version (
  version TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Immutable versions: of agents (digest of a document), skills and trees (of a file_set), stores (of the map
-- from path to content).
CREATE TABLE version (
  resource   TEXT NOT NULL,
  number     INTEGER NOT NULL,
  id         TEXT NOT NULL,
  digest     BLOB NOT NULL,
  created_at TEXT NOT NULL,
  actor      TEXT NOT NULL,
  PRIMARY KEY (resource, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_id ON version (id);
CREATE INDEX version_digest ON version (resource, digest);

-- Rows of memory trees: a row is in MemoryVersion n when from_version <= n and n < until_version.
CREATE TABLE memory (
  store         TEXT NOT NULL,
  path          TEXT NOT NULL,
  from_version  INTEGER NOT NULL,
  until_version INTEGER,
  id            TEXT NOT NULL,
  sha256        BLOB NOT NULL,
  size          INTEGER NOT NULL,
  actor         TEXT NOT NULL,
  actor_kind    TEXT NOT NULL,
  owner         TEXT,
  at            TEXT NOT NULL,
  PRIMARY KEY (store, path, from_version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX memory_now ON memory (store, path) WHERE until_version IS NULL;

CREATE TABLE owner (
  owner  TEXT PRIMARY KEY,
  policy TEXT,
  source TEXT,
  undone TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  digest BLOB
) STRICT, WITHOUT ROWID;

-- The last retired id at an address.
CREATE TABLE retired (
  owner   TEXT NOT NULL,
  address TEXT NOT NULL,
  id      TEXT NOT NULL,
  PRIMARY KEY (owner, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
  seq         INTEGER PRIMARY KEY,
  at          TEXT NOT NULL,
  operation   TEXT NOT NULL,
  actor       TEXT NOT NULL,
  actor_kind  TEXT NOT NULL,
  owner       TEXT,
  apply       TEXT,
  resource    TEXT,
  break_glass TEXT,
  fields      TEXT NOT NULL,
  version     INTEGER
) STRICT;
CREATE INDEX fact_resource ON fact (resource, seq) WHERE resource IS NOT NULL;

CREATE TABLE idempotency (
  scope    TEXT NOT NULL,
  key      TEXT NOT NULL,
  request  BLOB NOT NULL,
  resource TEXT,
  answer   TEXT NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE apply (
  id          TEXT PRIMARY KEY,
  owner       TEXT NOT NULL,
  actor       TEXT NOT NULL,
  plan_digest BLOB NOT NULL,
  source      TEXT NOT NULL,
  addresses   TEXT NOT NULL,
  began_at    TEXT NOT NULL,
  ended_at    TEXT,
  outcome     TEXT
) STRICT;
CREATE INDEX apply_owner ON apply (owner, id);

CREATE TABLE receipt_line (
  apply     TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  action    TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  operation TEXT NOT NULL,
  id        TEXT,
  version   INTEGER,
  made      TEXT,
  spec      BLOB,
  error     TEXT,
  PRIMARY KEY (apply, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX receipt_action ON receipt_line (apply, action);

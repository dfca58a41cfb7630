-- Tokens of the API. The secret is nowhere: its hash finds the row.

CREATE TABLE token (
  id         TEXT PRIMARY KEY,
  hash       BLOB NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  owners     TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
) STRICT;

CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL;

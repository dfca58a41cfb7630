-- An Apply knows whether it has written; a fact says what was there before and after; what was retired is found by
-- its id.

ALTER TABLE apply ADD COLUMN wrote INTEGER NOT NULL DEFAULT 0;

ALTER TABLE fact ADD COLUMN address TEXT;
ALTER TABLE fact ADD COLUMN made TEXT;
ALTER TABLE fact ADD COLUMN before BLOB;
ALTER TABLE fact ADD COLUMN after BLOB;
ALTER TABLE fact ADD COLUMN from_version INTEGER;
ALTER TABLE fact ADD COLUMN to_owner TEXT;
ALTER TABLE fact ADD COLUMN to_address TEXT;

ALTER TABLE retired ADD COLUMN fact INTEGER NOT NULL DEFAULT 0;
CREATE INDEX retired_id ON retired (id);

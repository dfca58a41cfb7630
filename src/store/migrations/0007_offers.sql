-- A resource that its owner hands over is offered to another one: it leaves its address at once, and is the other's
-- when that one takes it.

ALTER TABLE resource ADD COLUMN offered TEXT;
ALTER TABLE resource ADD COLUMN offered_at TEXT;

DROP INDEX resource_address;
CREATE UNIQUE INDEX resource_address ON resource (owner, address)
  WHERE owner IS NOT NULL AND superseded = 0 AND offered IS NULL;
CREATE UNIQUE INDEX resource_offered ON resource (offered, offered_at) WHERE offered IS NOT NULL;
-- Who has something at an address, whichever owner it is.
CREATE INDEX resource_at ON resource (address) WHERE address IS NOT NULL;

-- From whom an owner took a resource.
ALTER TABLE fact ADD COLUMN from_owner TEXT;

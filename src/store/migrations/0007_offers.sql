-- A resource that its owner hands over is offered to another one: it leaves its address at once, and is the other's
-- when that one takes it.

ALTER TABLE resource ADD COLUMN offered TEXT;
ALTER TABLE resource ADD COLUMN offered_at TEXT;

DROP INDEX resource_address;
CREATE UNIQUE INDEX resource_address ON resource (owner, address)
  WHERE owner IS NOT NULL AND superseded = 0 AND offered IS NULL;
CREATE INDEX resource_offered ON resource (offered, offered_at) WHERE offered IS NOT NULL;
-- Who has something at an address, whichever owner it is.
CREATE INDEX resource_at ON resource (address) WHERE address IS NOT NULL;

-- From whom an owner took a resource.
ALTER TABLE fact ADD COLUMN from_owner TEXT;

-- What an owner had applied at an address, from an audit fact on; without a spec: nothing any more.
CREATE TABLE holding (
  owner     TEXT NOT NULL,
  address   TEXT NOT NULL,
  fact      INTEGER NOT NULL,
  id        TEXT NOT NULL,
  spec      BLOB REFERENCES document (digest),
  unowned   TEXT NOT NULL,
  protected INTEGER NOT NULL,
  PRIMARY KEY (owner, address, fact)
) STRICT, WITHOUT ROWID;

-- Before, only the lines of applies told it. What was protected and not owned then is taken to be what is now.
CREATE TEMP TABLE old_line AS
SELECT a.owner, substr(l.action, 1, instr(l.action, '#') - 1) AS address, l.id, l.spec,
       l.operation LIKE '%.archive' OR l.operation LIKE '%.delete' OR l.operation = 'authoring.release'
         OR l.operation = 'authoring.hand_over' AS gone,
       coalesce((SELECT max(f.seq) FROM fact f
                 WHERE f.apply = l.apply AND f.resource = l.id AND f.operation = l.operation),
                (SELECT min(f.seq) FROM fact f WHERE f.resource = l.apply)) AS fact,
       l.seq
FROM receipt_line l JOIN apply a ON a.id = l.apply
WHERE l.outcome = 'done' AND l.id IS NOT NULL AND l.spec IS NOT NULL AND instr(l.action, '/') > 0
  AND instr(l.action, '#') > 0 AND EXISTS (SELECT 1 FROM document d WHERE d.digest = l.spec);

INSERT OR REPLACE INTO holding (owner, address, fact, id, spec, unowned, protected)
SELECT o.owner, o.address, o.fact, o.id, o.spec,
       coalesce((SELECT r.unowned FROM resource r WHERE r.id = o.id AND r.applied = o.spec), '[]'),
       coalesce((SELECT r.protected FROM resource r WHERE r.id = o.id AND r.owner = o.owner), 0)
FROM old_line o WHERE NOT o.gone AND o.fact IS NOT NULL ORDER BY o.fact, o.seq;

-- What was replaced before it was retired did not end what was at its address.
INSERT OR REPLACE INTO holding (owner, address, fact, id, spec, unowned, protected)
SELECT o.owner, o.address, o.fact, o.id, NULL, '[]', 0
FROM old_line o
WHERE o.gone AND o.fact IS NOT NULL
  AND o.id = (SELECT h.id FROM holding h WHERE h.owner = o.owner AND h.address = o.address AND h.fact <= o.fact
              ORDER BY h.fact DESC LIMIT 1);
DROP TABLE old_line;

-- What was written beside applies.
INSERT OR REPLACE INTO holding (owner, address, fact, id, spec, unowned, protected)
SELECT r.owner, r.address, (SELECT coalesce(max(seq), 0) FROM fact), r.id, r.applied, r.unowned, r.protected
FROM resource r
WHERE r.owner IS NOT NULL AND r.address IS NOT NULL AND r.applied IS NOT NULL AND r.superseded = 0
  AND (r.id, r.applied) IS NOT (SELECT h.id, h.spec FROM holding h WHERE h.owner = r.owner AND h.address = r.address
                                ORDER BY h.fact DESC LIMIT 1);
INSERT OR REPLACE INTO holding (owner, address, fact, id, spec, unowned, protected)
SELECT h.owner, h.address, (SELECT coalesce(max(seq), 0) FROM fact), h.id, NULL, '[]', 0
FROM holding h
WHERE h.spec IS NOT NULL
  AND h.fact = (SELECT max(l.fact) FROM holding l WHERE l.owner = h.owner AND l.address = h.address)
  AND NOT EXISTS (SELECT 1 FROM resource r WHERE r.owner = h.owner AND r.address = h.address AND r.superseded = 0);

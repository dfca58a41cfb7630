-- What pages of long lists are read by; and versions of skills that were deleted while an agent's version names them.

ALTER TABLE version ADD COLUMN deleted_at TEXT;

-- In an index of its own the rowid follows: an owner's applies in the order in which they began.
DROP INDEX apply_owner;
CREATE INDEX apply_owner ON apply (owner);

CREATE INDEX fact_owner ON fact (owner, seq) WHERE owner IS NOT NULL;
CREATE INDEX fact_apply ON fact (apply, seq) WHERE apply IS NOT NULL;
CREATE INDEX fact_actor ON fact (actor, seq);

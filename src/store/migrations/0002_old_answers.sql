-- Stored answers are let go of by age.

CREATE INDEX idempotency_at ON idempotency (at);

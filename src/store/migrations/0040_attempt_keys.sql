-- The random key of each day for the names in attempt_buckets. Unlogged like them: no log of changes, standby, or backup of
-- the database has it, so old names mean nothing to anyone. Its loss only fills the buckets.
create unlogged table attempt_keys (
  ends_at timestamptz primary key,
  key bytea not null
);

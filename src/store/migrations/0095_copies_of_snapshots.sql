-- Compatible: the previous version copies no snapshots, and leaves the rows alone. Its `hosts lost` does not
-- know copies: the snapshots are lost.
-- Copies of snapshots in the store of files. A row outlives its snapshot until its object is deleted, so it
-- refers to none. A row with due_at is work; real time, on the database's clock.
create table snapshot_copies (
  snapshot_id uuid primary key,
  -- Of the file; null until the host has prepared it.
  size_bytes int8 check (size_bytes > 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  sent_bytes int8 not null default 0,
  -- Since then, the host may have that file, until the store has it.
  prepared_at timestamptz,
  requested_at timestamptz not null default clock_timestamp(),
  -- The store has all of it, and the service relies on that.
  stored_at timestamptz,
  -- Consecutive failures, and the reason of the last one.
  attempts integer not null default 0,
  last_fault text,
  -- While no host has the snapshot: the operation whose host fetches it, the bytes of its attempt, and when
  -- some were new, in business time.
  fetched_by uuid,
  fetched_bytes int8 not null default 0,
  fetch_moved_at timestamptz,
  due_at timestamptz default clock_timestamp(),
  lease_id uuid,
  leased_until timestamptz,
  check (stored_at is null or (size_bytes is not null and sha256 is not null))
);
create index snapshot_copies_due on snapshot_copies (due_at) where due_at is not null;
create index snapshot_copies_prepared on snapshot_copies (snapshot_id) where prepared_at is not null;
create index snapshot_copies_leased on snapshot_copies (lease_id) where lease_id is not null;

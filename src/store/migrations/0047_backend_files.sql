-- Disks and ISO images on their way to other machines. A row without ready_at is work; real time, on the
-- database's clock.
create table backend_files (
  backend text not null references backends,
  kind text not null check (kind in ('disk', 'rescue', 'iso')),
  -- SHA-256 in hex of the image: of the imported file, or of the ISO.
  image_sha256 text not null check (image_sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the file that is sent; null until the first attempt.
  size_bytes int8,
  sent_bytes int8 not null default 0,
  requested_at timestamptz not null default clock_timestamp(),
  -- Since when a server waits for it. Null: it is sent ahead of time.
  awaited_at timestamptz,
  ready_at timestamptz,
  -- Consecutive failures, and the kind and reason of the last one.
  attempts integer not null default 0,
  fault text check (fault in ('host', 'transient', 'refused', 'waiting')),
  last_fault text,
  due_at timestamptz not null default clock_timestamp(),
  lease_id uuid,
  leased_until timestamptz,
  primary key (backend, kind, image_sha256)
);
create index backend_files_due on backend_files (due_at) where ready_at is null;

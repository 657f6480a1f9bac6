-- Compatible: a new table, and columns that the previous version does not read.
-- One row per backup of the database that was written to its configured place, or that failed.
create table database_backups (
  id uuid primary key,
  -- The file's name; null if none was written.
  name text unique,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  size_bytes bigint,
  sha256 text,
  -- When the file was read back, and restored into a scratch database.
  verified_at timestamptz,
  failure text
);
create index database_backups_newest on database_backups (started_at desc, id desc);

-- Set by a restore, and cleared by `skerryd recover`: until then, no worker runs and every change is refused.
alter table service
  add column restored_at timestamptz,
  -- When the backup was made.
  add column restored_from timestamptz,
  -- Whether the restore found address marks of this database outside it.
  add column restored_with_marks bool not null default false,
  -- When the first scheduled backup was due.
  add column backups_since timestamptz;

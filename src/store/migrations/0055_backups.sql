-- Backups on a schedule: snapshots that the service takes and deletes.
alter table snapshots add column type text not null default 'manual' check (type in ('manual', 'backup'));

create table backup_policies (
  server_id uuid primary key references servers on delete cascade,
  enabled bool not null,
  every text not null check (every in ('day', 'week')),
  weekday text check (weekday is not null = (every = 'week')),
  hour_utc int not null check (hour_utc between 0 and 23),
  keep int not null check (keep > 0),
  -- When the next backup starts; null while disabled.
  next_at timestamptz check ((next_at is not null) = enabled),
  -- The backup in progress.
  snapshot_id uuid,
  last_status text check (last_status in ('success', 'error', 'missed')),
  last_at timestamptz check ((last_at is null) = (last_status is null)),
  -- Consecutive backups that were missed or failed.
  misses int not null default 0
);

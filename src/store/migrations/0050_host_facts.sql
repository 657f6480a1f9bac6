-- The latest facts about each host, in real time on the database's clock. No history.
create table host_facts (
  host_id uuid primary key references hosts on delete cascade,
  -- When it last answered, and since when it does not. A host that never answered has no facts.
  seen_at timestamptz,
  away_since timestamptz,
  -- Null on the machine of the service.
  protocol integer,
  latency_ms float8,
  -- Null, like the columns below, if the host's version does not report it.
  version text,
  -- How far its clock is ahead.
  skew_ms float8,
  uptime_s integer,
  cores integer,
  -- Load average per core: 1 is fully busy.
  load float8,
  ram_mb integer,
  ram_available_mb integer,
  disk_gb float8,
  disk_free_gb float8,
  check (seen_at is not null or away_since is not null)
);

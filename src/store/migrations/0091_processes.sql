-- Compatible: the previous version neither reads nor writes the table.
-- The processes that may hold leases. Each holds a shared advisory lock for as long as its session lives, so
-- that the others notice its end.
create table processes (
  -- All its lease ids lie between the two.
  first_lease uuid primary key,
  last_lease uuid not null,
  started_at timestamptz not null default clock_timestamp()
);

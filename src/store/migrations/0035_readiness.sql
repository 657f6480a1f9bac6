-- The row that a readiness check updates, to learn whether the database accepts writes.
create table readiness (
  id integer primary key check (id = 1),
  checked_at timestamptz not null
);
insert into readiness (id, checked_at) values (1, now());

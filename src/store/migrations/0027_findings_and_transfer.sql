-- Looking after machines, and what servers send in a month.

-- What is not as the service wants it, and is not put right by itself. Gone when it is no longer so.
create table findings (
  kind text not null check (kind in ('unknown_machine', 'lost_machine', 'guest_off', 'should_be_off', 'runs_stopped',
                                     'failing_machine')),
  -- The machine, by its name on the host: a server's id, or whatever somebody else gave it.
  subject text not null,
  host text,
  -- What whoever looked said of it.
  says text,
  -- In how many looks in a row it was so. Once may be a moment in which something changes.
  looks int not null default 1,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (kind, subject)
);

-- Work that is due again and again, and done by one process at a time: when the next may take it.
create table beats (
  name text primary key,
  due_at timestamptz not null
);

-- Over its plan's transfer this month, and therefore slow until the next.
alter table servers add column throttled bool not null default false;

-- What each server has sent in the calendar month (UTC) that was counted last. It never falls within a month, though
-- the hours it was added up from are removed by then.
create table transfers_out (
  server_id uuid primary key references servers on delete cascade,
  month date not null,
  bytes bigint not null check (bytes >= 0)
) with (fillfactor = 70);

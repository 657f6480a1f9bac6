-- Compatible: adds tables that the previous version does not read, and columns of the simulator with defaults.
-- Floods of packets to or from a server. No address is stored: the server and the family tell it.
create table floods (
  id           uuid primary key,
  -- Without a reference: a flood outlives the server.
  server_id    uuid not null,
  customer_id  uuid not null references customers,
  direction    text not null check (direction in ('in', 'out')),
  -- Of most packets of the latest sample.
  family       smallint not null check (family in (4, 6)),
  -- Samples in a row above the limit.
  samples      int not null check (samples >= 0),
  peak_packets_per_s bigint not null check (peak_packets_per_s >= 0),
  peak_bits_per_s    bigint not null check (peak_bits_per_s >= 0),
  began_at     timestamptz not null,
  last_seen_at timestamptz not null,
  -- Null: too few samples in a row so far.
  noticed_at   timestamptz,
  ended_at     timestamptz,
  ending       text check (ending in ('stopped', 'server_deleted')),
  -- The latest blackhole because of it, and how many there were.
  blackholed_at   timestamptz,
  blackhole_until timestamptz,
  blackholes      int not null default 0 check (blackholes >= 0),
  lifted_at       timestamptz,
  lifted_by       text check (lifted_by in ('time', 'staff', 'addresses')),
  check ((ended_at is null) = (ending is null)),
  check ((blackholed_at is null) = (blackhole_until is null)),
  check ((lifted_at is null) = (lifted_by is null))
);
create unique index floods_open on floods (server_id, direction) where ended_at is null;
create index floods_noticed on floods (id) where noticed_at is not null;
create index floods_by_customer on floods (customer_id, id);
create index floods_by_server on floods (server_id, id);
create index floods_by_end on floods (ended_at) where ended_at is not null;

-- The servers whose packets are dropped, until then.
create table blackholes (
  server_id uuid primary key references servers on delete cascade,
  ipv4      boolean not null,
  ipv6      boolean not null,
  began_at  timestamptz not null,
  until     timestamptz not null,
  check (ipv4 or ipv6)
);
create index blackholes_by_end on blackholes (until);

alter table sim.machines
  add column flood jsonb,
  add column blackholed int[] not null default '{}';

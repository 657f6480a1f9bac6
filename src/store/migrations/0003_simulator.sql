-- The simulated world outside: what hosts, machines and armed faults the sandbox has. No table of the service
-- refers to these, and the simulator reads nothing of the service's: they share a database, not facts.
create schema if not exists sim;

create table sim.hosts (
  name text primary key,
  cpu integer not null check (cpu > 0),
  ram_mb integer not null check (ram_mb > 0),
  disk_gb integer not null check (disk_gb > 0),
  down boolean not null default false
);

-- All times are business time. The state is read off them: stopped from off_at on, else installing until
-- install_ends_at, else running. A shutdown under way is an off_at in the future.
create table sim.machines (
  id text primary key,
  host text not null references sim.hosts (name),
  cpu integer not null check (cpu > 0),
  ram_mb integer not null check (ram_mb > 0),
  disk_gb integer not null check (disk_gb > 0),
  installed jsonb not null,
  booted_at timestamptz not null,
  install_ends_at timestamptz not null,
  off_at timestamptz,
  deaf boolean not null default false
);
create index machines_host on sim.machines (host);
create index machines_install_ends_at on sim.machines (install_ends_at) where off_at is null;
create index machines_off_at on sim.machines (off_at) where off_at is not null;

create table sim.faults (
  driver text not null,
  operation text not null,
  remaining bigint not null check (remaining >= 0),
  primary key (driver, operation)
);

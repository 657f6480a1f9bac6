-- Servers that leave their host for another one, and copies that are still to be deleted.
create table moves (
  -- No foreign key: a copy outlives its server until its host has deleted it.
  server_id uuid primary key,
  -- Of this attempt. The key of its transfer is derived from it.
  id uuid not null unique,
  key_id text,
  -- queued; copying: the source has the machine; kept: so it stays, and the target's copy has to go;
  -- switched: the target has the machine; moved: it runs there, and the source's copy has to go.
  state text not null check (state in ('queued', 'copying', 'kept', 'switched', 'moved')),
  from_host uuid not null references hosts,
  -- The only host that the operator wants it on.
  wanted_host uuid references hosts,
  to_host uuid references hosts,
  -- What the host that does not have the machine reserves for it.
  ram_mb int not null default 0,
  disk_gb int not null default 0,
  -- Volumes that move with it.
  volume_ids uuid[] not null default '{}',
  copied_bytes bigint not null default 0,
  total_bytes bigint not null default 0,
  -- Failed moves, and the hosts that they were to.
  attempts int not null default 0,
  tried_hosts uuid[] not null default '{}',
  last_fault text,
  created_at timestamptz not null,
  started_at timestamptz,
  check ((state = 'queued') = (to_host is null)),
  check ((to_host is null) = (key_id is null))
) with (fillfactor = 70);
create index moves_by_source on moves (from_host);
create index moves_by_target on moves (to_host) where to_host is not null;
create index moves_by_wanted_host on moves (wanted_host) where wanted_host is not null;

-- How many servers leave it at a time.
alter table hosts add column concurrent_moves int not null default 2
  check (concurrent_moves between 1 and 32);

alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in
  ('provision', 'destroy', 'stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore', 'suspend', 'move'));

-- The simulated hosts' own view of a move. Rows stay, so that a late call of an ended move is recognized.
create table sim.moves (
  id text primary key,
  machine_id text not null,
  from_host text not null,
  to_host text not null,
  cpu integer not null,
  ram_mb integer not null,
  disk_gb integer not null,
  volumes_gb integer not null,
  key_sha256 text not null,
  -- `runs`: kept by the source, or taken over by the target.
  source text not null default 'idle' check (source in ('idle', 'sending', 'runs', 'gone')),
  target text not null default 'waiting' check (target in ('waiting', 'runs', 'gone')),
  started_at timestamptz,
  ends_at timestamptz,
  check (source <> 'runs' or target <> 'runs')
);
create index moves_to_host on sim.moves (to_host) where target = 'waiting';
create index moves_from_host on sim.moves (from_host) where target = 'runs' and source <> 'gone';

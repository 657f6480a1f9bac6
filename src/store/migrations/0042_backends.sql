-- Other machines that run servers. The machine that the service runs on has no row: it is 'local'.
create table backends (
  name text primary key check (name <> 'local'),
  kind text not null check (kind in ('host')),
  -- Host name or IP address, and port.
  address text not null,
  -- SHA-256 in hex of the only certificate that it may present.
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  region_id text not null references regions,
  -- A revoked backend is never called again; what it has stays on record.
  state text not null check (state in ('active', 'revoked')),
  created_at timestamptz not null
);

-- The identity of the control plane towards hosts. All processes use the oldest.
create table control_plane_identities (
  id uuid primary key,
  -- PEM.
  certificate text not null,
  key_sealed text not null,
  created_at timestamptz not null
);

-- Numbers of calls, by which a host recognizes late ones.
create sequence backend_calls;

-- Null: the machine that the service runs on.
alter table hosts add column backend text references backends (name);
create index hosts_by_backend on hosts (backend) where backend is not null;

-- Which backend has what. Written before the first call that may create it there, deleted after its removal.
-- What has no row is local or nowhere.
create table placed_resources (
  kind text not null check (kind in ('machine', 'volume', 'snapshot')),
  id text not null,
  backend text not null,
  primary key (kind, id)
);
create index placed_resources_by_backend on placed_resources (backend) where backend <> 'local';

-- Volumes have a row from their first attachment on: a backend creates the volume that it does not find.
insert into placed_resources (kind, id, backend)
select 'volume', id::text, 'local' from volumes where disk_gb > 0;

-- The simulated hypervisor, whole: disk generations, rescue, filters, volumes, snapshots, hours of load. All times
-- are business time; no state is stored that can be read off them.

alter table sim.machines
  -- The disk it runs on, and those that go when the install on it is done.
  add column generation integer not null default 1 check (generation > 0),
  add column old_generations integer[] not null default '{}',
  -- Set while it runs the rescue system. An install waits for as long.
  add column rescue_at timestamptz,
  add column rescue_password_sha256 text,
  add column filter jsonb,
  -- When it was last switched on, and the times that it was on before (of the last weeks only).
  add column on_since timestamptz,
  add column was_on tstzmultirange not null default '{}';
update sim.machines set on_since = booted_at, installed = jsonb_set(installed, '{image,iso}', 'null');
alter table sim.machines alter column on_since set not null;

drop index sim.machines_install_ends_at;
create index machines_install_ends_at on sim.machines (install_ends_at)
  where off_at is null and rescue_at is null;

create table sim.volumes (
  id text primary key,
  size_gb integer not null check (size_gb > 0)
);

-- Apart from the volumes, so that a machine that goes takes them along and leaves the volumes.
create table sim.attachments (
  volume_id text primary key references sim.volumes (id) on delete cascade,
  machine_id text not null references sim.machines (id) on delete cascade,
  device text not null,
  unique (machine_id, device)
);

-- Survive their machine. Creating until ready_at, then ready; or failed.
create table sim.snapshots (
  id text primary key,
  machine_id text not null,
  disk_gb integer not null check (disk_gb > 0),
  size_gb double precision not null check (size_gb > 0),
  installed jsonb not null,
  ready_at timestamptz not null,
  failed boolean not null
);
create index snapshots_machine on sim.snapshots (machine_id);
create index snapshots_ready_at on sim.snapshots (ready_at) where not failed;

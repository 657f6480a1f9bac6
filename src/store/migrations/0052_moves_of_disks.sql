-- Detached volumes and snapshots leave their host for another one, too.
alter table moves
  -- What moves. `server_id` has the id of the server, or of the volume or snapshot.
  add column kind text not null default 'server' check (kind in ('server', 'volume', 'snapshot')),
  -- Since when its hosts have failed to continue the copy of a volume or snapshot.
  add column failing_since timestamptz;

-- The host that has the snapshot. Null if it is shared, if its machine is no host, and once nothing of it
-- is left.
alter table snapshots add column host_id uuid references hosts on delete set null;
update snapshots n
   set host_id = coalesce(
     (select h.id from placed_resources p join hosts h on h.backend = p.backend
       where p.kind = 'snapshot' and p.id = n.id::text order by h.name limit 1),
     (select h.id from servers s join hosts h on h.id = s.host_id
       where s.id = n.server_id and (h.backend is null or n.status = 'creating')),
     (select h.id from hosts h where h.backend is null and h.region_id = n.region_id order by h.name limit 1))
 where n.status <> 'error' and n.lost_at is null and not n.shared;
create index snapshots_by_host on snapshots (host_id) where host_id is not null;

-- Where simulated volumes and snapshots are. Null until that matters.
alter table sim.volumes add column host text;
alter table sim.snapshots add column host text;

-- The simulated hosts' own view of a move of a volume or snapshot. Rows stay, like those of machines.
create table sim.disk_moves (
  id text primary key,
  kind text not null check (kind in ('volume', 'snapshot')),
  disk_id text not null,
  from_host text not null,
  to_host text not null,
  size_gb double precision not null,
  key_sha256 text not null,
  -- `has`: kept by the source, or taken over by the target.
  source text not null default 'idle' check (source in ('idle', 'sending', 'has', 'gone')),
  target text not null default 'waiting' check (target in ('waiting', 'has', 'gone')),
  started_at timestamptz,
  ends_at timestamptz,
  check (source <> 'has' or target <> 'has')
);
create index disk_moves_of_disk on sim.disk_moves (disk_id);

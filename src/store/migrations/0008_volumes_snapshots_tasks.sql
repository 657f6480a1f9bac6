-- Volumes, snapshots, and the work that is no operation on a server.

-- What must be ensured with a driver: the handler of the kind reads the wanted state of the subject from its own tables.
-- A finished task is deleted.
create table tasks (
  kind text not null,
  subject uuid not null,
  -- Raised with every new wish, so that a holder who began before it does not finish the task.
  revision int not null default 1,
  -- Times in a row that it failed.
  attempts int not null default 0,
  due_at timestamptz not null,
  lease_id uuid,
  leased_until timestamptz,
  primary key (kind, subject)
) with (fillfactor = 70);
create index tasks_due on tasks (due_at);
create index tasks_by_lease on tasks (lease_id) where lease_id is not null;

create table volumes (
  id uuid primary key,
  customer_id uuid not null references customers,
  name text not null,
  size_gb int not null check (size_gb between 10 and 4096),
  region_id text not null references regions,
  encrypted bool not null,
  filesystem text,
  -- What the customer was told. A driver may still have it where it was before: volume_changes.
  server_id uuid,
  device text,
  -- Disk taken: 0 until the first attachment, then its size, until the driver confirmed its removal.
  disk_gb int not null default 0 check (disk_gb in (0, size_gb)),
  -- Whose disk that is; null for the disks of a dedicated machine, which nobody shares.
  host_id uuid references hosts,
  -- Deleted as its customer sees it; the row goes when the driver has removed it.
  deleted_at timestamptz,
  created_at timestamptz not null,
  check ((server_id is null) = (device is null)),
  check (host_id is null or disk_gb > 0),
  check (deleted_at is null or server_id is null)
) with (fillfactor = 80);
create index volumes_by_customer on volumes (customer_id, created_at desc, id desc);
create unique index volumes_by_server on volumes (server_id, device) where server_id is not null;
create index volumes_by_host on volumes (host_id) where host_id is not null;

-- Attachments and detachments that were answered to the customer and not yet confirmed by the driver, in order. Until
-- then the device counts as taken, and the event waits.
create table volume_changes (
  volume_id uuid not null references volumes on delete cascade,
  seq bigint generated always as identity,
  event text not null check (event in ('volume.attached', 'volume.detached')),
  -- Where it was attached to, or detached from.
  server_id uuid not null,
  device text not null,
  primary key (volume_id, seq)
);
create index volume_changes_by_server on volume_changes (server_id);

create table snapshots (
  id uuid primary key,
  customer_id uuid not null references customers,
  -- It outlives its server.
  server_id uuid not null,
  region_id text not null references regions,
  -- Size of the server's disk: where it is restored there must be as much.
  disk_gb int not null,
  image_id uuid not null,
  -- The disk of the server that was meant; of another, as a rebuild makes it, no snapshot may begin.
  generation int not null,
  begun bool not null default false,
  name text not null,
  -- GiB after deduplication; 0 until ready.
  size_gb numeric(12, 2) not null default 0 check (size_gb >= 0),
  status text not null check (status in ('creating', 'ready', 'error')),
  expires_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 80);
-- A server has few, a customer any number of them: servers come and go, snapshots stay.
create index snapshots_by_customer on snapshots (customer_id, created_at desc, id desc);
create index snapshots_by_name on snapshots (customer_id, name, id);
create index snapshots_of_name on snapshots (customer_id, name, created_at desc, id desc);
create index snapshots_by_server on snapshots (customer_id, server_id, created_at desc, id desc);
create index snapshots_by_status on snapshots (customer_id, status, created_at desc, id desc);
create index snapshots_by_status_name on snapshots (customer_id, status, name, id);

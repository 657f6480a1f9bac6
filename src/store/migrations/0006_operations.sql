-- Everything that can be done to a server: power, rebuild, restore, rescue; and the disk it runs on.

alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in
  ('provision', 'destroy', 'stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore'));

alter table operations
  -- What the work needs beside the server's row (a rescue password's hash, what a rebuild replaced), sealed.
  add column payload_sealed text,
  -- What is restored: a snapshot with such an operation must stay. No foreign key, for whoever deletes a snapshot looks
  -- here first, under its lock, and refuses with a reason.
  add column snapshot_id uuid;
alter table operations add constraint operations_restore check ((kind = 'restore') = (snapshot_id is not null));
create index operations_by_snapshot on operations (snapshot_id) where snapshot_id is not null;

alter table servers
  -- Which disk the machine runs on: a rebuild or restore makes the next one.
  add column generation int not null default 1 check (generation >= 1),
  -- The texts behind `ssh_keys`, in their order, as they were when they were chosen: keys may be deleted later.
  add column ssh_public_keys text[] not null default '{}';

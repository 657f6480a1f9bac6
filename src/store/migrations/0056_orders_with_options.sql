-- Created with `start: false`, and not started since.
alter table servers add column never_started boolean not null default false;

-- A first install from a snapshot, too. A failed one keeps it until the server is removed.
alter table operations drop constraint operations_restore;
alter table operations add constraint operations_restore check (
  case when kind = 'restore' then snapshot_id is not null
       else snapshot_id is null or kind in ('provision', 'destroy') end);

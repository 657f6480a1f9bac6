-- Protection of a customer's resources against their own calls.
alter table servers
  add column protect_delete boolean not null default false,
  -- Also against a restore: both replace the disk.
  add column protect_rebuild boolean not null default false;
alter table volumes add column protect_delete boolean not null default false;
alter table snapshots add column protect_delete boolean not null default false;

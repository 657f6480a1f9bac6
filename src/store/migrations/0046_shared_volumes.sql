-- Where new volumes of a region are: on the disk of the host that they are first attached on, or on storage
-- that the hosts of the region share. A volume stays where it was created.
alter table regions add column volume_storage text not null default 'local'
  check (volume_storage in ('local', 'shared'));
alter table volumes add column shared boolean not null default false;
-- A shared volume uses no host's disk.
alter table volumes add constraint shared_volumes_have_no_host check (not shared or host_id is null) not valid;

-- Where the disks of new servers of a region are: on their host, or on storage that the hosts of the region
-- share. A server stays where it was created, and so does a snapshot. A shared disk uses no host's disk.
alter table regions add column disk_storage text not null default 'local'
  check (disk_storage in ('local', 'shared'));
alter table servers add column shared_disk boolean not null default false;
alter table snapshots add column shared boolean not null default false;
alter table sim.machines add column shared_disk boolean not null default false;

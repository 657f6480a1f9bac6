-- Where a server is placed, next to region, memory, and disk.
alter table hosts
  -- Properties that plans may ask for, such as nvme.
  add column tags text[] not null default '{}',
  -- Kept free of new servers and volumes, for servers that leave other hosts.
  add column reserve_ram_mb int not null default 0 check (reserve_ram_mb >= 0),
  add column reserve_disk_gb int not null default 0 check (reserve_disk_gb >= 0);

-- Servers of the plan are placed on hosts that have all of these tags.
alter table plans add column host_tags text[] not null default '{}';

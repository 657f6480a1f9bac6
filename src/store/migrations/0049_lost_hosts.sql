-- Hosts that do not come back. Their servers are refunded, or installed again on other hosts.
alter table hosts
  add column lost_at timestamptz,
  add column lost_servers text check (lost_servers in ('refund', 'rebuild')),
  -- The operator's word that the machine is off for good: nothing uses its addresses any more.
  add column fenced_at timestamptz,
  add constraint lost_hosts_have_a_choice check ((lost_at is null) = (lost_servers is null)) not valid,
  add constraint only_lost_hosts_are_fenced check (fenced_at is null or lost_at is not null) not valid;

-- The lost host that may still use the address. Nothing gets it until that host is fenced.
alter table ipv4_addresses add column held_by uuid references hosts;
alter table ipv6_prefixes add column held_by uuid references hosts;
create index ipv4_addresses_held on ipv4_addresses (held_by) where held_by is not null;
create index ipv6_prefixes_held on ipv6_prefixes (held_by) where held_by is not null;

-- When the host was lost that had its data.
alter table volumes add column lost_at timestamptz;
alter table snapshots add column lost_at timestamptz;

-- Who had an address when: reports of abuse name an address and a time, often weeks later.
create table address_assignments (
  -- One IPv4 address, or a /64.
  address     cidr not null,
  -- Without a reference: the row outlives the server.
  server_id   uuid not null,
  customer_id uuid not null references customers,
  assigned_at timestamptz not null,
  -- Null: the server has it.
  released_at timestamptz,
  expires_at  timestamptz,
  primary key (address, assigned_at, server_id),
  check ((released_at is null) = (expires_at is null))
);
create index address_assignments_current on address_assignments (server_id) where released_at is null;
create index on address_assignments (customer_id, assigned_at);
create index on address_assignments (expires_at);

-- A server that was installed again elsewhere may have got its addresses later than it was created, but not
-- before they were available.
insert into address_assignments (address, server_id, customer_id, assigned_at)
select p.address, s.id, s.customer_id,
       case when isfinite(p.free_from) then greatest(s.created_at, p.free_from) else s.created_at end
  from (select addr::cidr as address, server_id, free_from from ipv4_addresses
        union all
        select prefix, server_id, free_from from ipv6_prefixes) p
  join servers s on s.id = p.server_id;

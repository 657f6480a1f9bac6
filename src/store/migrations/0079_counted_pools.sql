-- Staff see these counts on the first page: each is read from an index alone.
create index customers_frozen on customers (id) where frozen_at is not null;
create index ipv4_assigned on ipv4_addresses (region_id) where server_id is not null;
create index ipv6_assigned on ipv6_prefixes (region_id) where server_id is not null;
create index ipv4_blocked on ipv4_addresses (region_id) where server_id is null and blocked;
create index ipv6_blocked on ipv6_prefixes (region_id) where server_id is null and blocked;

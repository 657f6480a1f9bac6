-- Firewall groups, and how the audit log is searched.

create table firewall_groups (
  id uuid primary key,
  customer_id uuid not null references customers,
  name text not null,
  default_action text not null check (default_action in ('drop', 'accept')),
  created_at timestamptz not null
);
create index firewall_groups_by_customer on firewall_groups (customer_id, created_at desc, id desc);

create table firewall_rules (
  id uuid primary key,
  group_id uuid not null references firewall_groups on delete cascade,
  -- The first rule that matches wins. Gaps are left where a rule was removed.
  position int not null,
  direction text not null check (direction in ('in', 'out')),
  proto text not null check (proto in ('tcp', 'udp', 'icmp', 'any')),
  -- As the customer wrote it: one port, a comma list or a range; null: every port.
  port text check (port is null or proto in ('tcp', 'udp')),
  -- CIDR of the remote peer in its canonical form.
  source text not null,
  action text not null check (action in ('accept', 'drop', 'reject')),
  note text,
  unique (group_id, position)
);

create table firewall_attachments (
  server_id uuid not null references servers on delete cascade,
  -- A group that is applied cannot go.
  group_id uuid not null references firewall_groups,
  -- Order of attachment: a server's groups are read one after another.
  place bigint generated always as identity,
  primary key (server_id, group_id)
);
create index firewall_attachments_by_group on firewall_attachments (group_id, place);

-- The audit log is unbounded: each filter has its own index with the order of the list at its end.
create index audit_events_by_action on audit_events (customer_id, action, created_at desc, id desc);
create index audit_events_by_resource on audit_events (customer_id, resource, created_at desc, id desc)
  where resource is not null;

-- The foundation: the stamp, customers, money, catalogue, inventory, servers, top-ups, audit, outbox.
-- Money is integer US cents; coin amounts are numeric in the coin's smallest unit. Ids are 128 bits without meaning.

create table service (
  one bool primary key default true check (one),
  mode text not null check (mode in ('sandbox', 'live')),
  -- A value sealed by the secret key: a wrong key is refused at start.
  key_check text not null,
  clock_offset_ms bigint not null default 0,
  -- Euros for one US dollar as last heard, for when the source is silent; a plausible one until it was first heard.
  eur_per_usd numeric not null default 0.92,
  created_at timestamptz not null default now()
);

create table switches (
  name text primary key,
  on_ bool not null,
  changed_at timestamptz not null
);

-- ---- customers and what lets them in

create table customers (
  id uuid primary key,
  public_no bigint not null unique,
  email text not null,
  -- The e-mail in lower case: one account each.
  email_key text not null unique,
  password_hash text not null,
  -- SHA-256 of the recovery code.
  recovery_digest bytea,
  frozen_at timestamptz,
  created_at timestamptz not null
);

create table sessions (
  -- SHA-256 of the cookie, which is kept nowhere. Visitors who are not signed in have no row.
  digest bytea primary key,
  id uuid not null unique,
  customer_id uuid not null references customers on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null
) with (fillfactor = 80);
create index sessions_by_customer on sessions (customer_id, created_at desc, id desc);

create table api_tokens (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  name text not null,
  scope text not null check (scope in ('read', 'write', 'billing')),
  digest bytea not null unique,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null
);
create index api_tokens_by_customer on api_tokens (customer_id, created_at desc, id desc);

-- ---- money: transfers only ever grow; only customers have a balance row

create table balances (
  customer_id uuid primary key references customers,
  balance_cents bigint not null default 0,
  -- Living servers, counted in the row that a deploy locks anyway, so that the quota is exact.
  servers int not null default 0 check (servers >= 0)
) with (fillfactor = 70);

create table transfers (
  id uuid primary key,
  debit_account uuid not null,
  credit_account uuid not null,
  amount_cents bigint not null check (amount_cents > 0),
  customer_id uuid not null,
  type text not null check (type in ('charge', 'topup', 'bonus', 'refund', 'adjustment', 'reversal')),
  -- What it was for: a server or a top-up.
  resource_kind text check (resource_kind in ('server', 'topup')),
  resource_id uuid,
  description text not null,
  -- The fact that may be booked only once: an output, a server and cycle, a reversed transfer.
  fact text not null unique,
  reverses uuid unique references transfers,
  balance_after_cents bigint not null,
  created_at timestamptz not null,
  check (debit_account <> credit_account),
  check (customer_id in (debit_account, credit_account))
);
create index transfers_by_customer on transfers (customer_id, created_at desc, id desc);
create index transfers_by_resource on transfers (resource_id) where resource_id is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'SK002';
end $$;
create trigger transfers_append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();

-- ---- catalogue: data that the operator edits

create table regions (
  id text primary key,
  session_code text not null unique,
  name text not null,
  country text not null,
  pop_id text not null,
  tor_onion text,
  active bool not null default true
);

create table plans (
  id text primary key,
  category text not null check (category in ('vps', 'dedicated')),
  cpu int not null check (cpu > 0),
  cpu_model text not null,
  ram_mb int not null check (ram_mb > 0),
  disk_gb int not null check (disk_gb > 0),
  transfer_tb numeric(10, 2) not null check (transfer_tb >= 0),
  price_cents_month bigint not null check (price_cents_month > 0),
  active bool not null default true
);

create table plan_regions (
  plan_id text not null references plans,
  region_id text not null references regions,
  primary key (plan_id, region_id)
);

create table images (
  id uuid primary key,
  type text not null check (type in ('official', 'custom')),
  family text not null,
  version text not null,
  variant text,
  arch text[] not null,
  size_gb numeric(10, 2) not null,
  cloud_init bool not null,
  released_at date not null,
  deprecated_at date,
  active bool not null default true
);
create unique index images_official on images (family, version, coalesce(variant, '')) where type = 'official';

-- ---- inventory: hosts, machines, addresses

create table hosts (
  id uuid primary key,
  name text not null unique,
  region_id text not null references regions,
  cpu int not null check (cpu > 0),
  ram_mb int not null check (ram_mb > 0),
  disk_gb int not null check (disk_gb > 0),
  -- What servers have of it; a server takes its plan's share when it is placed and gives it back when removed.
  used_ram_mb int not null default 0 check (used_ram_mb >= 0 and used_ram_mb <= ram_mb),
  used_disk_gb int not null default 0 check (used_disk_gb >= 0 and used_disk_gb <= disk_gb),
  draining bool not null default false,
  created_at timestamptz not null
) with (fillfactor = 50);
create index hosts_by_region on hosts (region_id);

-- Dedicated machines are finite stock: one machine, one server.
create table machines (
  id uuid primary key,
  name text not null unique,
  region_id text not null references regions,
  plan_id text not null references plans,
  server_id uuid unique,
  created_at timestamptz not null
);
create index machines_free on machines (plan_id, region_id, id) where server_id is null;

create table ip_blocks (
  id uuid primary key,
  region_id text not null references regions,
  family int not null check (family in (4, 6)),
  block cidr not null unique,
  gateway inet not null,
  created_at timestamptz not null
);

create table ipv4_addresses (
  addr inet primary key,
  block_id uuid not null references ip_blocks,
  region_id text not null references regions,
  gateway inet not null,
  server_id uuid unique,
  -- It rests until then after a server had it.
  free_from timestamptz not null,
  blocked bool not null default false
) with (fillfactor = 70);
create index ipv4_free on ipv4_addresses (region_id, free_from, addr) where server_id is null and not blocked;

create table ipv6_prefixes (
  prefix cidr primary key check (masklen(prefix) = 64),
  block_id uuid not null references ip_blocks,
  region_id text not null references regions,
  server_id uuid unique,
  free_from timestamptz not null,
  blocked bool not null default false
) with (fillfactor = 70);
create index ipv6_free on ipv6_prefixes (region_id, free_from, prefix) where server_id is null and not blocked;

-- ---- servers and the work on them

create table servers (
  id uuid primary key,
  public_no bigint not null unique,
  customer_id uuid not null references customers,
  name text not null,
  status text not null check (status in ('provisioning', 'installing', 'running', 'stopped', 'suspended', 'destroying')),
  suspended_reason text check (suspended_reason in ('balance', 'not_renewed', 'operator')),
  plan_id text not null references plans,
  region_id text not null references regions,
  image_id uuid not null references images,
  -- One of them, by the plan's category; null once it is given back.
  host_id uuid references hosts,
  machine_id uuid references machines,
  ram_mb int not null,
  disk_gb int not null,
  ssh_keys uuid[] not null default '{}',
  tags text[] not null default '{}',
  labels jsonb not null default '{}',
  billing_months int not null check (billing_months in (1, 3, 6, 12)),
  auto_renew bool not null default true,
  price_cents_month bigint not null,
  price_cents_cycle bigint not null,
  -- What the customer was shown in euros, and at which rate.
  eur_per_usd numeric,
  anchor_day int not null check (anchor_day between 1 and 31),
  paid_until timestamptz not null,
  -- Sealed; both are deleted once the install is done.
  root_password_sealed text,
  user_data_sealed text,
  first_run_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'suspended') = (suspended_reason is not null))
) with (fillfactor = 80);
create index servers_by_customer on servers (customer_id, created_at desc, id desc);

create table operations (
  id uuid primary key,
  server_id uuid not null references servers on delete cascade,
  kind text not null check (kind in ('provision', 'destroy')),
  step text not null,
  -- Times in a row that this step failed; hosts that were left.
  attempts int not null default 0,
  tried_hosts uuid[] not null default '{}',
  -- When the present host was taken: an install has its time on each.
  placed_at timestamptz not null,
  -- What the driver said when it last failed, for the operator.
  last_fault text,
  due_at timestamptz not null,
  lease_id uuid,
  leased_until timestamptz,
  created_at timestamptz not null
) with (fillfactor = 70);
-- One operation per server at a time: a finished one is deleted, the audit log remembers it.
create unique index operations_one_per_server on operations (server_id);
create index operations_due on operations (due_at);
-- What one process holds: heartbeats and the giving back of leases look for it.
create index operations_by_lease on operations (lease_id) where lease_id is not null;

-- ---- top-ups

-- One row a coin, made with its first invoice. Leases and back-off are real time: this database's own clock.
create table coins (
  code text primary key,
  -- Numbers dealt out for address derivation; one is never given twice, a crash only wastes it.
  next_index int not null default 0,
  -- How far the chain was read, as its driver puts it.
  cursor text,
  -- How many polls failed in a row, and until when the next one waits.
  failures int not null default 0,
  retry_at timestamptz,
  lease_id uuid,
  leased_until timestamptz
) with (fillfactor = 50);

create table topups (
  id uuid primary key,
  public_no bigint not null unique,
  order_ref text not null unique,
  customer_id uuid not null references customers,
  coin text not null references coins,
  amount_cents bigint not null check (amount_cents > 0),
  -- The bonus promised for that amount.
  bonus_cents bigint not null,
  deposit_address text not null,
  deposit_uri text not null,
  deposit_units numeric(40) not null,
  -- The quote it was made with, as it came: US dollars for one coin.
  rate_usd text not null,
  required_confirmations int not null,
  status text not null check (status in ('pending', 'confirming', 'credited', 'expired')),
  cancelled_at timestamptz,
  credit_held bool not null default false,
  confirmations int not null default 0,
  credited_cents bigint not null default 0,
  bonus_paid_cents bigint not null default 0,
  -- Bonuses paid and not taken back.
  bonus_transfers uuid[] not null default '{}',
  expires_at timestamptz not null,
  created_at timestamptz not null,
  unique (coin, deposit_address)
) with (fillfactor = 80);
create index topups_by_customer on topups (customer_id, created_at desc, id desc);
create index topups_open on topups (customer_id) where status in ('pending', 'confirming');
create index topups_expiring on topups (expires_at) where status = 'pending';

-- What the chain showed for each output that pays one of our addresses: an output is credited once, ever.
create table deposits (
  coin text not null,
  key text not null,
  topup_id uuid not null references topups,
  txid text not null,
  amount_units numeric(40) not null,
  state text not null check (state in ('mempool', 'included', 'final', 'removed', 'conflicted')),
  confirmations int not null,
  height int,
  block_hash text,
  included_at timestamptz,
  -- The quote at inclusion, used when the rate lock had run out.
  rate_at_inclusion text,
  -- Confirmed while the kill-switch was on: the operator credits or refunds it.
  held bool not null default false,
  refunded_at timestamptz,
  -- How often it was credited: a credit that a reorganisation took back may come again.
  credits int not null default 0,
  -- Both are null while it does not count; dust counts with 0 and without a transfer.
  credited_cents bigint,
  credit_transfer_id uuid references transfers,
  first_seen_at timestamptz not null,
  primary key (coin, key),
  check (not held or (refunded_at is null and credited_cents is null)),
  check (credit_transfer_id is null or credited_cents > 0)
) with (fillfactor = 80);
create index deposits_by_topup on deposits (topup_id);
create index deposits_unfinished on deposits (coin, key) where state in ('mempool', 'included');

-- ---- what is remembered of every change

create table audit_events (
  id uuid primary key,
  customer_id uuid,
  action text not null,
  resource text,
  actor_token uuid,
  actor_session uuid,
  request_id text not null,
  ip_country text not null,
  result text not null check (result in ('ok', 'error', 'denied')),
  created_at timestamptz not null
);
create index audit_events_by_customer on audit_events (customer_id, created_at desc, id desc);

-- The outbox: events commit with the change they tell of.
create table events (
  id uuid primary key,
  customer_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null
);
create index events_by_customer on events (customer_id, created_at desc, id desc);

create table idempotency (
  customer_id uuid not null,
  key_digest bytea not null,
  -- keyId.base64url of the request's keyed hash.
  fingerprint text not null,
  -- Sealed by a key derived from the caller's credential and the idempotency key; neither is stored.
  answer bytea not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (customer_id, key_digest)
);
create index idempotency_by_age on idempotency (created_at);

-- Raised inside the deploy statement when a place that was free is free no more: the statement ends, nothing stays.
create function deploy_conflict() returns int language plpgsql volatile as $$
begin
  raise exception 'lost a race for a place' using errcode = 'SK001';
end $$;

-- Webhook subscriptions and what is to be delivered to them; the lists of billing have an index for each filter.

create table webhooks (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  -- As the customer wrote it.
  url text not null,
  -- Names of events, or `*` alone for all.
  events text[] not null check (cardinality(events) > 0),
  active bool not null,
  -- The signing secret is sealed; its last four characters are shown.
  secret_sealed text not null,
  secret_hint text not null,
  created_at timestamptz not null
);
create index webhooks_by_customer on webhooks (customer_id, created_at desc, id desc);

-- One row for each attempt. A row with due_at is what the sender still has to do: the attempt itself while it is
-- pending, the next one when it failed.
create table deliveries (
  -- Of this attempt: it orders the list and is never shown.
  id uuid primary key,
  -- What the receiver sees, the same over all attempts.
  delivery_id uuid not null,
  -- Rows outlive their subscription, unseen, until the log's window has passed.
  webhook_id uuid not null,
  customer_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  -- The event's `data` where it is no row of events: a ping's.
  event_data jsonb,
  attempt int not null check (attempt > 0),
  status text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  http_status int,
  error text,
  duration_ms int,
  attempted_at timestamptz,
  -- As it is shown; due_at is this time too until a sender leases the row.
  next_attempt_at timestamptz,
  due_at timestamptz,
  created_at timestamptz not null,
  unique (delivery_id, attempt),
  check (status in ('pending', 'failed') or due_at is null)
) with (fillfactor = 80);
create index deliveries_by_webhook on deliveries (webhook_id, created_at desc, id desc);
create index deliveries_by_status on deliveries (webhook_id, status, created_at desc, id desc);
create index deliveries_by_type on deliveries (webhook_id, event_type, created_at desc, id desc);
create index deliveries_due on deliveries (due_at) where due_at is not null;
create index deliveries_due_of_webhook on deliveries (webhook_id) where due_at is not null;

create index transfers_by_type on transfers (customer_id, type, created_at desc, id desc);
create index topups_by_status on topups (customer_id, status, created_at desc, id desc);
create index topups_by_coin on topups (customer_id, coin, created_at desc, id desc);

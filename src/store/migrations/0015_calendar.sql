-- Billing by the calendar: renewals, suspensions, the grace period, warnings, and prices that were announced.

-- Switching a machine off because its server was suspended.
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in
  ('provision', 'destroy', 'stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore', 'suspend'));

alter table servers
  -- When the calendar looks at the server next: a window begins, a cycle or a grace period ends, a warning is due. Null:
  -- never, because it has not run yet or is being destroyed.
  add column bill_at timestamptz,
  -- Since when it has been waiting to be suspended: for the end of an operation, or for a chain to be read.
  add column awaiting_since timestamptz,
  -- The end of the cycle that the customer was told of as one that the balance cannot renew.
  add column low_notified_for timestamptz,
  add column suspended_at timestamptz,
  -- What it was before it was suspended, and is again when it resumes.
  add column resume_to text check (resume_to in ('running', 'stopped')),
  -- The end of the grace period, as the customer was told it.
  add column destroy_at timestamptz,
  -- The last warning sent before it: days.
  add column warned_days int,
  -- A legal hold: never destroyed.
  add column held_at timestamptz;

update servers set suspended_at = updated_at, resume_to = 'running',
       destroy_at = greatest(updated_at, paid_until) + interval '14 days'
 where status = 'suspended';
update servers set bill_at = case when status = 'suspended' then destroy_at - interval '7 days' else paid_until - interval '7 days' end
 where first_run_at is not null and status <> 'destroying';
create index servers_to_bill on servers (bill_at) where bill_at is not null;

alter table balances
  -- It moved since the calendar looked at what it pays; `debited`: something was taken.
  add column moved bool not null default false,
  add column debited bool not null default false;
create index balances_moved on balances (customer_id) where moved;

-- Up to when the chain was read whole, on the business clock.
alter table coins add column read_at timestamptz;

-- Other prices for cycles of servers that there were when they were announced. A plan's own price is the catalogue's.
create table price_changes (
  id uuid primary key,
  plan_id text not null references plans,
  -- The plan's price when it was announced, and the one announced.
  old_price_cents_month bigint not null,
  price_cents_month bigint not null check (price_cents_month > 0),
  announced_at timestamptz not null,
  -- Cycles that begin from then on cost it.
  effective_at timestamptz not null check (effective_at >= announced_at + interval '30 days'),
  cancelled_at timestamptz,
  -- Customers are told in batches, in the order of their ids: the last one told; and when all were.
  told_up_to uuid,
  told_at timestamptz
);
create unique index price_changes_by_plan on price_changes (plan_id, effective_at) where cancelled_at is null;
create index price_changes_untold on price_changes (announced_at) where told_at is null and cancelled_at is null;

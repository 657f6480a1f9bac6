-- Real coins.

-- What the rate of an invoice was made of: [{source, usd, at}].
alter table topups add column quotes jsonb not null default '[]';
-- The same of a payment that came late; and whether a second node, where there is one, has the payment in that block.
alter table deposits
  add column quotes_at_inclusion jsonb not null default '[]',
  add column agreed bool not null default true,
  -- Where a refund went, who allowed it, and the transaction that sent it.
  add column refund_address text,
  add column refund_approved_by text,
  add column refund_txid text,
  add check (refund_address is null or (refund_approved_by is not null and refunded_at is not null)),
  add check (refund_txid is null or refund_address is not null);
-- Refunds that were approved and, as far as anybody noted, not sent yet.
create index deposits_unsent on deposits (topup_id) where refund_address is not null and refund_txid is null;

-- Why the chain could not be read the last time, in words for the operator; null once it was.
alter table coins add column last_fault text;

-- Derivation numbers that were taken and refused: no address of theirs was ever shown, so they are given out before new ones.
create table spare_indexes (
  coin text not null,
  index int not null,
  primary key (coin, index)
);

-- Coins of test networks are credited here: what is on its balances is worth nothing, for good.
alter table service add column worthless bool not null default false;

-- The newest price of each coin that each source gave.
create table quotes (
  coin text not null,
  source text not null,
  usd text not null,
  -- On the source's clock, where it tells; else when it was read.
  quoted_at timestamptz not null,
  primary key (coin, source)
);

-- Addresses of coins that have no public derivation: made by the operator elsewhere, given out in their order.
create table address_pool (
  coin text not null,
  address text not null,
  n bigint generated always as identity,
  topup_id uuid,
  taken_at timestamptz,
  -- How far its driver has read it.
  mark text,
  added_at timestamptz not null,
  primary key (coin, address),
  unique (coin, topup_id),
  check ((topup_id is null) = (taken_at is null))
) with (fillfactor = 80);
create index address_pool_free on address_pool (coin, n) where topup_id is null;
create index address_pool_taken on address_pool (coin, taken_at desc, address desc) where topup_id is not null;

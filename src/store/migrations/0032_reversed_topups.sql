-- What was taken back from an invoice, bonus included, because a payment left the chain, and was not credited again;
-- and when that was the last time.
alter table topups
  add column reversed_cents bigint not null default 0 check (reversed_cents >= 0),
  add column reversed_at timestamptz,
  add check ((reversed_at is null) = (reversed_cents = 0));
create index topups_reversed on topups (reversed_at) where reversed_at is not null;

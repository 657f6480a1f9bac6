-- The servers that renew, and who pays for them, by plan: counted with the business figures, because a count
-- of all servers is too slow for a page.
create table plan_payers (
  plan_id     text primary key references plans,
  servers     bigint not null check (servers >= 0),
  customers   bigint not null check (customers >= 0),
  cents_month bigint not null check (cents_month >= 0),
  counted_at  timestamptz not null
);

-- The addresses that were paid since the last sweep.
create index deposits_by_payment on deposits ((coalesce(included_at, first_seen_at)), topup_id)
  where state = 'final';

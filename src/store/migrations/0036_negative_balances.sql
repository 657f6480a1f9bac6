-- Since when a balance is below zero, which only a reversed payment causes, and when the calendar looks at it next: the
-- customer's servers are suspended if it stays so for days.
alter table balances
  add column negative_since timestamptz,
  add column negative_check_at timestamptz;
create index balances_negative on balances (negative_check_at) where negative_check_at is not null;

-- Balances that are below zero already get the whole time from now.
update balances
   set negative_since = at, negative_check_at = at
  from (select clock_timestamp() + clock_offset_ms * interval '1 ms' as at from service) as now
 where balance_cents < 0;

alter table servers drop constraint servers_suspended_reason_check;
alter table servers add constraint servers_suspended_reason_check
  check (suspended_reason in ('balance', 'not_renewed', 'operator', 'negative_balance'));

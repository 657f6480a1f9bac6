-- The addresses that were paid since the last sweep.
create index deposits_by_payment on deposits ((coalesce(included_at, first_seen_at)), topup_id)
  where state = 'final';

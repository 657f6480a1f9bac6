-- The operator lists all payments, newest first, and those that were not credited.
create index deposits_in_order on deposits (first_seen_at desc, coin, key);
create index deposits_uncredited on deposits (first_seen_at desc, coin, key)
  where credited_cents is null and refunded_at is null;

-- Sign-ups, wrong passwords, and requested mails, for several processes: by the keyed hash of an address, an account, or a
-- device, under a key of the day that is not stored. Losing them in a crash only fills the buckets.
create unlogged table attempt_buckets (
  name bytea primary key,
  full_at timestamptz not null
) with (fillfactor = 70);
create index attempt_buckets_by_end on attempt_buckets (full_at);

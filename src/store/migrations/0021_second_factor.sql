-- One-time codes as a second factor. A row without `confirmed_at` was begun only: no code is asked for yet.
create table totp_secrets (
  customer_id uuid primary key references customers on delete cascade,
  secret_sealed text not null,
  begun_at timestamptz not null,
  confirmed_at timestamptz,
  -- The newest time step, of 30 seconds since 1970 in real time, of which a code was used. Codes up to it are worth nothing.
  last_step int not null default 0,
  -- Wrong codes in the hour of real time that began with the first of them.
  wrong_codes int not null default 0,
  wrong_since timestamptz
);

-- Passkeys (WebAuthn): the public keys with which customers sign in.
create table passkeys (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  credential_id bytea not null unique,
  -- COSE.
  public_key bytea not null,
  -- The signature counter that the authenticator last sent; 0: it has none.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_by_customer on passkeys (customer_id, created_at);

-- Challenges that were answered: each works once. A challenge carries its own proof, so only accepted ones are stored.
create table used_challenges (
  digest bytea primary key,
  expires_at timestamptz not null
);
create index used_challenges_by_expiry on used_challenges (expires_at);

-- Passkeys of staff. One signs in alone: the authenticator asks for a PIN or a finger.
create table staff_passkeys (
  id            uuid primary key,
  staff_id      uuid not null references staff on delete cascade,
  credential_id bytea not null unique,
  public_key    bytea not null,
  counter       bigint not null,
  name          text not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
create index on staff_passkeys (staff_id);

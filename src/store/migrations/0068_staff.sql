-- The people who run the service, apart from its customers. Null password: not accepted yet.
create table staff (
  id              uuid primary key,
  email           text not null,
  email_key       text not null unique,
  name            text not null,
  role            text not null check (role in ('owner', 'finance', 'support', 'technician', 'read_only')),
  password_hash   text,
  totp_sealed     text,
  totp_last_step  bigint not null default 0,
  invite_digest   bytea unique,
  invite_until    timestamptz,
  created_at      timestamptz not null,
  joined_at       timestamptz,
  disabled_at     timestamptz
);

create table staff_sessions (
  digest     bytea primary key,
  id         uuid not null unique,
  staff_id   uuid not null references staff on delete cascade,
  created_at timestamptz not null,
  seen_at    timestamptz not null
);
create index on staff_sessions (staff_id);

create table staff_tokens (
  id           uuid primary key,
  staff_id     uuid not null references staff on delete cascade,
  name         text not null,
  digest       bytea not null unique,
  role         text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  last_used_at timestamptz
);
create index on staff_tokens (staff_id);

-- Every act: written before it begins, and completed with its result. `submission` deduplicates a repeated
-- request of one person.
create table staff_log (
  id          uuid primary key,
  staff_id    uuid references staff on delete set null,
  surface     text not null check (surface in ('console', 'api', 'command')),
  operation   text not null,
  -- A public id, or the name of a person in a command.
  target      text,
  reason      text,
  -- The input without the reason and without secrets.
  details     jsonb,
  submission  text,
  result      text not null default 'started' check (result in ('started', 'ok', 'error', 'denied')),
  fault       text,
  request_id  text not null,
  created_at  timestamptz not null,
  unique (staff_id, submission)
);
create index on staff_log (staff_id, id desc);
create index on staff_log (target, id desc);

-- The operator's list and search of customers.
create index customers_by_email on customers (email_key text_pattern_ops);

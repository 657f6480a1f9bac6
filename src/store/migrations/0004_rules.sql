-- What stands before every request of the REST surface: maintenance windows, policies, rates, and kept answers' status.

-- Raised with every change of a window or policy, in its transaction: a process reads the rules again when it differs.
alter table service add column rules_version bigint not null default 1;

create table maintenance_windows (
  id uuid primary key,
  -- Null: every operation.
  operation text,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  reason text,
  -- When it was over: before its time when the operator ended it.
  ended_at timestamptz,
  check (ends_at > starts_at)
);
create index maintenance_windows_open on maintenance_windows (starts_at) where ended_at is null;

create table policies (
  id uuid primary key,
  operation text not null,
  -- Each narrows it; with neither, nobody may call the operation.
  country text check (country ~ '^[A-Z]{2}$'),
  region_id text references regions,
  -- The order it follows, as the refused customer reads it.
  order_text text not null,
  created_at timestamptz not null
);

alter table idempotency add column status int not null default 200;

-- Token buckets in one timestamp (GCRA): when the bucket is full again. Losing them in a crash only fills them.
create unlogged table rate_buckets (
  token_id uuid not null,
  bucket text not null,
  tat timestamptz not null,
  primary key (token_id, bucket)
) with (fillfactor = 70);

-- Acts that a second person must approve. `over_cents` null: every act of the operation.
create table approval_rules (
  operation text primary key,
  over_cents bigint check (over_cents >= 0),
  created_at timestamptz not null
);

-- An act that waits for a second person, with its input without secrets. A decision is final.
create table approval_requests (
  id          uuid primary key,
  staff_id    uuid not null references staff on delete cascade,
  operation   text not null,
  -- A public id, or null.
  target      text,
  params      jsonb not null,
  body        jsonb not null,
  reason      text,
  state       text not null default 'open' check (state in ('open', 'approved', 'done', 'failed', 'refused', 'withdrawn')),
  fault       text,
  decided_by  uuid references staff on delete set null,
  decided_at  timestamptz,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  check ((state = 'open') = (decided_at is null)),
  check (decided_by is null or decided_by <> staff_id or state = 'withdrawn')
);
create index on approval_requests (staff_id);
create index approval_requests_open on approval_requests (id) where state = 'open';

alter table staff_log
  drop constraint staff_log_result_check,
  add constraint staff_log_result_check check (result in ('started', 'ok', 'error', 'denied', 'requested'));

-- Reports of abuse. What they say, and who sent them, is personal data, and is stored sealed.

alter table tickets
  add column category text not null default 'general' check (category in ('general', 'abuse')),
  -- By when we ask the customer to answer.
  add column answer_by timestamptz;

create table abuse_reports (
  id           uuid primary key,
  -- `form` is the public page.
  source       text not null check (source in ('staff', 'form')),
  kind         text not null
    check (kind in ('spam', 'port_scan', 'brute_force', 'ddos', 'malware', 'copyright', 'other')),
  state        text not null check (state in ('open', 'forwarded', 'answered', 'closed')),
  result       text check (result in ('fixed', 'suspended', 'unfounded', 'no_answer', 'account_deleted')),
  -- Null: deleted with the account that had the address.
  address_sealed  text,
  evidence_sealed text,
  happened_at  timestamptz not null,
  -- Who had the address at that time.
  match        text not null check (match in ('matched', 'nobody', 'not_ours', 'not_kept', 'deleted')),
  -- Without a reference: a report outlives the server.
  server_id    uuid check ((server_id is not null) = (customer_id is not null)),
  customer_id  uuid references customers,
  ticket_id    uuid references tickets on delete set null,
  due_at       timestamptz not null,
  -- Suspend the server when the deadline passes without an answer.
  suspend_when_late boolean not null,
  suspended_at timestamptz,
  created_at   timestamptz not null,
  forwarded_at timestamptz,
  answered_at  timestamptz,
  closed_at    timestamptz,
  check ((closed_at is not null) = (state = 'closed') and (result is not null) = (state = 'closed'))
);
create index abuse_reports_by_state on abuse_reports (state, id);
create index abuse_reports_by_kind on abuse_reports (kind, id);
create index abuse_reports_by_customer on abuse_reports (customer_id, id) where customer_id is not null;
create index abuse_reports_by_server on abuse_reports (server_id, id) where server_id is not null;
create index abuse_reports_by_ticket on abuse_reports (ticket_id) where ticket_id is not null;
create index abuse_reports_by_deadline on abuse_reports (due_at) where state in ('open', 'forwarded');
create index abuse_reports_by_suspension on abuse_reports (due_at)
  where state = 'forwarded' and suspend_when_late and suspended_at is null;
create index abuse_reports_by_end on abuse_reports (closed_at) where closed_at is not null;

-- Who sent a report: an email address or a name.
create table abuse_reporters (
  report_id      uuid primary key references abuse_reports on delete cascade,
  contact_sealed text not null,
  -- Null: the report is not closed.
  expires_at     timestamptz
);
create index abuse_reporters_by_end on abuse_reporters (expires_at) where expires_at is not null;

-- What we write about each kind of abuse, where it differs from what the service proposes.
create table abuse_templates (
  kind           text primary key
    check (kind in ('spam', 'port_scan', 'brute_force', 'ddos', 'malware', 'copyright', 'other')),
  deadline_hours int not null check (deadline_hours between 1 and 2160),
  text           text not null check (length(text) between 1 and 4000),
  updated_at     timestamptz not null
);

-- Texts of staff to many customers: announcements on the panel, and mailings.

create table announcements (
  id         uuid primary key,
  title      text not null check (length(title) between 1 and 120),
  body       text not null check (length(body) between 1 and 600),
  level      text not null check (level in ('info', 'warning')),
  link       text check (length(link) between 1 and 500),
  -- Only for customers with a server there. Null: for all.
  region_id  text references regions,
  audience   text not null check (audience in ('customers', 'everyone')),
  starts_at  timestamptz not null,
  ends_at    timestamptz not null,
  created_at timestamptz not null,
  check (ends_at >= starts_at),
  check (region_id is null or audience = 'customers')
);
create index announcements_by_end on announcements (ends_at);

create table announcement_dismissals (
  announcement_id uuid not null references announcements on delete cascade,
  customer_id     uuid not null references customers on delete cascade,
  dismissed_at    timestamptz not null,
  primary key (customer_id, announcement_id)
);
create index announcement_dismissals_by_announcement on announcement_dismissals (announcement_id);
create index announcement_dismissals_by_time on announcement_dismissals (dismissed_at);

create table mailings (
  id          uuid primary key,
  -- A service notice goes to everyone in the set, news only to those who want it.
  kind        text not null check (kind in ('service', 'news')),
  subject     text not null check (length(subject) between 1 and 120),
  body        text not null check (length(body) between 1 and 8000),
  -- What staff chose, to show it.
  criteria    jsonb not null,
  status      text not null check (status in ('running', 'paused', 'stopped', 'done')),
  -- The customers in the set when the mailing began.
  total       int not null check (total > 0),
  sent        int not null default 0,
  failed      int not null default 0,
  -- In the set, but not mailed: deleted, or without news since, or the mailing was stopped.
  left_out    int not null default 0,
  -- Business time before which no further mail is queued.
  next_at     timestamptz not null,
  created_at  timestamptz not null,
  finished_at timestamptz,
  check ((finished_at is not null) = (status in ('stopped', 'done'))),
  check (sent >= 0 and failed >= 0 and left_out >= 0 and sent + failed + left_out <= total)
);
create index mailings_running on mailings (id) where status = 'running';

-- One row for each customer of a mailing: it is mailed to no one twice. Without a reference to customers,
-- which would lock each of them; deleting an account deletes its rows.
create table mailing_recipients (
  mailing_id  uuid not null references mailings on delete cascade,
  customer_id uuid not null,
  status      text not null default 'waiting'
    check (status in ('waiting', 'queued', 'sent', 'failed', 'left_out')),
  added_at    timestamptz not null,
  primary key (mailing_id, customer_id)
);
create index mailing_recipients_left on mailing_recipients (mailing_id, customer_id)
  where status = 'waiting';
create index mailing_recipients_queued on mailing_recipients (mailing_id) where status = 'queued';
create index mailing_recipients_by_customer on mailing_recipients (customer_id);
create index mailing_recipients_by_time on mailing_recipients (added_at);

-- The customer wants no news since then.
alter table customers add column news_off_at timestamptz;

-- Sent after all other mail.
alter table mails add column bulk bool not null default false;
create index mails_due_single on mails (due_at) where due_at is not null and not bulk and not urgent;
create index mails_due_bulk on mails (due_at) where due_at is not null and bulk;

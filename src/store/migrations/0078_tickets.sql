-- Tickets: conversations with customers. Texts and files are personal data, and are stored sealed.

create table tickets (
  id           uuid primary key,
  customer_id  uuid not null references customers on delete cascade,
  subject_sealed text not null,
  -- `open` waits for staff, `answered` for the customer.
  status       text not null check (status in ('open', 'answered', 'closed')),
  assignee_id  uuid references staff on delete set null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  closed_at    timestamptz check ((closed_at is not null) = (status = 'closed'))
);
create index tickets_by_customer on tickets (customer_id, created_at desc, id desc);
create index tickets_by_status on tickets
  (customer_id, status, created_at desc nulls last, id desc nulls last);
create index tickets_by_age on tickets (status, id);
create index tickets_by_assignee on tickets (assignee_id, id) where assignee_id is not null;
create index tickets_by_end on tickets (updated_at) where status <> 'open';

create table ticket_messages (
  id          uuid primary key,
  ticket_id   uuid not null references tickets on delete cascade,
  -- The customer does not see a note.
  author      text not null check (author in ('customer', 'staff', 'note')),
  -- Null: the customer, or a command on the machine.
  staff_id    uuid references staff on delete set null,
  text_sealed text not null,
  created_at  timestamptz not null
);
create index ticket_messages_by_ticket on ticket_messages (ticket_id, id);
create index ticket_messages_by_staff on ticket_messages (staff_id) where staff_id is not null;

create table ticket_files (
  id             uuid primary key,
  message_id     uuid not null references ticket_messages on delete cascade,
  name           text not null check (length(name) between 1 and 100),
  type           text not null check (type in ('image/png', 'image/jpeg', 'text/plain')),
  size_bytes     int not null check (size_bytes between 1 and 1048576),
  content_sealed text not null
);
create index ticket_files_by_message on ticket_files (message_id, id);

-- Texts that staff send often.
create table canned_answers (
  name       text primary key check (length(name) between 1 and 63),
  text       text not null check (length(text) between 1 and 8000),
  updated_at timestamptz not null
);

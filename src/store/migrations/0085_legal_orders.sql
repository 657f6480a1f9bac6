-- Legal orders: who ordered what about whom, until when, and what came of it. Texts, and the names and contents
-- of documents, are stored sealed.

create table legal_orders (
  id             uuid primary key,
  kind           text not null
                 check (kind in ('information_request', 'preservation', 'takedown', 'seizure', 'gag', 'other')),
  state          text not null check (state in ('open', 'complied', 'partly', 'refused', 'withdrawn')),
  -- The authority, its reference, the address with its time, and the note.
  details_sealed text not null,
  -- An order outlives the account and the server: there is no foreign key.
  customer_id    uuid,
  server_id      uuid,
  received_at    timestamptz not null,
  due_at         timestamptz check (due_at >= received_at),
  -- Until then, the customer must not be told.
  gag_until      timestamptz,
  data_handed_out boolean not null default false,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  closed_at      timestamptz check ((closed_at is not null) = (state <> 'open'))
);
create index legal_orders_by_state on legal_orders (state, id desc);
create index legal_orders_by_customer on legal_orders (customer_id, id desc) where customer_id is not null;
create index legal_orders_by_time on legal_orders (received_at);
create index legal_orders_due on legal_orders (due_at) where state = 'open' and due_at is not null;
create index legal_orders_by_end on legal_orders (closed_at) where closed_at is not null;

create table legal_documents (
  id             uuid primary key,
  order_id       uuid not null references legal_orders on delete cascade,
  name_sealed    text not null,
  type           text not null check (type in ('application/pdf', 'image/png', 'image/jpeg', 'text/plain')),
  size_bytes     int not null check (size_bytes between 1 and 5242880),
  content_sealed text not null,
  created_at     timestamptz not null
);
create index legal_documents_by_order on legal_documents (order_id, id);

-- The acts of an order: their reason has its id.
create index staff_log_by_order on staff_log ((substring(reason from 'lgl_[a-z2-7]{26}')), id)
  where substring(reason from 'lgl_[a-z2-7]{26}') is not null;

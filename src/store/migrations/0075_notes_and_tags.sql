-- What staff write down about a customer.
create table customer_notes (
  id          uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  -- Null: a command on the machine, or a person who was deleted.
  staff_id    uuid references staff on delete set null,
  text        text not null check (length(text) between 1 and 2000),
  created_at  timestamptz not null
);
create index on customer_notes (customer_id, id desc);

create index on customer_notes (staff_id);

create table customer_tags (
  customer_id uuid not null references customers on delete cascade,
  tag         text not null check (tag ~ '^[a-z0-9][a-z0-9_-]{0,39}$'),
  primary key (customer_id, tag)
);
create index on customer_tags (tag, customer_id desc);

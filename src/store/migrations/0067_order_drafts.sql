-- Orders that customers began and will finish after a top-up.

create table order_drafts (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  -- The fields of the form, without passwords.
  draft_sealed text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index order_drafts_by_customer on order_drafts (customer_id, created_at desc);
create index order_drafts_by_expiry on order_drafts (expires_at);

-- Filters of the server list that customers keep, and a switch for the panel's keyboard shortcuts.

create table saved_filters (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  name text not null,
  -- The filters and the sort order, as in the query of the list's URL.
  query text not null,
  created_at timestamptz not null,
  unique (customer_id, name)
);

-- Null: on. A row of the previous version stays as it is.
alter table customers add column shortcuts_off_at timestamptz;

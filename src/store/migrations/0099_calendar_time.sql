-- Compatible: the previous version ignores the column.

-- The time, on the business clock, up to which billing by date has run. Null: not yet.
alter table service add column calendar_at timestamptz;

-- A webhook hears only of events that happened while it existed and was active. Rows that the previous version
-- inserts hear of everything, as before.
alter table webhooks add column active_since timestamptz not null default '-infinity';

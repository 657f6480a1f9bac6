-- Compatible: earlier versions claim only rows with a due date that has passed, and ignore the new columns.

-- Work that the operator gave up has no due date until someone requests it again.
alter table tasks
  alter column due_at drop not null,
  -- Why the last attempt failed, for the operator, and since when all attempts have failed.
  add column last_fault text,
  add column failing_since timestamptz;
alter table backend_files alter column due_at drop not null;

create index mails_undelivered on mails (id) where status in ('failed', 'unknown');

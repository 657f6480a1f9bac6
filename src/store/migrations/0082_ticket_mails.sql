-- Mail that became a message of a ticket, so that a repeated delivery adds nothing. A digest names no one.
create table ticket_mails (
  digest      bytea primary key check (length(digest) = 32),
  received_at timestamptz not null
);
create index on ticket_mails (received_at);

-- The Message-ID of the customer's last mail in the ticket, to which the next answer refers.
alter table tickets add column mail_id_sealed text;

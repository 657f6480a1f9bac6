-- Mails to customers: a queue that commits with what caused them, and afterwards the memory of what was sent.

-- No reference to customers: a mail may be about an account that is gone. A finished mail keeps neither text nor address,
-- and its row keeps its cause from mailing twice until retention removes it.
create table mails (
  id uuid primary key,
  customer_id uuid not null,
  kind text not null,
  -- What happened, once for each kind: `low:<server>:<end of the cycle>`.
  cause text not null,
  -- Somebody sits before a screen and waits for it: it is sent before others.
  urgent bool not null default false,
  -- What the template needs, sealed: it may hold a link that lets its reader in.
  data_sealed text,
  -- Where it goes when not to the customer's own address.
  to_address text,
  -- `sending`: the mail server was given the text, so whoever finds the row like this does not know what became of it.
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'failed', 'unknown', 'stale', 'dropped')),
  -- Business time of the next attempt; null when nothing is left to do.
  due_at timestamptz,
  -- Business time from which it says nothing true any more: not sent from then on.
  stale_at timestamptz,
  -- Times in a row that it could not be sent, and of what sort the last failure was.
  attempts int not null default 0,
  fault text check (fault in ('unreachable', 'deferred', 'refused', 'unrenderable')),
  lease_id uuid,
  leased_until timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null,
  unique (kind, cause),
  check ((due_at is null) = (status not in ('queued', 'sending'))),
  check (due_at is null or data_sealed is not null)
) with (fillfactor = 70);
create index mails_due on mails (due_at) where due_at is not null;
create index mails_urgent on mails (due_at) where due_at is not null and urgent;
create index mails_by_lease on mails (lease_id) where lease_id is not null;
create index mails_by_customer on mails (customer_id, created_at desc, id desc);
create index mails_by_age on mails (created_at) where due_at is null;

-- The sandbox's letter box: what customers would have received, newest last. Sealed, because mails hold links.
create table sim.mails (
  id uuid primary key,
  no bigint generated always as identity unique,
  to_key text not null,
  mail_sealed text not null
);
create index mails_by_receiver on sim.mails (to_key, no);

-- What customers do to the account itself: a confirmed address, links in mails, an OpenPGP key, deletion.

alter table customers
  add column email_confirmed_at timestamptz,
  -- The armored public key that mails to the customer are encrypted to, and its fingerprint in upper-case hex.
  add column openpgp_key text,
  add column openpgp_fingerprint text,
  -- Since when it has been this key.
  add column openpgp_since timestamptz,
  -- Deletion has begun: nobody signs in any more, and what the customer has is taken down step by step.
  add column deleting_at timestamptz,
  -- It is done. The row stays, without a person in it, because the books name its id.
  add column deleted_at timestamptz,
  add constraint customers_openpgp check (num_nonnulls(openpgp_key, openpgp_fingerprint, openpgp_since) in (0, 3)),
  add constraint customers_deletion check (deleted_at is null or deleting_at is not null);

-- Links in mails, each for one use. `confirm` proves the account's present address, `change` makes another one the
-- account's, `reset` sets a new password, `undo` takes a change of address back and sets a new password.
create table mail_links (
  -- SHA-256 of the link's token, which is kept nowhere.
  digest bytea primary key,
  customer_id uuid not null references customers on delete cascade,
  purpose text not null check (purpose in ('confirm', 'change', 'reset', 'undo')),
  -- The address that it was made for, as written and in lower case.
  email text not null,
  email_key text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- It leads nowhere any more. That it was mailed still counts.
  dropped bool not null default false
);
create index mail_links_by_customer on mail_links (customer_id, created_at);
-- How much was mailed to one address, whoever asked; and which addresses an owner may still take back.
create index mail_links_by_email on mail_links (email_key, created_at);
create index mail_links_over on mail_links (expires_at);

-- Who asked for a new password, until a worker has looked whether there is such an account: asking takes the same work for
-- any address. The address is sealed, for most of them are nobody's here.
create table reset_requests (
  id uuid primary key,
  email_sealed text not null,
  ip_country text not null,
  requested_at timestamptz not null
);

-- What a lost account leaves behind: tokens, and webhooks with what they may read.

-- Why the service paused a webhook; null if its customer did.
alter table webhooks
  add column paused_reason text check (paused_reason in ('endpoint_gone', 'access_revoked', 'operator')),
  -- The scope of its creator. Webhooks that exist are their customers' own, like those made in the panel.
  add column scope text not null default 'billing' check (scope in ('read', 'write', 'billing'));

-- The token that created this one, and with which it is revoked; null: a session did, or it stands alone.
alter table api_tokens add column created_by_token uuid references api_tokens on delete set null;
create index api_tokens_by_creator on api_tokens (created_by_token) where created_by_token is not null;

-- Limits of API tokens. `limit_chain` has the limited tokens whose limits apply to a token: those that made
-- it, directly or not, then itself. `limits` has the limits of each, in the same order. Null: unlimited.
alter table api_tokens
  add column limit_chain uuid[],
  add column limits jsonb,
  -- A JSON array in the same order.
  add column ip_cidrs_sealed text,
  -- Ends open event streams when the limits change.
  add column limits_version int not null default 0,
  add column spend_limit_cents bigint,
  add column spend_period text not null default 'total' check (spend_period in ('total', 'month')),
  -- Counted by the statements that charge, for each token of the chain.
  add column spent_cents bigint not null default 0 check (spent_cents >= 0),
  -- The first day of the month of the latest charge, in UTC.
  add column spent_month date,
  add column servers_limit int,
  -- Servers that it or a token of its own created, and that still exist.
  add column servers_count int not null default 0;

-- The chain of the limited token that created it; null: another did.
alter table servers add column limited_by uuid[];
alter table webhooks add column limited_by uuid[];
-- The resources whose events it receives; null: all.
alter table webhooks add column reach jsonb;

-- Metrics by the minute and by five minutes, and alerts on them.

-- A row holds up to 60 points of one server and step, so that a sample costs 24 bytes and a deletion removes
-- an hour. `points` has six numbers for each step from `starts_at` on: CPU, memory, disk read and write,
-- network in and out. A missing sample is six nulls.
create table metric_points (
  server_id uuid not null references servers on delete cascade,
  step_s smallint not null check (step_s in (60, 300)),
  starts_at timestamptz not null,
  points real[] not null,
  primary key (server_id, step_s, starts_at)
) with (fillfactor = 60);
create index metric_points_by_minute on metric_points (starts_at) where step_s = 60;
create index metric_points_by_five_minutes on metric_points (starts_at) where step_s = 300;

-- Since when a server that should run was not seen running; null: it was, or it need not run.
alter table samplings add column silent_since timestamptz;
create index samplings_silent on samplings (server_id) where silent_since is not null;

create table alerts (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  name text not null,
  metric text not null check (metric in ('cpu_pct', 'ram_pct', 'disk_write_bps', 'net_out_bps',
                                         'transfer_pct', 'unreachable')),
  compare text not null check (compare in ('gt', 'lt')),
  value double precision not null,
  window_min smallint not null check (window_min between 1 and 60),
  -- The servers with these labels; null: those in `alert_servers`.
  label_selector jsonb,
  enabled bool not null,
  created_at timestamptz not null
);
create index alerts_by_customer on alerts (customer_id, created_at desc, id desc);

create table alert_servers (
  alert_id uuid not null references alerts on delete cascade,
  server_id uuid not null references servers on delete cascade,
  primary key (alert_id, server_id)
);
create index alert_servers_by_server on alert_servers (server_id);

-- One row while an alert fires for a server.
create table alert_firings (
  alert_id uuid not null references alerts on delete cascade,
  server_id uuid not null references servers on delete cascade,
  since timestamptz not null,
  primary key (alert_id, server_id)
);
create index alert_firings_by_server on alert_firings (server_id);

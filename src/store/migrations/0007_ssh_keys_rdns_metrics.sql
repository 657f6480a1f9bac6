-- SSH keys, reverse DNS of servers, and their hourly metrics.

create table ssh_keys (
  id uuid primary key,
  customer_id uuid not null references customers on delete cascade,
  name text not null,
  type text not null check (type in ('ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384',
                                     'ecdsa-sha2-nistp521')),
  fingerprint text not null,
  public_key text not null,
  created_at timestamptz not null
);
create index ssh_keys_by_customer on ssh_keys (customer_id, created_at desc, id desc);

alter table servers
  -- Address of the server → host name.
  add column rdns jsonb not null default '{}',
  -- Whether it has its row of `samplings`, which comes soon after the first run.
  add column sampled bool not null default false;
create index servers_to_sample on servers (id) where first_run_at is not null and not sampled;

-- When each server's metrics are read next (business time), and the last hour that is there.
create table samplings (
  server_id uuid primary key references servers on delete cascade,
  due_at timestamptz not null,
  last_hour timestamptz
) with (fillfactor = 70);
create index samplings_due on samplings (due_at);

-- Means over an hour; the running hour's are written again until it is over.
create table metrics (
  server_id uuid not null references servers on delete cascade,
  hour timestamptz not null,
  cpu_pct double precision not null,
  ram_mb double precision not null,
  disk_read_bps double precision not null,
  disk_write_bps double precision not null,
  net_in_bps double precision not null,
  net_out_bps double precision not null,
  primary key (server_id, hour)
) with (fillfactor = 90);

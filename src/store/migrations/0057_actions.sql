-- Actions: work that takes time, as its customer sees it. An action is written in the commits that start, advance, and
-- end the work itself, so it is never behind it.
create table actions (
  id uuid primary key,
  customer_id uuid not null,
  command text not null,
  status text not null default 'running' check (status in ('running', 'success', 'error')),
  -- The resource that the command names, which may be deleted by now, and the server that it also concerns.
  resource_kind text not null check (resource_kind in ('server', 'volume', 'snapshot', 'image')),
  resource_id uuid not null,
  server_id uuid,
  -- The names of its steps, and when each of those began that did.
  steps text[] not null,
  step_times timestamptz[] not null,
  progress smallint not null check (progress between 0 and 100),
  error_code text,
  error_message text,
  request_id text not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  constraint actions_finished check ((status = 'running') = (finished_at is null)),
  constraint actions_failed check ((status = 'error') = (error_code is not null and error_message is not null))
);

-- What runs on a resource: for the resource itself, and for those who end it.
create index actions_running on actions (resource_id, id) where status = 'running';

-- The list, and one index for each of its filters and combinations of them: src/store/page.ts.
create index actions_by_customer on actions (customer_id, created_at desc, id desc);
create index actions_by_status on actions
  (customer_id, status, created_at desc nulls last, id desc nulls last);
create index actions_by_command on actions
  (customer_id, command, created_at desc nulls last, id desc nulls last);
create index actions_by_resource on actions
  (customer_id, resource_id, created_at desc nulls last, id desc nulls last);
create index actions_by_status_command on actions
  (customer_id, status, command, created_at desc, id desc nulls last);
create index actions_by_resource_status on actions
  (customer_id, resource_id, status, created_at desc, id desc nulls last);
create index actions_by_resource_command on actions
  (customer_id, resource_id, command, created_at desc, id desc nulls last);
create index actions_by_resource_status_command on actions
  (customer_id, resource_id, status, command, created_at desc nulls last, id desc);

alter table actions alter customer_id set (n_distinct = 2), alter resource_id set (n_distinct = 2);

alter table operations
  -- The action that ends with it. Null: the previous version started it.
  add column action_id uuid,
  -- Why it will fail if nothing else helps: the code of its action's error.
  add column cause text;

insert into actions (id, customer_id, command, resource_kind, resource_id, server_id, steps, step_times, progress, request_id,
                     created_at)
select o.id, s.customer_id, c.command, 'server', s.id, s.id, c.steps, array[o.created_at], 0, 'req_' || o.id, o.created_at
  from operations o join servers s on s.id = o.server_id
  join (values ('provision', 'server.create', array['address', 'disk', 'boot', 'reachable']),
               ('destroy', 'server.delete', array['remove']),
               ('stop', 'server.stop', array['shutdown']),
               ('start', 'server.start', array['boot']),
               ('reboot', 'server.reboot', array['shutdown', 'boot']),
               ('rescue', 'server.rescue', array['rescue', 'boot']),
               ('rebuild', 'server.rebuild', array['disk', 'boot', 'reachable']),
               ('restore', 'server.restore', array['disk', 'boot', 'reachable']),
               ('suspend', 'server.suspend', array['shutdown']),
               ('move', 'server.move', array['copy', 'switch'])) as c (kind, command, steps) on c.kind = o.kind;
update operations set action_id = id;

insert into actions (id, customer_id, command, resource_kind, resource_id, server_id, steps, step_times, progress, request_id,
                     created_at)
select id, customer_id, 'snapshot.create', 'snapshot', id, server_id, array['copy'], array[created_at], 0, 'req_' || id,
       created_at
  from snapshots where status = 'creating';

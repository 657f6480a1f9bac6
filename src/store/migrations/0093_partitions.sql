-- Compatible: every table keeps its name, columns, and rows. Only once no process of the previous version runs
-- does a worker add partitions (store/service/partitions.ts).
-- The tables that only grow are partitioned by time: retention drops a partition in place of deleting rows. The
-- present table becomes the default partition, for rows that no other partition takes. Without other partitions
-- there is nothing to check, so that no table is read.
create schema partitions;

-- Adds a partition like the default one. PostgreSQL reads the default partition for rows that belong into the new
-- one, unless its constraint `outside_next` excludes them.
create function partitions.add(parent text, name text, lower text, upper text) returns void language plpgsql as $$
declare
  model regclass := format('partitions.%I', parent);
  chosen text;
  col record;
begin
  execute format('create table partitions.%I (like partitions.%I including defaults including constraints '
                 'including indexes including storage)', name, parent);
  execute format('alter table partitions.%I drop constraint if exists outside_next', name);
  select array_to_string(reloptions, ', ') into chosen from pg_class where oid = model;
  if chosen is not null then
    execute format('alter table partitions.%I set (%s)', name, chosen);
  end if;
  for col in select attname, array_to_string(attoptions, ', ') as chosen from pg_attribute
              where attrelid = model and attoptions is not null and not attisdropped loop
    execute format('alter table partitions.%I alter %I set (%s)', name, col.attname, col.chosen);
  end loop;
  execute format('alter table %I attach partition partitions.%I for values from (%s) to (%s)',
                 parent, name, lower, upper);
end $$;

-- Until the limit is lifted, the default partition takes no rows between the bounds. Null lifts it.
create function partitions.limit_default(parent text, key text, lower text, upper text) returns void
language plpgsql as $$
begin
  execute format('alter table partitions.%I drop constraint if exists outside_next', parent);
  if lower is not null then
    execute format('alter table partitions.%1$I add constraint outside_next check (%2$I < %3$L or %2$I >= %4$L) '
                   'not valid', parent, key, lower, upper);
  end if;
end $$;

-- Reads the whole default partition, next to everything that uses it. False: the limit was lifted.
create function partitions.prove_limit(parent text) returns bool language plpgsql as $$
begin
  if not exists (select from pg_constraint where conname = 'outside_next'
                    and conrelid = format('partitions.%I', parent)::regclass) then
    return false;
  end if;
  execute format('alter table partitions.%I validate constraint outside_next', parent);
  return true;
end $$;

-- Whether the process may run next to partitions: the version before them finds rows to delete by `ctid`, which
-- is unique in one partition only.
alter table processes add column knows_partitions bool not null default false;

lock table servers, audit_events, events, deliveries, metrics, metric_points in access exclusive mode;

-- As for `metrics`: adding or dropping a partition with a foreign key would lock `servers`.
alter table metric_points drop constraint metric_points_server_id_fkey;
create or replace function delete_metrics() returns trigger language plpgsql as $$
begin
  delete from metrics where server_id = old.id;
  delete from metric_points where server_id = old.id;
  return null;
end $$;

alter table audit_events set schema partitions;
create table audit_events (like partitions.audit_events including defaults including constraints)
  partition by range (id);
alter table audit_events add primary key (id);
create index audit_events_by_customer on audit_events (customer_id, created_at desc, id desc);
create index audit_events_by_action on audit_events
  (customer_id, action, created_at desc nulls last, id desc nulls last);
create index audit_events_by_resource on audit_events
  (customer_id, resource, created_at desc nulls last, id desc nulls last) where resource is not null;
create index audit_events_by_resource_action on audit_events
  (customer_id, resource, action, created_at desc, id desc nulls last) where resource is not null;
alter table audit_events
  alter customer_id set (n_distinct_inherited = 2), alter resource set (n_distinct_inherited = 2);
alter table audit_events attach partition partitions.audit_events default;

-- A unique index over partitions contains the partition key. `events_by_seq` and the attempts of a delivery stay
-- unique in each partition; the counter of a customer and the lock of a queue make them so over all of them.
do $$
declare
  next_place bigint;
begin
  select last_value + 1 into next_place from events_place_seq;
  alter table events alter place drop identity;
  alter table events set schema partitions;
  create table events (like partitions.events including defaults including constraints)
    partition by range (id);
  alter table events alter place add generated always as identity;
  perform setval(pg_get_serial_sequence('events', 'place'), next_place, false);
end $$;
alter table events add primary key (id);
create index events_by_customer on events (customer_id, created_at desc, id desc);
create index events_unnumbered on events (place) where seq is null;
alter table events attach partition partitions.events default;

alter table deliveries set schema partitions;
create table deliveries (like partitions.deliveries including defaults including constraints)
  partition by range (id);
alter table deliveries add primary key (id);
create index deliveries_by_webhook on deliveries (webhook_id, created_at desc, id desc);
create index deliveries_by_status on deliveries
  (webhook_id, status, created_at desc nulls last, id desc nulls last);
create index deliveries_by_type on deliveries
  (webhook_id, event_type, created_at desc nulls last, id desc nulls last);
create index deliveries_by_status_type on deliveries
  (webhook_id, status, event_type, created_at desc, id desc nulls last);
create index deliveries_by_event on deliveries (event_id) where due_at is not null or on_request;
create index deliveries_due on deliveries (webhook_id, due_at) where due_at is not null;
create index deliveries_on_request on deliveries (webhook_id, due_at) where on_request and status = 'pending';
alter table deliveries
  alter customer_id set (n_distinct_inherited = 2), alter webhook_id set (n_distinct_inherited = 2);
alter table deliveries attach partition partitions.deliveries default;

alter table metrics set schema partitions;
create table metrics (like partitions.metrics including defaults including constraints)
  partition by range (hour);
alter table metrics add primary key (server_id, hour);
create index metrics_by_hour on metrics (hour);
alter table metrics attach partition partitions.metrics default;

-- Both steps are kept for different times, so each has its own partitions.
alter table metric_points set schema partitions;
create table metric_points (like partitions.metric_points including defaults including constraints)
  partition by range (step_s, starts_at);
alter table metric_points add primary key (server_id, step_s, starts_at);
create index metric_points_by_minute on metric_points (starts_at) where step_s = 60;
create index metric_points_by_five_minutes on metric_points (starts_at) where step_s = 300;
alter table metric_points attach partition partitions.metric_points default;

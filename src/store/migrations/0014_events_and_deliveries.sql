-- Events are numbered, and fanned out to subscriptions, after they are committed; a subscription is what is leased to send.

-- An id like the service's own: 48 bits of time and 80 random ones.
create function new_id(at timestamptz) returns uuid language sql volatile parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
          || left(translate(gen_random_uuid()::text, '-', ''), 12) || left(gen_random_uuid()::text, 8))::uuid
$$;

-- A customer's own number of the event, from 1 without gaps; null until the fan-out gives it. That happens in one
-- transaction after another, and after the event's own: whoever sees 8 has seen 7.
alter table events
  add seq bigint,
  -- In the order in which they were written, of all customers: several are written in one millisecond.
  add place bigint generated always as identity;
-- Fan-out reads from its left end. Nothing else pays for it: a numbered event has left it.
create index events_unnumbered on events (place) where seq is null;

-- The last number given to an event of the customer.
create table event_counters (
  customer_id uuid primary key,
  last_seq bigint not null
) with (fillfactor = 50);

-- What was published before there was a fan-out has a number, and is sent to nobody.
update events e set seq = n.seq
  from (select id, row_number() over (partition by customer_id order by created_at, id) as seq from events) as n
 where n.id = e.id;
insert into event_counters select customer_id, max(seq) from events group by customer_id;
create unique index events_by_seq on events (customer_id, seq) where seq is not null;

-- One row for each subscription. Its holder sends what is due to it, so few at once; a claim takes those that are due.
-- Whoever queues for it, takes back or moves on what is queued has locked its row.
create table webhook_queues (
  webhook_id uuid primary key references webhooks on delete cascade,
  -- Not later than the earliest due_at of its deliveries; null: nothing is to be sent.
  due_at timestamptz,
  -- Its endpoint did not answer in good time when it was last tried: it waits among its like.
  slow bool not null default false,
  -- Raised when url or active change: a holder that began earlier stops.
  revision bigint not null default 0,
  lease_id uuid,
  leased_until timestamptz
) with (fillfactor = 50);
-- Neither lease nor revision is in an index: taking and keeping a lease touches nothing but the row.
create index webhook_queues_due on webhook_queues (slow, due_at) where due_at is not null;

alter table deliveries
  -- Asked for by the customer himself: a ping, a replay.
  add on_request bool not null default false;
update deliveries set on_request = true;
create index deliveries_on_request on deliveries (webhook_id, due_at) where on_request and status = 'pending';
-- What is still to be sent to one subscription, in order.
drop index deliveries_due, deliveries_due_of_webhook;
create index deliveries_due on deliveries (webhook_id, due_at) where due_at is not null;

insert into webhook_queues (webhook_id, due_at)
select w.id, (select min(due_at) from deliveries d where d.webhook_id = w.id) from webhooks w;

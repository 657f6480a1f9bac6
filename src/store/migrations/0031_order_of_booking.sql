-- The order in which a customer's transfers were booked. Transfers of one commit have the same time, and their ids are
-- random, so neither tells which came first. The time of booking is that of the transfer, or a microsecond after the
-- customer's previous booking where that is later. It is set under the lock of the balance.

alter table balances add column booked_at timestamptz;
alter table transfers add column booked_at timestamptz;
alter table transfers disable trigger transfers_append_only;

create temporary table bookings (id uuid, customer_id uuid, nth bigint, created_at timestamptz) on commit drop;
insert into bookings
  select id, customer_id, row_number() over (partition by customer_id order by created_at, id), created_at from transfers;
create index on bookings (customer_id, nth);
create index on bookings (id);

-- Returns the order of these steps in which each starts from the balance that the previous one left, or null if there is
-- none: a walk that uses every step once (Hierholzer). Where several steps may follow, the earliest does.
create function pg_temp.order_steps(start bigint, froms bigint[], tos bigint[]) returns int[] language plpgsql as $$
declare
  size constant int := cardinality(froms);
  taken bool[] := array_fill(false, array[size]);
  stack int[] := array[0];
  walk int[] := '{}';
  place bigint := start;
  step int;
begin
  while cardinality(stack) > 0 loop
    step := null;
    for i in 1 .. size loop
      if not taken[i] and froms[i] = place then step := i; exit; end if;
    end loop;
    if step is null then
      step := stack[cardinality(stack)];
      stack := trim_array(stack, 1);
      if step > 0 then
        walk := step || walk;
        place := froms[step];
      end if;
    else
      taken[step] := true;
      stack := stack || step;
      place := tos[step];
    end if;
  end loop;
  place := start;
  foreach step in array walk loop
    if froms[step] <> place then return null; end if;
    place := tos[step];
  end loop;
  return case when cardinality(walk) = size then walk end;
end $$;

-- Orders one customer's transfers by time, and those of one time by their balances. Transfers that were booked at the
-- same moment by different processes may be in the order of their balances only together with their neighbors. Where the
-- balances allow no order, that of time and id remains.
create function pg_temp.order_bookings(customer uuid) returns void language plpgsql as $$
declare
  farthest constant int := 200;
  place bigint := 0;
  ids uuid[] := '{}';
  froms bigint[] := '{}';
  tos bigint[] := '{}';
  walk int[];
  done bigint := 0;
  row record;
begin
  for row in
    select t.id, t.balance_after_cents as after,
           t.balance_after_cents - case when t.credit_account = customer then t.amount_cents else -t.amount_cents end
             as before,
           lead(t.created_at) over (order by t.created_at, t.id) is distinct from t.created_at as is_last
      from transfers t where t.customer_id = customer order by t.created_at, t.id
  loop
    ids := ids || row.id;
    froms := froms || row.before;
    tos := tos || row.after;
    continue when not row.is_last;
    walk := pg_temp.order_steps(place, froms, tos);
    continue when walk is null and cardinality(ids) < farthest;
    walk := coalesce(walk, array(select generate_series(1, cardinality(ids))));
    update bookings b set nth = done + w.nth
      from unnest(walk) with ordinality as w (step, nth) where b.id = ids[w.step];
    done := done + cardinality(ids);
    place := tos[walk[cardinality(walk)]];
    ids := '{}';
    froms := '{}';
    tos := '{}';
  end loop;
end $$;

select pg_temp.order_bookings(customer_id) from (
  select distinct customer_id from (
    select customer_id, balance_after_cents,
           case when credit_account = customer_id then amount_cents else -amount_cents end
             + lag(balance_after_cents, 1, 0::bigint) over (partition by customer_id order by created_at, id) as expected
      from transfers) as step
   where expected <> balance_after_cents) as unordered;

-- In order, each time is above all times before it: the latest time so far, and a microsecond for each row since.
update transfers t set booked_at = b.latest + (b.place - 1) * interval '1 microsecond'
  from (select id, latest, row_number() over (partition by customer_id, latest order by nth) as place
          from (select id, customer_id, nth,
                       max(created_at) over (partition by customer_id order by nth) as latest
                  from bookings) as ordered) as b
 where b.id = t.id;
update balances b set booked_at = t.latest
  from (select customer_id, max(booked_at) as latest from transfers group by customer_id) as t
 where t.customer_id = b.customer_id;

alter table transfers alter booked_at set not null;
alter table transfers enable trigger transfers_append_only;

drop index transfers_by_customer, transfers_by_type;
create index transfers_by_customer on transfers (customer_id, booked_at desc, id desc);
create index transfers_by_type on transfers (customer_id, type, booked_at desc nulls last, id desc nulls last);

-- The previous version books without the time of booking.
create function set_booking_time() returns trigger language plpgsql as $$
begin
  update balances set booked_at = greatest(new.created_at, booked_at + interval '1 microsecond')
   where customer_id = new.customer_id returning booked_at into new.booked_at;
  return new;
end $$;
create trigger transfers_booking_time before insert on transfers
  for each row when (new.booked_at is null) execute function set_booking_time();

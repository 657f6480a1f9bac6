/**
 * A week's changes of a large database, hour by hour on a clock of its own. Partitions and retention are
 * the service's own functions. The other changes are those of its workers and requests for many rows in one
 * statement, because row by row a week would take a day: the rows and versions of rows that they leave are
 * the same. A part of the servers has metrics (`METERED`).
 */
import { tendPartitions } from '../src/domain/upkeep/partitions.ts';
import { purgeExpired, RETENTION_NAMES } from '../src/domain/upkeep/retention.ts';
import { Deadline, runWithin } from '../src/kernel/faults/deadline.ts';
import { createLogger } from '../src/kernel/logger.ts';
import { HOUR_MS } from '../src/kernel/time.ts';
import type { OpenDatabase } from '../src/store/db.ts';

const HOURS = 7 * 24;
/** One in so many servers has metrics by the hour; one in ten of those also by the minute. */
const METERED = 100;
/** Writes of an hour that is not over, of the twelve that the service makes. */
const WRITES = 4;

/** An event's data. */
const DATA = `jsonb_build_object('text', repeat('x', 200))`;

/** For each hour. */
const HOURLY: readonly string[] = [
  // A renewal checks the server a week before the end of its cycle and at its end.
  `update servers set bill_at = paid_until where bill_at <= $now::timestamptz and bill_at < paid_until`,
  `with due as (select id, customer_id from servers where bill_at <= $now::timestamptz
                 order by bill_at for no key update),
   paid as (
     update servers s set paid_until = paid_until + interval '1 month', updated_at = $now,
            bill_at = paid_until + interval '1 month' - interval '7 days'
       from due where s.id = due.id returning s.id, s.customer_id),
   charged as (
     update balances b set balance_cents = balance_cents - n.n * 500, moved = true, booked_at = $now
       from (select customer_id, count(*) as n from paid group by 1) n where n.customer_id = b.customer_id),
   booked as (
     insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                            resource_id, description, fact, balance_after_cents, created_at, booked_at)
     select new_id($now), customer_id, id, 500, customer_id, 'charge', 'server', id, 's1',
            'charge:' || id || ':' || $hour, 1, $now, $now from paid)
   insert into events (id, customer_id, type, data, created_at)
   select new_id($now), customer_id, 'billing.charged', ${DATA}, $now from paid`,
  `update balances set moved = false where moved`,
  // Acts of customers: audit rows, events, idempotency records, tasks.
  `with act as (select i, ('c' || lpad(to_hex((i * 7919 + $hour) % ($servers / 4)), 31, '0'))::uuid
                                as customer
                  from generate_series(1, $servers::int / ${HOURS}) as i),
   audited as (
     insert into audit_events (id, customer_id, action, resource, request_id, ip_country, result, created_at)
     select new_id($now), customer, 'server.stop', 'srv_' || i, 'req_' || i, 'XX', 'ok', $now from act),
   saved as (
     insert into idempotency (customer_id, key_digest, fingerprint, answer, request_id, created_at)
     select customer, sha256((i || ':' || $hour)::bytea), 'k.x', repeat('x', 300)::bytea, 'req_x', $now
       from act),
   queued as (
     insert into tasks (kind, subject, due_at) select 'filter', new_id($now), $now from act)
   insert into events (id, customer_id, type, data, created_at)
   select new_id($now), customer, 'server.stopped', ${DATA}, $now from act`,
  `update tasks set lease_id = gen_random_uuid(), leased_until = $now`,
  'delete from tasks',
  // Fan-out, and the deliveries of a tenth of the customers.
  `with numbered as (
     update events e set seq = e.place + 1000000000 where seq is null returning id, customer_id, type),
   sent as (
     insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt, status,
                             next_attempt_at, due_at, created_at)
     select n.id, n.id, w.id, w.customer_id, n.id, n.type, 1, 'pending', $now, $now, $now
       from numbered n join webhooks w on w.customer_id = n.customer_id returning webhook_id)
   update webhook_queues set due_at = $now where webhook_id in (select webhook_id from sent)`,
  `update webhook_queues set lease_id = gen_random_uuid(), leased_until = $now where due_at <= $now`,
  `update deliveries set status = 'delivered', due_at = null, next_attempt_at = null, attempted_at = $now,
          http_status = 200, duration_ms = 80
    where due_at <= $now::timestamptz`,
  `update webhook_queues set due_at = null, lease_id = null where lease_id is not null`,
];

const SAMPLED = `select ('e' || lpad(to_hex(i), 31, '0'))::uuid as id
  from generate_series(1, $servers::int / ${METERED}) as i`;
const ARRAY_PART = `array_fill(1::real, array[6 * 60 / ${WRITES}])`;

/** The metrics of a running hour, which are written several times. */
const SAMPLING: readonly string[] = [
  `update samplings
      set due_at = $now::timestamptz + interval '5 minutes', last_hour = date_trunc('hour', $now)
    where server_id in (${SAMPLED})`,
  `insert into metrics (server_id, hour, cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps,
                        net_out_bps)
   select id, date_trunc('hour', $now::timestamptz), $hour, 1, 1, 1, 1, 1 from (${SAMPLED}) as sampled
   on conflict (server_id, hour) do update set cpu_pct = excluded.cpu_pct`,
  `insert into metric_points as m (server_id, step_s, starts_at, points)
   select id, step, date_trunc('hour', $now::timestamptz), ${ARRAY_PART}
     from (${SAMPLED} limit $servers::int / ${10 * METERED}) as sampled,
          (values (60::int2), (300::int2)) as steps (step)
    
   on conflict (server_id, step_s, starts_at) do update set points = m.points || excluded.points`,
];

export async function simulateWeek(db: OpenDatabase, start: Date, servers: number): Promise<void> {
  await runWithin(new Deadline(2 * HOUR_MS, true), () => simulate(db, start, servers));
}

async function simulate(db: OpenDatabase, start: Date, servers: number): Promise<void> {
  let now = start;
  const clock = { now: () => now };
  const log = createLogger('silent');
  const service = { db, clock, log, settings: { mode: 'live' as const } };
  const run = async (statements: readonly string[], hour: number) => {
    for (const statement of statements) {
      await db.transaction(async (tx) => {
        await tx.run('set local statement_timeout = 0');
        await tx.run(statement, { now, servers, hour });
      });
    }
  };
  for (let hour = 1; hour <= HOURS; hour++) {
    now = new Date(start.getTime() + hour * HOUR_MS);
    await run(HOURLY, hour);
    for (let n = 0; n < WRITES; n++) await run(SAMPLING, hour);
    for await (const _ of tendPartitions(service));
    if (hour % 6 > 0) continue;
    for (const rule of RETENTION_NAMES) for await (const _ of purgeExpired(service, rule));
  }
}

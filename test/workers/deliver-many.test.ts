import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setSwitch } from '../../src/domain/rules/switches.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import { byLevel, IS_FULL_RUN } from '../support/runs.ts';
import {
  drip,
  hang,
  type ReceivedRequest,
  type ReceiverBehavior,
  reset,
  respondWith,
} from '../support/webhook-receiver.ts';
import { type WebhookWorld, webhookWorld } from './webhook-world.ts';

const EVENTS = byLevel({ sample: 200, full: 4_000, soak: 100_000 });
/** Customers for each kind of receiver, and the part of all events that they get, in hundredths. */
const CUSTOMERS = IS_FULL_RUN ? 20 : 1;
const TIMEOUT_MS = IS_FULL_RUN ? 1_000 : 120;
const KINDS = {
  takes: { part: 65, behavior: respondWith(200) },
  fails: { part: 10, behavior: respondWith(500) },
  gone: { part: 10, behavior: respondWith(410) },
  hangs: { part: 1, behavior: hang },
  resets: { part: 3, behavior: reset },
  drips: { part: 1, behavior: drip('head') },
  recovers: { part: 10, behavior: respondWith(200) },
} satisfies Record<string, { part: number; behavior: ReceiverBehavior }>;
type Kind = keyof typeof KINDS;

/** Counts the requests for each delivery, and records which event it was. */
class Ledger {
  readonly times = new Map<string, number>();
  readonly events = new Map<string, string>();
  /** The maximum number of requests for any delivery, by kind. */
  readonly maxTimes = new Map<Kind, number>();

  record(kind: Kind, { headers, body }: ReceivedRequest): number {
    const delivery = String(headers['x-service-delivery-id']);
    const event = /"id":"(evt_[a-z2-7]{26})"/.exec(body)?.[1] ?? '';
    assert.equal(this.events.get(delivery) ?? event, event);
    this.events.set(delivery, event);
    const times = (this.times.get(delivery) ?? 0) + 1;
    this.times.set(delivery, times);
    this.maxTimes.set(kind, Math.max(times, this.maxTimes.get(kind) ?? 0));
    return times;
  }
}

async function setupCustomers(world: WebhookWorld, ledger: Ledger): Promise<Map<Kind, string[]>> {
  const customers = new Map<Kind, string[]>();
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const { behavior } = KINDS[kind];
    const ids = [];
    for (let n = 0; n < CUSTOMERS; n++) {
      const actor = await world.customer();
      const url = world.receiver.url(`/${kind}-${n}`, (response, received) => {
        const times = ledger.record(kind, received);
        // It fails twice before it accepts a delivery.
        if (kind === 'recovers' && times < 3) respondWith(503)(response, received);
        else behavior(response, received);
      });
      await world.webhook(actor, url);
      ids.push(actor.customerId);
    }
    customers.set(kind, ids);
  }
  return customers;
}

async function publishAll(world: WebhookWorld, customers: ReadonlyMap<Kind, string[]>): Promise<void> {
  for (const [kind, ids] of customers) {
    await world.fixture.db.run(
      `insert into events (id, customer_id, type, data, created_at)
       select new_id($2), c.id, 'server.running', '{"server": {"id": "srv_x"}}', $2
         from unnest($1::uuid[]) as c (id), generate_series(1, $3)`,
      [ids, world.fixture.clock.now(), (EVENTS * KINDS[kind].part) / 100 / CUSTOMERS],
    );
  }
}

async function runUntilIdle({ runner }: WebhookWorld): Promise<void> {
  assert.ok(await runner.runUntilIdle(IS_FULL_RUN ? 900_000 : 30_000), 'webhooks did not become idle');
}

test('every event to every kind of receiver is delivered, given up, or canceled, under one id', async () => {
  const world = await webhookWorld({ timeoutMs: TIMEOUT_MS });
  try {
    world.receiver.recordsRequests = false;
    const ledger = new Ledger();
    const customers = await setupCustomers(world, ledger);
    // Queue all before sending any: a subscription that is already paused would receive nothing.
    await setSwitch(world.service, 'webhooks', false);
    await publishAll(world, customers);
    await runUntilIdle(world);
    await setSwitch(world.service, 'webhooks', true);
    const { clock } = world.fixture;
    for (;;) {
      await runUntilIdle(world);
      const due = await world.runner.nextDue();
      if (due === null) break;
      clock.moveTo(due);
    }
    const rows = await world.fixture.db.rows<{
      kind: Kind;
      outcome: string;
      attempts: number;
      count: number;
    }>(
      `with last as (
         select distinct on (delivery_id) customer_id, delivery_id, status, http_status, attempt
           from deliveries order by delivery_id, attempt desc)
       select k.kind, l.attempt as attempts, count(*)::int as count,
              case when l.status = 'failed' and l.http_status = 410 then 'gone' else l.status end as outcome
         from last l join unnest($1::uuid[], $2::text[]) as k (customer_id, kind) using (customer_id)
        group by 1, 2, 4`,
      [[...customers.values()].flat(), [...customers].flatMap(([kind, ids]) => ids.map(() => kind))],
    );
    const total = (kind: Kind, outcome: string, minAttempts = 1) =>
      rows
        .filter((row) => row.kind === kind && row.outcome === outcome && row.attempts >= minAttempts)
        .reduce((sum, { count }) => sum + count, 0);
    const published = (kind: Kind) => (EVENTS * KINDS[kind].part) / 100;
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      EVENTS,
    );
    const maxAttempts = LIMITS.webhookAttemptsMax;
    // On a busy machine a response may be late and the delivery retried.
    assert.equal(total('takes', 'delivered'), published('takes'));
    // A request on a connection that the receiver just closed is sent again in the same attempt.
    assert.equal(total('recovers', 'delivered', 2), published('recovers'));
    for (const kind of ['fails', 'hangs', 'resets', 'drips'] as const) {
      assert.equal(total(kind, 'failed', maxAttempts), published(kind), kind);
    }
    const gone = total('gone', 'gone');
    assert.ok(gone >= CUSTOMERS && gone <= 4 * CUSTOMERS, `${gone} deliveries were answered with 410`);
    const cancelled = total('gone', 'cancelled');
    assert.equal(gone + cancelled + total('gone', 'failed'), published('gone'));
    // Every logged delivery was sent, nothing else was, and each delivery is a different event.
    assert.ok(ledger.times.size <= EVENTS - cancelled);
    assert.ok(ledger.times.size >= published('takes') + published('recovers') + published('fails') + gone);
    assert.equal(new Set(ledger.events.values()).size, ledger.times.size);
    for (const [kind, times] of ledger.maxTimes) {
      // A reset on a reused connection is sent once more within the same attempt.
      const maxRequests = kind === 'resets' ? 2 * maxAttempts : maxAttempts;
      assert.ok(times <= maxRequests, `${kind}: ${times}`);
    }
  } finally {
    await world.close();
  }
});

/** Webhooks: each event is one delivery, whose attempts are counted, while its webhook changes. */
import assert from 'node:assert/strict';
import type { ScopedActor, Service } from '../../../src/domain/context.ts';
import { recordEvent } from '../../../src/domain/record.ts';
import { signPayload } from '../../../src/domain/webhooks/attempt.ts';
import { createWebhook, updateWebhook } from '../../../src/domain/webhooks/change.ts';
import { endWebhookRotation, rotateWebhookSecret } from '../../../src/domain/webhooks/secret.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../../../src/ports/webhooks.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import { deliverJob } from '../../../src/workers/deliver.ts';
import { fanOutJob } from '../../../src/workers/jobs.ts';
import type { Chances } from '../core/events.ts';
import type { Scenario } from '../core/explore.ts';
import type { InterleaveWorld } from '../core/world.ts';

const CHANCES: Chances = {
  deaths: 1,
  faults: 2,
  jumpsMs: [SECOND_MS, (LEASE_S + 1) * SECOND_MS, 6 * MINUTE_MS],
  jumps: 2,
};
const RUNS = 3;
const EVENTS = 2;

/** An endpoint that fails as often as it succeeds, or answers too late. */
class Receiver implements WebhookSender {
  readonly requests: WebhookRequest[] = [];
  readonly #answers: () => WebhookResponse;

  constructor(answers: () => WebhookResponse) {
    this.#answers = answers;
  }

  async send(request: WebhookRequest): Promise<WebhookResponse> {
    this.requests.push(request);
    return this.#answers();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const ANSWERS: readonly WebhookResponse[] = [
  { status: 200 },
  { status: 500 },
  { fault: 'timeout' },
  { status: 200 },
];

async function publish(service: Service, { customerId }: ScopedActor): Promise<void> {
  for (let nth = 1; nth <= EVENTS; nth++) {
    const event = { customerId, type: 'server.running', object: { id: 'srv_x', nth } } as const;
    await recordEvent(service.db, event, service.clock.now());
  }
}

/** Works like a process, and stops like one. */
function deliverer(service: Service, sender: WebhookSender) {
  return async (): Promise<void> => {
    const jobs = [fanOutJob(service), deliverJob(service, sender)];
    for (let runs = 0; runs < RUNS; runs++) for (const job of jobs) await job.run();
    for (const job of jobs) await job.stop?.();
  };
}

interface Delivered {
  readonly event_id: string;
  readonly ids: number;
  readonly attempts: number;
  readonly last: number;
  readonly open: number;
  readonly delivered: number;
}

/** Each event has one delivery, with every attempt up to its last, and none is left open. */
async function checkDeliveries(db: Sql, expected: number): Promise<void> {
  const rows = await db.rows<Delivered>(
    `select event_id, count(distinct delivery_id)::int as ids, count(*)::int as attempts,
            max(attempt)::int as last, count(*) filter (where due_at is not null)::int as open,
            count(*) filter (where status = 'delivered')::int as delivered
       from deliveries group by event_id`,
  );
  assert.equal(rows.length, expected);
  for (const row of rows) {
    const { ids, attempts, last, open, delivered } = row;
    assert.deepEqual({ ids, attempts, open }, { ids: 1, attempts: last, open: 0 });
    assert.ok(last <= LIMITS.webhookAttemptsMax && delivered <= 1);
  }
  const finished = await db.row<{ found: boolean }>(
    `select bool_and(found) as found from (
       select bool_or(status in ('delivered', 'cancelled')) or max(attempt) = $1
              or bool_or(not w.active) as found
         from deliveries d join webhooks w on w.id = d.webhook_id group by event_id) as ends`,
    [LIMITS.webhookAttemptsMax],
  );
  assert.notEqual(finished?.found, false, 'a delivery ended before its last attempt');
}

interface Changed {
  readonly webhook: string;
  readonly secrets: string[];
}

interface Change {
  readonly name: string;
  /** Adds each new secret to the list. */
  readonly act: (service: Service, actor: ScopedActor, of: Changed) => Promise<void>;
}

function webhookScenario({ name, act }: Change, minEvents: number): Scenario {
  return {
    name,
    chances: CHANCES,
    prepare: async (world: InterleaveWorld) => {
      const actor = await world.fixtures.addCustomer();
      const wanted = { url: 'https://hooks.example.org/in', events: ['server.running' as const] };
      const webhook = await createWebhook(world.service(), actor, wanted);
      const secrets = [webhook.secret];
      const receiver = new Receiver(
        () => ANSWERS[Math.floor(Math.random() * ANSWERS.length)] ?? { status: 200 },
      );
      const sender = () =>
        world.driver(receiver, { name: 'receiver', createFault: () => new Error('no answer') });
      return {
        tasks: {
          publishes: () => publish(world.service(), actor),
          'delivers-1': deliverer(world.service(), sender()),
          'delivers-2': deliverer(world.service(), sender()),
          customer: () => act(world.service(), actor, { webhook: webhook.id, secrets }),
        },
        finish: async () => {
          const service = world.service();
          const jobs = [fanOutJob(service), deliverJob(service, sender())];
          await world.runJobs(jobs, new Date(world.clock.now().getTime() + 3 * DAY_MS));
          for (const job of jobs) await job.stop?.();
        },
        check: async (_, db) => {
          const published = await db.row<{ n: number }>(
            `select count(*)::int as n from events where customer_id = $1 and type = 'server.running'`,
            [actor.customerId],
          );
          const queued = await db.row<{ n: number }>(
            'select count(distinct event_id)::int as n from deliveries',
          );
          if (minEvents > 0) assert.equal(queued?.n, published?.n);
          await checkDeliveries(db, queued?.n ?? 0);
          for (const request of receiver.requests) requireSigned(request, secrets);
        },
      };
    },
  };
}

function requireSigned({ headers, body }: WebhookRequest, secrets: readonly string[]): void {
  const signature = headers['X-Service-Signature'] ?? '';
  const at = Number(/^t=(\d+),/.exec(signature)?.[1]);
  assert.ok(secrets.some((secret) => signPayload(secret, at, body) === signature));
}

const disabled: Change = {
  name: 'webhook-disabled',
  act: async (service, actor, { webhook }) => {
    await updateWebhook(service, actor, webhook, { active: false });
  },
};

const rotated: Change = {
  name: 'webhook-rotated',
  act: async (service, actor, { webhook, secrets }) => {
    const { next_secret: next } = await rotateWebhookSecret(service, actor, webhook);
    secrets.push(next);
    await endWebhookRotation(service, actor, webhook, { keep: 'next' });
  },
};

export const WEBHOOKS: readonly Scenario[] = [webhookScenario(disabled, 0), webhookScenario(rotated, EVENTS)];

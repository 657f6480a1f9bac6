import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '../../src/kernel/ids.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../../src/ports/webhooks.ts';
import { SEALED } from '../../src/spec/sealed.ts';
import { deliverJob } from '../../src/workers/deliver.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';
import { fanOutJob } from '../../src/workers/jobs.ts';
import { IS_FULL_RUN } from '../support/runs.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** More endpoints than slots. */
const DEAD_COUNT = IS_FULL_RUN ? 5_000 : 900;
/** More than the deliveries of a busy machine take. A dead endpoint never answers. */
const DELIVERY_MAX_MS = 60_000;
const RESPONSIVE_URL = 'https://living.test/';

/** Simulates endpoints without a network: dead ones hang until the end, the other one responds. */
class Receivers implements WebhookSender {
  inFlight = 0;
  maxInFlight = 0;
  answered = 0;
  readonly #closed = Promise.withResolvers<void>();

  async send({ url }: WebhookRequest): Promise<WebhookResponse> {
    if (url === RESPONSIVE_URL) {
      this.answered += 1;
      return { status: 200 };
    }
    this.inFlight += 1;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    await this.#closed.promise;
    return { fault: 'timeout' };
  }

  async close(): Promise<void> {
    this.#closed.resolve();
  }
}

let fixture: TestService;
before(async () => {
  fixture = await startTestService();
});
after(() => fixture.close());

async function subscribe(url: string, count: number): Promise<void> {
  const now = fixture.clock.now();
  const ids = Array.from({ length: count }, () => newId(now));
  const secrets = ids.map((id) => fixture.service.keys.seal(SEALED.webhookSecret, id, 'whsec_x'));
  await fixture.db.run(
    `with made as (
       insert into customers (id, public_no, email, email_key, password_hash, created_at)
       select id, (random() * 1e15)::bigint, id, id, '', $1 from unnest($2::uuid[]) as n (id)),
     hooks as (
       insert into webhooks (id, customer_id, url, events, active, secret_sealed, secret_hint, created_at)
       select id, id, $3, '{*}', true, sealed, 'hint', $1
         from unnest($2::uuid[], $4::text[]) as n (id, sealed) returning id)
     insert into webhook_queues (webhook_id) select id from hooks`,
    [now, ids, url, secrets],
  );
}

/** Publishes so many events for each customer with such a webhook. */
async function publish(url: string, each: number): Promise<void> {
  await fixture.db.run(
    `insert into events (id, customer_id, type, data, created_at)
     select new_id($1), customer_id, 'server.running', '{}', $1
       from webhooks, generate_series(1, $3) where url = $2`,
    [fixture.clock.now(), url, each],
  );
}

test('more dead endpoints than slots do not delay a responsive endpoint', async () => {
  const receivers = new Receivers();
  const service = { ...fixture.service, wake: () => runner.wake() };
  const jobs = [fanOutJob(service), deliverJob(service, receivers, { stopMs: 0 })];
  const runner = new JobRunner({ jobs, pollMs: 20, log: service.log });
  await subscribe('https://dead.test/', DEAD_COUNT);
  await subscribe(RESPONSIVE_URL, 1);
  // Mark the dead ones as slow, each with more deliveries than this test can send.
  await fixture.db.run(
    `update webhook_queues set slow = true from webhooks w where w.id = webhook_id and w.url <> $1`,
    [RESPONSIVE_URL],
  );
  await publish('https://dead.test/', 4);
  runner.start();
  try {
    await waitFor(() => receivers.inFlight >= 500, 'requests to dead endpoints');
    for (let n = 1; n <= 3; n++) {
      await publish(RESPONSIVE_URL, 1);
      await waitFor(() => receivers.answered >= n, 'the delivery, which waited for other endpoints');
    }
    // An endpoint that is known to hang receives one request at a time.
    assert.ok(receivers.maxInFlight <= 512 + 4, `${receivers.maxInFlight} requests at once`);
  } finally {
    await runner.stop();
  }
});

async function waitFor(isReached: () => boolean, goal: string): Promise<void> {
  const deadline = performance.now() + DELIVERY_MAX_MS;
  while (!isReached()) {
    assert.ok(performance.now() < deadline, `still waiting for ${goal}`);
    await pause(5);
  }
}

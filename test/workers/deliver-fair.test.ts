import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WEBHOOK_SECRET } from '../../src/domain/webhooks/create.ts';
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '../../src/ports/webhooks.ts';
import { deliverDuty } from '../../src/workers/deliver.ts';
import { fanOutDuty } from '../../src/workers/fan-out.ts';
import { Runner } from '../../src/workers/runner.ts';
import { FULL } from '../support/runs.ts';
import { type TestService, testService } from '../support/service.ts';

/** More than there are places for; each keeps whoever asks it for so long. */
const DEAD = FULL ? 5_000 : 900;
const HANG_MS = 6_000;
const LIVING = 'https://living.test/';

/** No network: dead receivers hang, others answer. */
class Receivers implements WebhookSender {
  underWay = 0;
  most = 0;
  readonly answeredAtMs: number[] = [];
  readonly #closing = new AbortController();

  async send({ url }: WebhookRequest): Promise<WebhookAnswer> {
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    try {
      await pause(url === LIVING ? 1 : HANG_MS, undefined, { signal: this.#closing.signal });
    } finally {
      this.underWay -= 1;
    }
    if (url !== LIVING) return { fault: 'timeout' };
    this.answeredAtMs.push(performance.now());
    return { status: 200 };
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }
}

let ground: TestService;
before(async () => {
  ground = await testService();
});
after(() => ground.close());

async function subscribe(url: string, count: number): Promise<void> {
  const secret = ground.service.keys.seal(WEBHOOK_SECRET, 'whsec_x');
  await ground.db.run(
    `with made as (
       insert into customers (id, public_no, email, email_key, password_hash, created_at)
       select new_id($1), (random() * 1e15)::bigint, u, u, '', $1 from
         (select gen_random_uuid()::text as u from generate_series(1, $2)) as n returning id),
     hooks as (
       insert into webhooks (id, customer_id, url, events, active, secret_sealed, secret_hint, created_at)
       select new_id($1), id, $3, '{*}', true, $4, 'hint', $1 from made returning id)
     insert into webhook_queues (webhook_id) select id from hooks`,
    [ground.clock.now(), count, url, secret],
  );
}

/** So many events of everybody who has such a webhook. */
async function publish(url: string, each: number): Promise<void> {
  await ground.db.run(
    `insert into events (id, customer_id, type, data, created_at)
     select new_id($1), customer_id, 'server.running', '{}', $1 from webhooks, generate_series(1, $3) where url = $2`,
    [ground.clock.now(), url, each],
  );
}

test('more dead receivers than there are places do not keep one that answers waiting', async () => {
  const receivers = new Receivers();
  const service = { ...ground.service, wake: () => runner.wake() };
  const duties = [fanOutDuty(service), deliverDuty(service, receivers, { stopMs: 0 })];
  const runner = new Runner({ duties, pollMs: 20, log: service.log });
  await subscribe('https://dead.test/', DEAD);
  await subscribe(LIVING, 1);
  // They have been tried before, and all of them have more than can be sent to them in the time of this test.
  await ground.db.run(
    `update webhook_queues set slow = true from webhooks w where w.id = webhook_id and w.url <> $1`,
    [LIVING],
  );
  await publish('https://dead.test/', 4);
  runner.start();
  try {
    while (receivers.underWay < 500) await pause(5);
    for (let n = 1; n <= 3; n++) {
      const began = performance.now();
      await publish(LIVING, 1);
      while (receivers.answeredAtMs.length < n) await pause(1);
      assert.ok((receivers.answeredAtMs[n - 1] ?? 0) - began < HANG_MS / 2, 'it waited for others');
    }
    // One request each, to those that are known to hang.
    assert.ok(receivers.most <= 512 + 4, `${receivers.most} at once`);
  } finally {
    await runner.stop();
  }
});

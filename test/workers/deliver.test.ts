import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setSwitch } from '../../src/domain/rules/switches.ts';
import { deleteWebhook } from '../../src/domain/webhooks/change.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/kernel/time.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import { drip, hang, reset, respondWith } from '../support/webhook-receiver.ts';
import { assertSigned, eventId, lines, type WebhookWorld, webhookWorld } from './webhook-world.ts';

let world: WebhookWorld;
let paths = 0;
before(async () => {
  world = await webhookWorld();
});
after(() => world.close());

const freshPath = () => `/hook-${paths++}`;
describe('event delivery', () => {
  it('an event is sent signed, in its envelope, to every subscription of its type', async () => {
    const actor = await world.customer();
    const [all, some, none] = [freshPath(), freshPath(), freshPath()];
    const hook = await world.webhook(actor, world.receiver.url(all));
    await world.webhook(actor, world.receiver.url(some), { events: ['server.running', 'topup.expired'] });
    await world.webhook(actor, world.receiver.url(none), { events: ['topup.expired'] });
    await world.webhook(actor, world.receiver.url(none), { active: false });
    await world.webhook(await world.customer(), world.receiver.url(none));
    await world.publish(actor);
    const [event] = await world.fixture.db.rows<{ created_at: Date }>(
      'select created_at from events where customer_id = $1',
      [actor.customerId],
    );
    await world.runUntilIdle();
    assert.deepEqual(
      [all, some, none].map((path) => world.receiver.requestsTo(path).length),
      [1, 1, 0],
    );
    const [one] = world.receiver.requestsTo(all);
    assert.ok(one && event);
    assert.equal(one.headers['content-type'], 'application/json');
    const { id, ...rest } = JSON.parse(one.body);
    assert.match(id, /^evt_[a-z2-7]{26}$/);
    assert.deepEqual(rest, {
      object: 'event',
      type: 'server.running',
      created_at: `${event.created_at.toISOString().slice(0, 19)}Z`,
      data: { server: { id: 'srv_x', n: 0 } },
    });
    assertSigned(one, hook.secret);
    const [delivery] = await world.log(actor, hook);
    assert.deepEqual(
      [delivery?.id, delivery?.event, delivery?.status, delivery?.http_status, delivery?.next_attempt_at],
      [one.headers['x-service-delivery-id'], id, 'delivered', 200, null],
    );
    assert.ok(delivery?.attempted_at && delivery.duration_ms !== null);
  });

  it('a failing delivery has six attempts under one id, then is given up', async () => {
    const actor = await world.customer();
    const path = freshPath();
    const hook = await world.webhook(actor, world.receiver.url(path, respondWith(500)));
    await world.publish(actor);
    await world.runUntilIdle();
    const { clock } = world.fixture;
    const waits = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 5 * HOUR_MS, DAY_MS];
    for (const [n, wait] of waits.entries()) {
      const due = await world.runner.nextDue();
      assert.equal((due?.getTime() ?? 0) - clock.now().getTime(), wait);
      clock.advanceS(wait / 1_000 - 1);
      await world.runUntilIdle();
      assert.equal(world.receiver.requestsTo(path).length, n + 1);
      clock.advanceS(1);
      await world.runUntilIdle();
    }
    const sent = world.receiver.requestsTo(path);
    assert.equal(sent.length, LIMITS.webhookAttemptsMax);
    assert.equal(await world.runner.nextDue(), null);
    for (const one of sent) assertSigned(one, hook.secret);
    assert.deepEqual(new Set(sent.map((one) => one.headers['x-service-delivery-id'])).size, 1);
    assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
    const log = await world.log(actor, hook);
    assert.deepEqual(
      lines(log),
      [1, 2, 3, 4, 5, 6].map((n) => [n, 'failed', 500]),
    );
    assert.ok(log.every(({ next_attempt_at }) => next_attempt_at === null));
  });

  it('a delivery fails without a timely 2xx response, and its log names the reason', async () => {
    const actor = await world.customer();
    const expected: [string, string | number][] = [
      [world.receiver.url(freshPath(), respondWith(204)), 204],
      [
        world.receiver.url(freshPath(), respondWith(302, { location: world.receiver.url('/elsewhere') })),
        302,
      ],
      [world.receiver.url(freshPath(), respondWith(404)), 404],
      [world.receiver.url(freshPath(), hang), 'timeout'],
      // The status line alone decides.
      // The status line decides.
      [world.receiver.url(freshPath(), drip('body')), 200],
      [world.receiver.url(freshPath(), reset), 'connection reset'],
      [
        world.receiver.url(freshPath(), (response) => response.socket?.end('nonsense\r\n\r\n')),
        'invalid answer',
      ],
      ['https://127.0.0.1:1/', 'connection refused'],
      ['https://no-such-name.invalid/', 'dns'],
    ];
    const hooks = [];
    for (const [url] of expected) hooks.push(await world.webhook(actor, url));
    await world.publish(actor);
    await world.runUntilIdle();
    for (const [n, hook] of hooks.entries()) {
      const [, outcome = ''] = expected[n] ?? [];
      const status = outcome === 200 || outcome === 204 ? 'delivered' : 'failed';
      assert.deepEqual(lines(await world.log(actor, hook)), [[1, status, outcome]]);
      await deleteWebhook(world.service, actor, hook.id);
    }
    assert.equal(world.receiver.requestsTo('/elsewhere').length, 0);
  });
});

describe('the delivery job', () => {
  it('any number of processes send each delivery once, numbered in order without gaps', async () => {
    const others = [world.startRunner(), world.startRunner()];
    const targets = await Promise.all(
      [0, 1, 2].map(async () => {
        const actor = await world.customer();
        const path = freshPath();
        await world.webhook(
          actor,
          world.receiver.url(path, (response) => setTimeout(() => response.end(), 1)),
        );
        return { actor, path };
      }),
    );
    const writing = targets.map(({ actor }) => world.publish(actor, 80));
    for (const other of others) other.start();
    await Promise.all(writing);
    await world.runUntilIdle();
    for (const { actor, path } of targets) {
      const sent = world.receiver.requestsTo(path).map(eventId);
      assert.deepEqual([sent.length, new Set(sent).size], [80, 80]);
      assert.ok((world.receiver.maxInFlight.get(path) ?? 0) <= 4);
      // All within one millisecond, and in the order of writing.
      const events = await world.fixture.db.rows<{ seq: bigint; n: number }>(
        `select seq, (data -> 'server' -> 'n')::int as n from events where customer_id = $1 order by seq`,
        [actor.customerId],
      );
      assert.deepEqual(
        events.map(({ seq, n }) => [Number(seq), n]),
        Array.from({ length: 80 }, (_, n) => [n + 1, n]),
      );
    }
    for (const other of others) await other.stop();
  });

  it('deliveries wait while the switch is off', async () => {
    const actor = await world.customer();
    const path = freshPath();
    const hook = await world.webhook(actor, world.receiver.url(path));
    await setSwitch(world.service, 'webhooks', false);
    await world.publish(actor);
    await world.runUntilIdle();
    assert.deepEqual([world.receiver.requestsTo(path).length, await world.runner.nextDue()], [0, null]);
    assert.deepEqual(lines(await world.log(actor, hook)), [[1, 'pending', null]]);
    await setSwitch(world.service, 'webhooks', true);
    await world.runUntilIdle();
    assert.equal(world.receiver.requestsTo(path).length, 1);
  });

  it('deliveries in progress finish when the service stops, or the next process sends them', async () => {
    const stopping = await webhookWorld({ timeoutMs: 10_000 });
    try {
      const actor = await stopping.customer();
      const [slow, dead] = ['/slow', '/dead'];
      const open: (() => void)[] = [];
      const hooks = [
        await stopping.webhook(
          actor,
          stopping.receiver.url(slow, (response) => open.push(() => response.end())),
        ),
        await stopping.webhook(actor, stopping.receiver.url(dead, hang)),
      ];
      await stopping.publish(actor);
      stopping.runner.start();
      await Promise.all([stopping.receiver.waitForCount(slow, 1), stopping.receiver.waitForCount(dead, 1)]);
      const stopped = stopping.runner.stop();
      for (const answerNow of open) answerNow();
      await stopped;
      const [finished, interrupted] = await Promise.all(hooks.map((hook) => stopping.log(actor, hook)));
      assert.deepEqual(lines(finished ?? []), [[1, 'delivered', 200]]);
      assert.deepEqual(lines(interrupted ?? []), [[1, 'pending', null]]);
      stopping.receiver.url(dead, respondWith(200));
      await stopping.startRunner().runUntilIdle(10_000);
      const [again] = await Promise.all([stopping.log(actor, hooks[1] ?? { id: '' })]);
      assert.deepEqual(lines(again), [[1, 'delivered', 200]]);
      assert.equal(
        new Set(stopping.receiver.requestsTo(dead).map((one) => one.headers['x-service-delivery-id'])).size,
        1,
      );
    } finally {
      await stopping.close();
    }
  });
});

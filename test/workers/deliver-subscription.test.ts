import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { deleteWebhook, updateWebhook } from '../../src/domain/webhooks/change.ts';
import { replayDelivery, testWebhook } from '../../src/domain/webhooks/queue.ts';
import { findWebhook } from '../../src/domain/webhooks/read.ts';
import { endWebhookRotation, rotateWebhookSecret } from '../../src/domain/webhooks/secret.ts';
import { hang, respondWith } from '../support/webhook-receiver.ts';
import {
  assertSigned,
  eventId,
  lines,
  NEXT_SIGNATURE,
  stored,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

let world: WebhookWorld;
let paths = 0;
before(async () => {
  world = await webhookWorld();
});
after(() => world.close());

const freshPath = () => `/hook-${paths++}`;
describe('a webhook subscription', () => {
  it('a 410 response pauses the subscription, cancels its queue, and notifies its owner', async () => {
    const actor = await world.customer();
    const path = freshPath();
    let hits = 0;
    // The first delivery fails and waits for a retry; every later one is answered with 410.
    const hook = await world.webhook(
      actor,
      world.receiver.url(path, (response) => response.writeHead(hits++ === 0 ? 500 : 410).end()),
    );
    await world.publish(actor);
    await world.runUntilIdle();
    await world.publish(actor, 12);
    await world.runUntilIdle();
    const { active } = await findWebhook(world.service, actor, hook.id);
    assert.equal(active, false);
    const log = await world.log(actor, hook);
    assert.equal(log.length, 13);
    const gone = log.filter(({ http_status }) => http_status === 410).length;
    assert.ok(gone >= 1 && gone <= 4 && hits === gone + 1, `${gone} deliveries were answered with 410`);
    assert.equal(log.filter(({ status }) => status === 'cancelled').length, 12 - gone);
    assert.ok(log.every(({ next_attempt_at }) => next_attempt_at === null));
    await world.publish(actor, 3);
    await world.runUntilIdle();
    assert.equal((await world.log(actor, hook)).length, 13);
    const mails = await world.fixture.db.rows(
      `select kind from mails where customer_id = $1 and kind <> 'webhook_created'`,
      [actor.customerId],
    );
    assert.deepEqual(mails, [{ kind: 'webhook_paused' }]);
    assert.equal(await world.runner.nextDue(), null);
  });

  it('a subscription that is paused or deleted during delivery receives no more', async () => {
    const actor = await world.customer();
    const pauseIt = (id: string) => updateWebhook(world.service, actor, id, { active: false });
    const deleteIt = (id: string) => deleteWebhook(world.service, actor, id);
    // An attempt that fails afterward is not retried.
    for (const [end, status] of [
      [pauseIt, 200] as const,
      [pauseIt, 500] as const,
      [deleteIt, 200] as const,
    ]) {
      const path = freshPath();
      const open: (() => void)[] = [];
      const hook = await world.webhook(
        actor,
        world.receiver.url(path, (response) => open.push(() => response.writeHead(status).end())),
      );
      await world.publish(actor, 60);
      const settled = world.runUntilIdle();
      await world.receiver.waitForCount(path, 4);
      await end(hook.id);
      for (const answerNow of open) answerNow();
      await settled;
      assert.equal(world.receiver.requestsTo(path).length, 4);
      const states = await world.fixture.db.rows(
        'select distinct status, due_at from deliveries where webhook_id = $1',
        [stored(hook)],
      );
      assert.deepEqual(states, [{ status: 'cancelled', due_at: null }]);
      await world.publish(actor);
      await world.runUntilIdle();
      assert.equal(world.receiver.requestsTo(path).length, 4);
    }
  });

  it('a subscription hears only of events that happened while it existed and was active', async () => {
    const actor = await world.customer();
    const path = freshPath();
    const { clock } = world.fixture;
    // No job runs in between, so every event is numbered when the subscription exists and is active.
    await world.publish(actor);
    clock.advanceS(1);
    const hook = await world.webhook(actor, world.receiver.url(path));
    await world.publish(actor);
    clock.advanceS(1);
    const setActive = (active: boolean) => updateWebhook(world.service, actor, hook.id, { active });
    await setActive(false);
    await world.publish(actor);
    clock.advanceS(1);
    await setActive(true);
    const at = clock.now();
    await world.publish(actor);
    clock.advanceS(1);
    await setActive(true);
    await world.runUntilIdle();
    const times = world.receiver.requestsTo(path).map(({ body }) => Date.parse(JSON.parse(body).created_at));
    assert.deepEqual(times, [Math.floor(at.getTime() / 1_000) * 1_000]);
  });

  it('a subscription with a new URL receives its next attempts there', async () => {
    const actor = await world.customer();
    const [old, next] = [freshPath(), freshPath()];
    const hook = await world.webhook(actor, world.receiver.url(old, respondWith(503)));
    await world.publish(actor);
    await world.runUntilIdle();
    await updateWebhook(world.service, actor, hook.id, { url: world.receiver.url(next) });
    world.fixture.clock.advanceS(60);
    await world.runUntilIdle();
    assert.deepEqual([world.receiver.requestsTo(old).length, world.receiver.requestsTo(next).length], [1, 1]);
    assert.deepEqual(lines(await world.log(actor, hook)), [
      [1, 'failed', 503],
      [2, 'delivered', 200],
    ]);
  });

  it('both secrets sign while a secret is rotated, and afterwards only the secret that stays', async () => {
    const actor = await world.customer();
    const path = freshPath();
    const hook = await world.webhook(actor, world.receiver.url(path));
    const deliver = async () => {
      await world.publish(actor);
      await world.runUntilIdle();
      return world.receiver.requestsTo(path).at(-1) ?? assert.fail('nothing was sent');
    };
    const { next_secret: next } = await rotateWebhookSecret(world.service, actor, hook.id);
    const rotating = await deliver();
    assertSigned(rotating, hook.secret);
    assertSigned(rotating, next, NEXT_SIGNATURE);
    await endWebhookRotation(world.service, actor, hook.id, { keep: 'current' });
    const canceled = await deliver();
    assertSigned(canceled, hook.secret);
    assert.equal(canceled.headers[NEXT_SIGNATURE], undefined);
    const { next_secret: last } = await rotateWebhookSecret(world.service, actor, hook.id);
    await endWebhookRotation(world.service, actor, hook.id, {});
    const ended = await deliver();
    assertSigned(ended, last);
    assert.equal(ended.headers[NEXT_SIGNATURE], undefined);
  });

  it('a subscription whose secret cannot be opened waits without losing an attempt', async (t) => {
    const actor = await world.customer();
    const path = freshPath();
    const hook = await world.webhook(actor, world.receiver.url(path));
    const { fixture } = world;
    const sealedBy = (from: string, to: string) =>
      fixture.db.run(
        `update webhooks set secret_sealed = $2 || substr(secret_sealed, position('.' in secret_sealed))
          where id = $1 and secret_sealed like $3 || '.%'`,
        [stored(hook), to, from],
      );
    const key = world.service.keys.newestId;
    assert.equal(await sealedBy(key, 'lost'), 1);
    const logged = t.mock.method(world.service.log, 'error', () => undefined);
    await world.publish(actor, 3);
    await testWebhook(world.service, actor, hook.id);
    for (let n = 1; n <= 2; n++) {
      await world.runUntilIdle();
      assert.ok(logged.mock.callCount() >= n);
      const next = await world.runner.nextDue();
      assert.equal((next?.getTime() ?? 0) - fixture.clock.now().getTime(), 600_000);
      const waiting = await world.log(actor, hook);
      assert.deepEqual(
        lines(waiting),
        [1, 2, 3, 4].map(() => [1, 'pending', null]),
      );
      assert.equal(Date.parse(waiting[0]?.next_attempt_at ?? '') / 1_000, Math.floor(Number(next) / 1_000));
      fixture.clock.advanceS(600);
    }
    assert.equal(world.receiver.requestsTo(path).length, 0);
    assert.equal(await sealedBy('lost', key), 1);
    await world.runUntilIdle();
    assert.deepEqual(
      lines(await world.log(actor, hook)),
      [1, 2, 3, 4].map(() => [1, 'delivered', 200]),
    );
    for (const one of world.receiver.requestsTo(path)) assertSigned(one, hook.secret);
  });

  it('a ping ignores the event filter and the backlog, and a replay has a new delivery id', async () => {
    const actor = await world.customer();
    const path = freshPath();
    let up = false;
    const hook = await world.webhook(
      actor,
      world.receiver.url(path, (response) => response.writeHead(up ? 200 : 500).end()),
      { events: ['server.running'] },
    );
    const first = await testWebhook(world.service, actor, hook.id);
    await world.runUntilIdle();
    assert.deepEqual(lines(await world.log(actor, hook)), [[1, 'failed', 500]]);
    assert.equal(await world.runner.nextDue(), null);
    await world.publish(actor, 30);
    const waiting = await Promise.all([0, 1].map(() => testWebhook(world.service, actor, hook.id)));
    up = true;
    await world.runUntilIdle();
    const [failed, ...sent] = world.receiver.requestsTo(path);
    assert.equal(failed?.headers['x-service-delivery-id'], first.id);
    assert.deepEqual(
      new Set(sent.slice(0, 2).map((one) => one.headers['x-service-delivery-id'])),
      new Set(waiting.map(({ id }) => id)),
    );
    const ping = JSON.parse(failed?.body ?? '');
    const { secret, ...shown } = hook;
    assert.deepEqual([ping.type, ping.data, ping.created_at], ['ping', { webhook: shown }, first.created_at]);
    const event = sent.find((one) => JSON.parse(one.body).type === 'server.running');
    assert.ok(event);
    const delivery = String(event.headers['x-service-delivery-id']);
    const replay = await replayDelivery(world.service, actor, { webhook: hook.id, delivery });
    await world.runUntilIdle();
    const again = world.receiver.requestsTo(path).at(-1);
    assert.ok(again);
    assert.deepEqual([again.body, eventId(again)], [event.body, replay.event]);
    assert.equal(again.headers['x-service-delivery-id'], replay.id);
    assert.notEqual(replay.id, delivery);
  });

  it('a subscription receives at most four requests at once, and a hanging one delays no other', async () => {
    const [dead, path] = [freshPath(), freshPath()];
    const hanging = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const actor = await world.customer();
        return [actor, await world.webhook(actor, world.receiver.url(dead, hang))] as const;
      }),
    );
    const actor = await world.customer();
    // The first requests wait for each other: a slow machine would send them one by one.
    const four = Promise.withResolvers<void>();
    const respondToFour = (response: ServerResponse) => {
      if (world.receiver.maxInFlight.get(path) === 4) four.resolve();
      void four.promise.then(() => setTimeout(() => response.end(), 2));
    };
    const hook = await world.webhook(actor, world.receiver.url(path, respondToFour));
    for (const [customer] of hanging) await world.publish(customer, 6);
    await world.publish(actor, 100);
    const settled = world.runUntilIdle();
    await world.receiver.waitForCount(path, 100);
    // All of this happens before the first hanging request times out.
    const [first] = world.receiver.requestsTo(dead);
    const last = world.receiver.requestsTo(path).at(-1);
    assert.ok(first && last);
    await settled;
    assert.equal(world.receiver.maxInFlight.get(path), 4);
    assert.equal((await world.log(actor, hook)).filter(({ status }) => status === 'delivered').length, 100);
    for (const [customer, one] of hanging) {
      assert.deepEqual(
        lines(await world.log(customer, one)),
        Array.from({ length: 6 }, () => [1, 'failed', 'timeout']),
      );
      await deleteWebhook(world.service, customer, one.id);
    }
  });
});

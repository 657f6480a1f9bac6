import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ScopedActor, Service } from '../../../src/domain/context.ts';
import { createWebhook, deleteWebhook, updateWebhook } from '../../../src/domain/webhooks/change.ts';
import { replayDelivery, testWebhook } from '../../../src/domain/webhooks/queue.ts';
import { findWebhook, listDeliveries, listWebhooks } from '../../../src/domain/webhooks/read.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { LIMITS, QUOTAS } from '../../../src/spec/limits.ts';
import type { CreatedWebhook, CreateWebhook } from '../../../src/spec/schemas/webhook.ts';
import { SEALED } from '../../../src/spec/sealed.ts';
import { dumpTables } from '../../support/dump-tables.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const PAGE = { filter: {}, sort: 'created_at', descending: true, after: null, size: 25 };

let fixture: TestService;
let service: Service;
let actor: ScopedActor;
before(async () => {
  fixture = await startTestService();
  service = fixture.service;
});
after(() => fixture.close());
beforeEach(async () => {
  actor = await fixture.fixtures.addCustomer();
});

const create = (body: Partial<CreateWebhook> = {}, by = actor): Promise<CreatedWebhook> =>
  createWebhook(service, by, { url: 'https://example.com/hooks', events: ['*'], ...body });

const stored = (shown: { id: string }) => parseId('webhook', shown.id) ?? assert.fail('no id');
const log = async (shown: { id: string }, filter = {}) =>
  (await listDeliveries(service, actor, shown.id, { ...PAGE, filter })).items;

async function audited(by = actor): Promise<string[]> {
  const rows = await fixture.db.rows<{ line: string }>(
    `select action || ' ' || resource as line
       from audit_events where customer_id = $1 order by created_at, ctid`,
    [by.customerId],
  );
  return rows.map(({ line }) => line);
}

/** Inserts an attempt for the event of this delivery, `daysAgo`. */
async function attempted(
  webhook: { id: string },
  row: { delivery?: string; attempt: number; next: Date | null; daysAgo?: number },
): Promise<string> {
  const at = new Date(fixture.clock.now().getTime() - (row.daysAgo ?? 0) * DAY_MS);
  const id = newId(at);
  const delivery = row.delivery === undefined ? id : (parseId('delivery', row.delivery) ?? '');
  await fixture.db.run(
    `insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt, status,
                             http_status, duration_ms, attempted_at, next_attempt_at, due_at, created_at)
     values ($id, $delivery, $webhookId, $customerId, $eventId, 'server.running', $attempt, 'failed', 500, 12,
             $at, $next, $next, $at)`,
    { ...row, ...actor, id, delivery, webhookId: stored(webhook), eventId: newId(at), at },
  );
  return formatId('delivery', delivery);
}

describe('a webhook', () => {
  it('a webhook is created with a secret that only this response contains', async () => {
    const made = await create({ events: ['server.running', 'topup.confirmed'] });
    const { secret, ...webhook } = made;
    assert.match(secret, /^whsec_[a-z2-7]{52}$/);
    assert.deepEqual(webhook, {
      id: webhook.id,
      object: 'webhook',
      url: 'https://example.com/hooks',
      events: ['server.running', 'topup.confirmed'],
      active: true,
      ...{ paused_reason: null, scope: 'billing' },
      secret_hint: secret.slice(-4),
      next_secret_hint: null,
      created_at: webhook.created_at,
    });
    assert.deepEqual(await findWebhook(service, actor, made.id), webhook);
    assert.deepEqual(await listWebhooks(service, actor, PAGE), { items: [webhook], next: null });
    assert.deepEqual(await audited(), [`webhook.create ${made.id}`]);
    const row = await fixture.db.row<{ secret_sealed: string }>(
      'select secret_sealed from webhooks where id = $1',
      [stored(made)],
    );
    assert.equal(
      service.keys.open(SEALED.webhookSecret, stored(made), row?.secret_sealed ?? '').toString(),
      secret,
    );
    assert.ok(!JSON.stringify(await dumpTables(fixture.db)).includes(secret));
  });

  it('a webhook keeps its URL as written', async () => {
    assert.equal((await create({ url: 'https://Example.COM' })).url, 'https://Example.COM');
  });

  it('a webhook needs a URL on the public internet', async () => {
    await assert.rejects(create({ url: 'https://10.1/' }), {
      items: [{ field: 'url', issue: 'invalid_value' }],
    });
    assert.deepEqual((await listWebhooks(service, actor, PAGE)).items, []);
  });

  it('an update changes only the given fields', async () => {
    const { secret, ...made } = await create();
    const changed = await updateWebhook(service, actor, made.id, { events: ['server.created'] });
    assert.deepEqual(changed, { ...made, events: ['server.created'] });
    const moved = await updateWebhook(service, actor, made.id, {
      url: 'https://example.org/',
      active: false,
    });
    assert.deepEqual(moved, { ...changed, url: 'https://example.org/', active: false });
    assert.deepEqual(await updateWebhook(service, actor, made.id, {}), moved);
    await assert.rejects(updateWebhook(service, actor, made.id, { url: 'https://localhost' }), {
      code: 'invalid_request',
    });
    assert.deepEqual(await findWebhook(service, actor, made.id), moved);
    const inactive = await listWebhooks(service, actor, { ...PAGE, filter: { active: 'false' } });
    assert.deepEqual(inactive.items, [moved]);
  });

  it('a customer has a limited number of webhooks, even with concurrent requests', async () => {
    const limit = QUOTAS.webhooks;
    const attempts = await Promise.allSettled(Array.from({ length: limit + 5 }, () => create()));
    const refused = attempts.filter((attempt) => attempt.status === 'rejected');
    assert.equal(refused.length, 5);
    for (const { reason } of refused) {
      assert.deepEqual([reason.code, reason.extras], ['limit_reached', { limit, used: limit }]);
    }
    assert.equal((await listWebhooks(service, actor, PAGE)).items.length, limit);
  });

  it('another customer’s webhook is not found', async () => {
    const made = await create();
    const delivery = (await testWebhook(service, actor, made.id)).id;
    const stranger = await fixture.fixtures.addCustomer();
    const none = formatId('webhook', newId(new Date()));
    for (const [by, id] of [
      [stranger, made.id],
      [actor, none],
      [actor, 'whk_x'],
      [actor, made.id.replace('whk_', 'srv_')],
    ] as const) {
      for (const attempt of [
        () => findWebhook(service, by, id),
        () => updateWebhook(service, by, id, { active: false }),
        () => deleteWebhook(service, by, id),
        () => testWebhook(service, by, id),
        () => listDeliveries(service, by, id, PAGE),
        () => replayDelivery(service, by, { webhook: id, delivery }),
      ]) {
        await assert.rejects(attempt(), { code: 'not_found', extras: {} });
      }
    }
    assert.deepEqual(await audited(stranger), []);
    assert.equal((await findWebhook(service, actor, made.id)).active, true);
  });
});

describe('deliveries', () => {
  it('a ping contains the webhook and is sent regardless of its events', async () => {
    const { secret, ...webhook } = await create({ events: ['token.created'] });
    const ping = await testWebhook(service, actor, webhook.id);
    assert.match(ping.id, /^del_[a-z2-7]{26}$/);
    assert.match(ping.event, /^evt_[a-z2-7]{26}$/);
    const { id, event, created_at } = ping;
    assert.deepEqual(ping, {
      ...{ id, object: 'webhook_delivery', event, event_type: 'ping', attempt: 1, status: 'pending' },
      ...{ http_status: null, error: null, duration_ms: null, attempted_at: null },
      ...{ next_attempt_at: created_at, created_at },
    });
    assert.deepEqual(await log(webhook), [ping]);
    assert.deepEqual(await audited(), [`webhook.create ${webhook.id}`, `webhook.test ${webhook.id}`]);
    const row = await fixture.db.row<{ event_data: object; due: boolean }>(
      'select event_data, due_at = created_at as due from deliveries where webhook_id = $1',
      [stored(webhook)],
    );
    assert.deepEqual(row, { event_data: { webhook }, due: true });
  });

  it('deliveries are listed by attempt, with filters, for seven days', async () => {
    const webhook = await create();
    const next = new Date(fixture.clock.now().getTime() + 60_000);
    const old = await attempted(webhook, { attempt: 1, next: null, daysAgo: 8 });
    const first = await attempted(webhook, { attempt: 1, next: null, daysAgo: 6 });
    await attempted(webhook, { delivery: first, attempt: 2, next, daysAgo: 5 });
    const ping = await testWebhook(service, actor, webhook.id);
    const shown = await log(webhook);
    assert.deepEqual(
      shown.map(({ id, attempt, status }) => [id, attempt, status]),
      [
        [ping.id, 1, 'pending'],
        [first, 2, 'failed'],
        [first, 1, 'failed'],
      ],
    );
    assert.deepEqual(await log(webhook, { status: 'failed' }), shown.slice(1));
    assert.deepEqual(await log(webhook, { event_type: 'ping' }), [ping]);
    assert.deepEqual(await log(await create()), []);
    const again = replayDelivery(service, actor, { webhook: webhook.id, delivery: old });
    await assert.rejects(again, { code: 'not_found' });
  });

  it('a replay is a new delivery of the same event', async () => {
    const webhook = await create();
    const first = await testWebhook(service, actor, webhook.id);
    const again = await replayDelivery(service, actor, { webhook: webhook.id, delivery: first.id });
    assert.notEqual(again.id, first.id);
    assert.deepEqual(
      { ...again, id: first.id, created_at: '', next_attempt_at: '' },
      {
        ...first,
        created_at: '',
        next_attempt_at: '',
      },
    );
    const bodies = await fixture.db.rows<{ count: bigint }>(
      'select count(*) from deliveries where webhook_id = $1 group by event_id, event_data',
      [stored(webhook)],
    );
    assert.deepEqual(bodies, [{ count: 2n }]);
    const other = { webhook: (await create()).id, delivery: first.id };
    await assert.rejects(replayDelivery(service, actor, other), { code: 'not_found' });
    for (const delivery of ['', 'del_x', formatId('delivery', newId(new Date()))]) {
      await assert.rejects(replayDelivery(service, actor, { webhook: webhook.id, delivery }), {
        code: 'not_found',
      });
    }
  });

  it('pausing a webhook cancels its pending deliveries and blocks new ones', async () => {
    const webhook = await create();
    const ping = await testWebhook(service, actor, webhook.id);
    const next = new Date(fixture.clock.now().getTime() + 60_000);
    await attempted(webhook, { attempt: 3, next });
    await updateWebhook(service, actor, webhook.id, { active: false });
    const shown = await log(webhook);
    assert.deepEqual(shown.map(({ status, next_attempt_at }) => [status, next_attempt_at]).sort(), [
      ['cancelled', null],
      ['failed', null],
    ]);
    await assert.rejects(testWebhook(service, actor, webhook.id), { code: 'conflict_state' });
    const replay = () => replayDelivery(service, actor, { webhook: webhook.id, delivery: ping.id });
    await assert.rejects(replay(), { code: 'conflict_state' });
    assert.equal((await log(webhook)).length, 2);
    await updateWebhook(service, actor, webhook.id, { active: true });
    assert.equal((await replay()).status, 'pending');
  });

  it('a webhook has at most 20 pending pings and replays, even with concurrent requests', async () => {
    const webhook = await create();
    const first = await testWebhook(service, actor, webhook.id);
    await attempted(webhook, { attempt: 1, next: null });
    const most = LIMITS.webhookPendingMax;
    const ask = (n: number) =>
      n % 2 === 0
        ? testWebhook(service, actor, webhook.id)
        : replayDelivery(service, actor, { webhook: webhook.id, delivery: first.id });
    const tries = await Promise.allSettled(Array.from({ length: most + 3 }, (_, n) => ask(n)));
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, most - 1);
    await assert.rejects(ask(0), { code: 'conflict_state', message: /^20 pings and replays are pending/ });
    await testWebhook(service, actor, (await create()).id);
    await fixture.db.run(
      `update deliveries set status = 'delivered', due_at = null where webhook_id = $1 and delivery_id = $2`,
      [stored(webhook), parseId('delivery', first.id)],
    );
    await ask(1);
    await assert.rejects(ask(1), { code: 'conflict_state' });
  });

  it('pending deliveries are canceled when the webhook is deleted', async () => {
    const webhook = await create();
    await testWebhook(service, actor, webhook.id);
    await deleteWebhook(service, actor, webhook.id);
    const due = await fixture.db.row<{ count: bigint }>(
      'select count(*) from deliveries where webhook_id = $1 and due_at is not null',
      [stored(webhook)],
    );
    assert.equal(due?.count, 0n);
    await assert.rejects(deleteWebhook(service, actor, webhook.id), { code: 'not_found' });
    await assert.rejects(log(webhook), { code: 'not_found' });
    assert.equal((await audited()).at(-1), `webhook.delete ${webhook.id}`);
  });

  it('a delivery and its stored response commit together or not at all', async () => {
    const webhook = await create();
    const saveResponse = async () => {
      throw new Error('the response cannot be stored');
    };
    const saving = { ...actor, saveResponse };
    await assert.rejects(testWebhook(service, saving, webhook.id), /cannot be stored/);
    await assert.rejects(
      createWebhook(service, saving, { url: 'https://example.com', events: ['*'] }),
      /cannot be stored/,
    );
    assert.deepEqual(await log(webhook), []);
    assert.equal((await listWebhooks(service, actor, PAGE)).items.length, 1);
    assert.deepEqual(await audited(), [`webhook.create ${webhook.id}`]);
  });
});

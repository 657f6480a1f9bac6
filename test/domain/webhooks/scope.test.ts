import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ScopedActor } from '../../../src/domain/context.ts';
import { fanOutEvents } from '../../../src/domain/events/fan-out.ts';
import { recordEvent } from '../../../src/domain/record.ts';
import { createWebhook, deleteWebhook, updateWebhook } from '../../../src/domain/webhooks/change.ts';
import { findWebhook, listDeliveries } from '../../../src/domain/webhooks/read.ts';
import { EVENT_TYPES, eventScope, MONEY_EVENTS } from '../../../src/spec/events.ts';
import type { CreateWebhook } from '../../../src/spec/schemas/webhook.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const REFUSED = { name: 'Failure', code: 'forbidden_scope' };
const PAGE = { filter: {}, sort: 'created_at', descending: false, after: null, size: 100 };

describe('the scope of a webhook', () => {
  let world: TestService;
  before(async () => {
    world = await startTestService();
  });
  after(() => world.close());

  const customer = async () => {
    const owner = await world.fixtures.addCustomer();
    const lesser: ScopedActor = { ...owner, scope: 'write' };
    return { owner, lesser };
  };
  const create = (by: ScopedActor, events: CreateWebhook['events'] = ['*']) =>
    createWebhook(world.service, by, { url: 'https://example.com/hooks', events });

  async function deliveredTypes(by: ScopedActor, id: string): Promise<string[]> {
    const { items } = await listDeliveries(world.service, by, id, PAGE);
    return items.map(({ event_type }) => event_type).sort();
  }

  it('the events about money are those of billing and top-ups', () => {
    assert.deepEqual(
      MONEY_EVENTS,
      EVENT_TYPES.filter((type) => /^(?:billing|topup)\./.test(type)),
    );
    assert.equal(eventScope('billing.charged'), 'billing');
    assert.equal(eventScope('server.created'), 'read');
  });

  it('only a webhook of a billing token receives money events', async () => {
    const { owner, lesser } = await customer();
    const [all, few] = [await create(owner), await create(lesser)];
    assert.deepEqual([all.scope, few.scope], ['billing', 'write']);
    for (const type of EVENT_TYPES) {
      await recordEvent(world.db, { customerId: owner.customerId, type, object: {} }, world.clock.now());
    }
    while (await fanOutEvents(world.service));
    assert.deepEqual(await deliveredTypes(owner, all.id), [...EVENT_TYPES].sort());
    const readable = EVENT_TYPES.filter((type) => eventScope(type) === 'read');
    assert.deepEqual(await deliveredTypes(owner, few.id), [...readable].sort());
  });

  it('naming a money event requires the scope billing', async () => {
    const { owner, lesser } = await customer();
    for (const type of MONEY_EVENTS) await assert.rejects(create(lesser, ['server.running', type]), REFUSED);
    const few = await create(lesser);
    const change = { events: ['billing.charged'] } as const;
    await assert.rejects(
      updateWebhook(world.service, lesser, few.id, { events: [...change.events] }),
      REFUSED,
    );
    const named = await updateWebhook(world.service, owner, few.id, { events: [...change.events] });
    assert.deepEqual([named.scope, named.events], ['billing', ['billing.charged']]);
  });

  it('saving a lesser webhook with a greater scope does not raise its scope', async () => {
    const { owner, lesser } = await customer();
    const few = await create(lesser);
    const body = { url: 'https://example.com/new', events: ['*'] as CreateWebhook['events'], active: true };
    assert.equal((await updateWebhook(world.service, owner, few.id, body)).scope, 'write');
  });

  it('a lesser token may pause or delete a greater webhook, but not change its URL or events', async () => {
    const { owner, lesser } = await customer();
    const { id, url, events } = await create(owner);
    const update = (body: object) => updateWebhook(world.service, lesser, id, body);
    await assert.rejects(update({ url: 'https://example.com/mine' }), REFUSED);
    await assert.rejects(update({ events: ['server.running'] }), REFUSED);
    assert.equal((await update({ url, events, active: false })).active, false);
    assert.deepEqual((await findWebhook(world.service, owner, id)).url, url);
    await deleteWebhook(world.service, lesser, id);
    await assert.rejects(findWebhook(world.service, owner, id), { code: 'not_found' });
  });
});

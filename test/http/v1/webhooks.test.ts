import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SUBSCRIBABLE_EVENTS } from '../../../src/spec/schemas/webhook.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const BODY = { url: 'https://example.com/hooks', events: ['server.running'] };

describe('REST webhooks', () => {
  let world: HttpWorld;
  let customer: SessionClient;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld();
    customer = await world.customer();
    api = V1Client.forApp(world.app, await createApiToken(customer, 'write'));
  });
  after(() => world.close());

  it('webhooks are created, read, updated, tested, replayed, and deleted', async () => {
    const made = await api.post('/webhooks', BODY, { key: 'one' });
    assert.equal(made.status, 201);
    const { secret, ...webhook } = made.body;
    assert.match(secret, /^whsec_/);
    assert.equal((await api.post('/webhooks', BODY, { key: 'one' })).text, made.text);
    const path = `/webhooks/${webhook.id}`;
    const read = await api.get(path);
    assert.deepEqual([read.status, read.body], [200, webhook]);
    assert.deepEqual((await api.get('/webhooks')).body.data, [webhook]);
    const changed = await api.patch(path, { events: ['*'] });
    assert.deepEqual([changed.status, changed.body], [200, { ...webhook, events: ['*'] }]);
    const ping = await api.post(`${path}/test`);
    assert.deepEqual([ping.status, ping.body.event_type, ping.body.status], [202, 'ping', 'pending']);
    const replayed = await api.post(`${path}/deliveries/${ping.body.id}/replay`);
    assert.deepEqual([replayed.status, replayed.body.event], [202, ping.body.event]);
    const log = await api.get(`${path}/deliveries?filter[status]=pending&filter[event_type]=ping`);
    assert.equal(log.body.data.length, 2);
    await api.patch(path, { active: false });
    assertApiError(await api.post(`${path}/test`), 409, 'conflict_state');
    const gone = await api.delete(path);
    assert.deepEqual([gone.status, gone.text], [204, '']);
    assertApiError(await api.get(path), 404, 'not_found');
    assertApiError(await api.get(`${path}/deliveries`), 404, 'not_found');
    assert.deepEqual((await world.auditLines(customer)).slice(-7), [
      'webhook.create ok',
      'webhook.update ok',
      'webhook.test ok',
      'webhook.replay ok',
      'webhook.update ok',
      'webhook.test error',
      'webhook.delete ok',
    ]);
  });

  it('rotates a secret: the next one is shown once, and replaces the current one at the end', async () => {
    const { secret, ...webhook } = (await api.post('/webhooks', BODY)).body;
    const path = `/webhooks/${webhook.id}`;
    assert.equal(webhook.next_secret_hint, null);
    assertApiError(await api.post(`${path}/end-rotation`), 409, 'conflict_state');
    const wrong = await api.post(`${path}/end-rotation`, { keep: 'both' });
    assert.equal(assertApiError(wrong, 400, 'invalid_request')[0].field, 'keep');
    const rotated = await api.post(`${path}/rotate-secret`, undefined, { key: 'rotate' });
    const { next_secret: next, ...shown } = rotated.body;
    assert.match(next, /^whsec_[a-z2-7]{52}$/);
    assert.notEqual(next, secret);
    assert.deepEqual(shown, { ...webhook, next_secret_hint: next.slice(-4) });
    assert.equal((await api.post(`${path}/rotate-secret`, undefined, { key: 'rotate' })).text, rotated.text);
    assert.deepEqual((await api.get(path)).body, shown);

    const again = (await api.post(`${path}/rotate-secret`)).body.next_secret;
    assert.notEqual(again, next);
    const canceled = await api.post(`${path}/end-rotation`, { keep: 'current' });
    assert.deepEqual([canceled.status, canceled.body], [200, webhook]);

    const last = (await api.post(`${path}/rotate-secret`)).body.next_secret;
    const ended = await api.post(`${path}/end-rotation`);
    assert.deepEqual(ended.body, { ...webhook, secret_hint: last.slice(-4) });
    assert.deepEqual((await world.auditLines(customer)).slice(-3), [
      'webhook.end_rotation ok',
      'webhook.rotate_secret ok',
      'webhook.end_rotation ok',
    ]);
    await api.delete(path);
  });

  it('a token with less scope than a webhook cannot rotate its secret', async () => {
    const billing = V1Client.forApp(world.app, await createApiToken(customer, 'billing'));
    const { id } = (await billing.post('/webhooks', BODY)).body;
    for (const act of ['rotate-secret', 'end-rotation']) {
      assertApiError(await api.post(`/webhooks/${id}/${act}`), 403, 'forbidden_scope');
    }
    assert.equal((await billing.post(`/webhooks/${id}/rotate-secret`)).status, 200);
    await billing.delete(`/webhooks/${id}`);
  });

  for (const [what, body, item] of [
    ['an empty list of events', { ...BODY, events: [] }, { field: 'events', issue: 'min_items', min: 1 }],
    [
      'an unknown event',
      { ...BODY, events: ['server.running', 'server.melted'] },
      { field: 'events.1', issue: 'invalid_value', allowed: [...SUBSCRIBABLE_EVENTS] },
    ],
    [
      'ping as an event',
      { ...BODY, events: ['ping'] },
      { field: 'events.0', issue: 'invalid_value', allowed: [...SUBSCRIBABLE_EVENTS] },
    ],
    [
      'too many events',
      { ...BODY, events: Array.from({ length: 101 }, () => 'topup.pending') },
      { field: 'events', issue: 'max_items', max: 100 },
    ],
    ['a missing URL', { events: ['*'] }, { field: 'url', issue: 'required' }],
    ['an empty URL', { ...BODY, url: '' }, { field: 'url', issue: 'min_length', min: 1 }],
    [
      'a URL that is too long',
      { ...BODY, url: `https://example.com/${'x'.repeat(2029)}` },
      { field: 'url', issue: 'max_length', max: 2048 },
    ],
    ['an http URL', { ...BODY, url: 'http://example.com' }, { field: 'url', issue: 'invalid_format' }],
    ['a private address', { ...BODY, url: 'https://0x7f.1/' }, { field: 'url', issue: 'invalid_value' }],
    ['port 0', { ...BODY, url: 'https://example.com:0/' }, { field: 'url', issue: 'invalid_value' }],
    ['a custom secret', { ...BODY, secret: 'whsec_mine' }, { field: 'secret', issue: 'unknown_key' }],
  ] as const) {
    it(`a webhook with ${what} is rejected with the field`, async () => {
      assert.deepEqual(assertApiError(await api.post('/webhooks', body), 400, 'invalid_request'), [item]);
    });
  }

  it('repeated events, and * next to others, are stored once', async () => {
    const made = await api.post('/webhooks', { ...BODY, events: ['snapshot.ready', '*', 'snapshot.ready'] });
    assert.deepEqual([made.status, made.body.events], [201, ['snapshot.ready', '*']]);
    const events = ['server.created', 'server.created'];
    const changed = await api.patch(`/webhooks/${made.body.id}`, { events });
    assert.deepEqual([changed.status, changed.body.events], [200, ['server.created']]);
    await api.delete(`/webhooks/${made.body.id}`);
  });

  it('an update of a webhook is validated like its creation', async () => {
    const { id } = (await api.post('/webhooks', { ...BODY, active: false })).body;
    for (const body of [
      { url: 'https://[::1]/' },
      { url: 'https://example.com:0/' },
      { events: [] },
      { url: null },
      { created_at: 'now' },
    ]) {
      assertApiError(await api.patch(`/webhooks/${id}`, body), 400, 'invalid_request');
    }
    assert.equal((await api.get(`/webhooks/${id}`)).body.url, BODY.url);
  });

  it('webhooks are limited per customer', async () => {
    const theirs = api.withToken(await createApiToken(await world.customer(), 'write'));
    for (let n = 0; n < 20; n++) assert.equal((await theirs.post('/webhooks', BODY)).status, 201);
    const [item] = assertApiError(await theirs.post('/webhooks', BODY), 422, 'unprocessable');
    assert.deepEqual([item.issue, item.limit], ['limit_reached', 20]);
    const pages = await theirs.get('/webhooks?page_size=15');
    assert.deepEqual([pages.body.data.length, pages.body.has_more], [15, true]);
    const rest = await theirs.get(`/webhooks?page_size=15&cursor=${pages.body.next_cursor}`);
    assert.deepEqual([rest.body.data.length, rest.body.has_more], [5, false]);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ACTIONS } from '../../../src/spec/actions.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('REST audit events', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  it('audit events identify each change by the request id and the token of the caller', async () => {
    const customer = await world.customer();
    const api = V1Client.forApp(world.app, await createApiToken(customer, 'write'));
    const made = await api.post('/account/tokens', { name: 'a', scope: 'read' });
    const denied = await api.post('/account/tokens', { name: 'a', scope: 'billing' });
    const wrong = await api.post('/account/tokens', {});
    const { body: own } = await api.get('/account/tokens?filter[scope]=write');
    const { body } = await api.get('/audit/events?filter[action]=token.create&sort=created_at');
    const rows = body.data.map((event: JsonBody) => [
      event.result,
      event.resource,
      event.actor_token,
      event.request_id,
    ]);
    const [session, ...rest] = rows;
    assert.equal(session[2], null);
    assert.match(body.data[0].actor_session, /^sess_[a-z2-7]{26}$/);
    const mine = own.data[0].id;
    const idOf = (answer: typeof made) => answer.headers.get('x-request-id');
    assert.deepEqual(
      new Set(rest.map(String)),
      new Set(
        [
          ['ok', made.body.id, mine, idOf(made)],
          ['denied', null, mine, idOf(denied)],
          ['error', null, mine, idOf(wrong)],
        ].map(String),
      ),
    );
    for (const event of body.data) assert.deepEqual((await api.get(`/audit/events/${event.id}`)).body, event);
    const stranger = V1Client.forApp(world.app, await createApiToken(await world.customer(), 'read'));
    assertApiError(await stranger.get(`/audit/events/${body.data[0].id}`), 404, 'not_found');
  });

  it('audit events accept plain and bracketed filters, and an invalid filter is named', async () => {
    const api = V1Client.forApp(world.app, await createApiToken(await world.customer(), 'write'));
    const { body: made } = await api.post('/account/tokens', { name: 'a', scope: 'read' });
    for (const query of [
      `resource=${made.id}`,
      `filter[resource]=${made.id}`,
      `action=token.create&page_size=1`,
    ]) {
      const { body } = await api.get(`/audit/events?${query}`);
      assert.deepEqual(
        body.data.map((event: JsonBody) => event.resource),
        [made.id],
        query,
      );
    }
    const later = encodeURIComponent(new Date(world.clock.now().getTime() + 60_000).toISOString());
    assert.equal((await api.get(`/audit/events?from=${later}`)).body.data.length, 0);
    assert.equal(
      (await api.get(`/audit/events?to=${later}&filter[from]=2020-01-01T00:00:00Z`)).body.data.length,
      3,
    );
    const [item] = assertApiError(
      await api.get('/audit/events?action=server.explode'),
      400,
      'invalid_request',
    );
    assert.deepEqual(item, { field: 'action', issue: 'invalid_value', allowed: [...ACTIONS] });
    for (const query of ['from=yesterday', 'to=2030-02-30T00:00:00Z', 'sort=action']) {
      assertApiError(await api.get(`/audit/events?${query}`), 400, 'invalid_request');
    }
    const words = await api.get('/audit/events?from=yesterday');
    assert.deepEqual(words.body.error.errors, [
      { field: 'from', issue: 'invalid_format', format: 'date-time' },
    ]);
    assert.equal(words.body.error.message, 'from must be an RFC 3339 time, such as 2026-01-31T00:00:00Z.');
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apiToken, assertRefused, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('REST protocol', () => {
  let world: HttpWorld;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    api = V1Client.into(world.app, await apiToken(await world.customer()));
  });
  after(() => world.close());

  it('answers 401 without a token and 404 with one where nothing is', async () => {
    assertRefused(await api.as(null).get('/nothing'), 401, 'unauthenticated');
    assertRefused(await api.get('/nothing'), 404, 'not_found');
    assertRefused(await api.call('DELETE', '/openapi.json'), 404, 'not_found');
    for (const method of ['PATCH', 'TRACE', 'PROPFIND', 'SEARCH']) {
      assertRefused(await api.call(method, '/servers/x/y'), 404, 'not_found');
    }
    assertRefused(await api.get('/%zz'), 404, 'not_found');
    assertRefused(await api.as(null).get('/%zz'), 401, 'unauthenticated');
    assertRefused(await api.get(''), 404, 'not_found');
  });
  it('shows its document to everybody', async () => {
    const answer = await world.app.inject('/v1/openapi.json');
    assert.equal(answer.statusCode, 200);
    assert.equal(JSON.parse(answer.body).openapi, '3.1.0');
    assert.equal(answer.headers['access-control-allow-origin'], '*');
  });
});

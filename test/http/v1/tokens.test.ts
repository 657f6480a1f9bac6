import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { formatRfc3339 } from '../../../src/kernel/time.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import { SCOPES, scopeCovers } from '../../../src/spec/scopes.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('REST tokens', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const client = (token: string) => V1Client.forApp(world.app, token);
  const otherClient = async () => client(await createApiToken(await world.customer()));
  const inSeconds = (seconds: number) =>
    formatRfc3339(new Date(world.clock.now().getTime() + seconds * 1_000));

  it('a token is created with a plaintext that is shown once and works', async () => {
    const api = await otherClient();
    const wanted = { name: 'deploys', scope: 'write', expires_at: '2038-01-19T04:14:07.9+01:00' };
    const made = await api.post('/account/tokens', wanted, { key: 'a' });
    assert.equal(made.status, 201);
    const { token, ...shown } = made.body;
    assert.match(token, /^skerry_live_[a-z2-7]{52}$/);
    const { body: list } = await client(token).get('/account/tokens');
    assert.deepEqual(shown, {
      ...{ id: shown.id, object: 'api_token', name: 'deploys', scope: 'write', last_used_at: null },
      ...{ expires_at: '2038-01-19T03:14:07Z', limits: null, spent_usd: null },
      created_at: shown.created_at,
      created_by_token: list.data.find((one: JsonBody) => one.id !== shown.id)?.id,
    });
    assert.equal((await api.post('/account/tokens', wanted, { key: 'a' })).text, made.text);
    const used = list.data.find((one: JsonBody) => one.id === shown.id);
    assert.deepEqual({ ...used, last_used_at: null }, shown);
    assert.match(used.last_used_at, /Z$/);
    assert.equal(list.data.length, 2);
    assert.ok(!JSON.stringify(list).includes('_live_'));
  });

  it('a token cannot create a token with a broader scope', async () => {
    const customer = await world.customer();
    for (const own of SCOPES) {
      const api = client(await createApiToken(customer, own));
      for (const scope of SCOPES) {
        const answer = await api.post('/account/tokens', { name: 'a', scope });
        if (own !== 'read' && scopeCovers(own, scope)) assert.equal(answer.body.scope, scope);
        else assertApiError(answer, 403, 'forbidden_scope');
      }
    }
  });

  it('an invalid token request is rejected with every invalid field', async () => {
    const api = await otherClient();
    const items = async (body: object) =>
      assertApiError(await api.post('/account/tokens', body), 400, 'invalid_request');
    assert.deepEqual(await items({ name: '', scope: 'admin', expires_at: 'soon' }), [
      { field: 'name', issue: 'min_length', min: 1 },
      { field: 'scope', issue: 'invalid_value', allowed: [...SCOPES] },
      { field: 'expires_at', issue: 'invalid_format', format: 'date-time' },
    ]);
    assert.deepEqual(await items({ name: 'x'.repeat(64), scope: 'read' }), [
      { field: 'name', issue: 'max_length', max: 63 },
    ]);
    for (const name of [' ', 'a\u2028b']) {
      assert.deepEqual(await items({ name, scope: 'read' }), [{ field: 'name', issue: 'invalid_format' }]);
    }
    for (const expires_at of [inSeconds(-32), '2030-02-30T00:00:00Z', '9999-12-31T23:59:59-01:00', '']) {
      const wrong = { name: 'a', scope: 'read', expires_at };
      const [item, ...others] = await items(wrong);
      assert.deepEqual([item.field, item.issue, others], ['expires_at', 'invalid_format', []], expires_at);
    }
    const justPast = { name: 'a', scope: 'read', expires_at: inSeconds(-25) };
    assert.equal((await api.post('/account/tokens', justPast)).status, 201);
    const leap = { name: 'a', scope: 'read', expires_at: '2037-12-31T23:59:60Z' };
    assert.equal((await api.post('/account/tokens', leap)).body.expires_at, '2038-01-01T00:00:00Z');
    const forEver = { name: '🦭'.repeat(63), scope: 'read', expires_at: null };
    assert.equal((await api.post('/account/tokens', forEver)).body.expires_at, null);
  });

  it('a token stops working the moment it is revoked, even with itself', async () => {
    const customer = await world.customer();
    const writer = client(await createApiToken(customer, 'write'));
    const { body: made } = await client(await createApiToken(customer)).post('/account/tokens', {
      name: 'a',
      scope: 'billing',
    });
    const path = `/account/tokens/${made.id}`;
    assert.equal((await client(made.token).get('/account/tokens')).status, 200);
    assert.equal((await writer.delete(path)).status, 204);
    assertApiError(await client(made.token).get('/account/tokens'), 401, 'unauthenticated');
    assertApiError(await writer.delete(path), 404, 'not_found');
    const { body: list } = await writer.get('/account/tokens?filter[scope]=write');
    assert.equal((await writer.delete(`/account/tokens/${list.data[0].id}`)).status, 204);
    assertApiError(await writer.get('/account/tokens'), 401, 'unauthenticated');
    assert.deepEqual((await world.auditLines(customer)).slice(-3), [
      'token.revoke ok',
      'token.revoke error',
      'token.revoke ok',
    ]);
  });

  it('a token of another customer is not found', async () => {
    const [api, other] = [await otherClient(), await otherClient()];
    const { body: made } = await other.post('/account/tokens', { name: 'a', scope: 'read' });
    for (const id of [made.id, formatId('token', newId(new Date())), 'tok_', 'srv_x']) {
      assertApiError(await api.delete(`/account/tokens/${id}`), 404, 'not_found');
    }
    assert.equal((await client(made.token).get('/account/tokens')).body.data.length, 2);
  });

  it('tokens are limited to 50, and are listed by name, scope, and age', async () => {
    const customer = await world.customer();
    const api = client(await createApiToken(customer));
    await world.db.run(
      `insert into api_tokens (id, customer_id, name, scope, digest, created_at)
       select gen_random_uuid(), $1, 'n' || lpad(i::text, 2, '0'), 'read',
              sha256(gen_random_uuid()::text::bytea), now()
         from generate_series(1, $2::int) i`,
      [await world.customerId(customer), QUOTAS.tokens - 1],
    );
    assert.deepEqual(
      assertApiError(await api.post('/account/tokens', { name: 'a', scope: 'read' }), 422, 'unprocessable'),
      [{ field: '', issue: 'limit_reached', limit: QUOTAS.tokens, used: QUOTAS.tokens }],
    );
    const page = await api.get('/account/tokens?sort=-name&page_size=2&filter[scope]=read');
    assert.deepEqual(
      page.body.data.map((one: JsonBody) => one.name),
      ['n49', 'n48'],
    );
    const next = await api.get(
      `/account/tokens?sort=-name&page_size=2&filter[scope]=read&cursor=${page.body.next_cursor}`,
    );
    assert.equal(next.body.data[0].name, 'n47');
    assert.equal((await api.get('/account/tokens?filter[name]=n07')).body.data.length, 1);
    assertApiError(await api.get('/account/tokens?filter[scope]=admin'), 400, 'invalid_request');
  });
});

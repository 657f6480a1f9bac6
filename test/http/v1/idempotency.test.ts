import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertApiError,
  createApiToken,
  type JsonBody,
  V1Client,
  type V1Response,
} from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const TOKEN = { name: 'made once', scope: 'read' };

describe('Idempotency-Key on the REST surface', () => {
  let world: HttpWorld;
  let api: V1Client;

  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    api = V1Client.forApp(world.app, await createApiToken(await world.customer()));
  });
  after(() => world.close());

  async function tokensNamed(name: string): Promise<number> {
    return (await world.db.rows('select from api_tokens where name = $1', [name])).length;
  }

  it('1,000 concurrent requests with one key have one effect and leak no secret', async () => {
    const body = { ...TOKEN, name: 'concurrent' };
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => api.post('/account/tokens', body, { key: 'thousand' })),
    );
    const [first] = answers as [V1Response];
    assert.equal(first.status, 201);
    assert.match(first.body.token, /^skerry_live_[a-z2-7]{52}$/);
    for (const answer of answers) {
      assert.equal(answer.text, first.text);
      assert.equal(answer.headers.get('x-request-id'), first.headers.get('x-request-id'));
    }
    const fresh = answers.filter((answer) => answer.headers.get('idempotent-replayed') === null);
    assert.equal(fresh.length, 1);
    assert.equal(await tokensNamed(body.name), 1);
    const dump = await dumpOf(world);
    assert.ok(dump.includes('concurrent'), 'the dump contains the row');
    assert.ok(!dump.includes(first.body.token), 'the plaintext is stored');
    assert.ok(
      !dump.includes(Buffer.from(first.body.token).toString('hex')),
      'the plaintext is stored as bytes',
    );
  });

  it('a response that an earlier version stored is replayed, although it lacks new fields', async (t) => {
    const { stringify } = JSON;
    const store = t.mock.method(JSON, 'stringify', (value: JsonBody) =>
      stringify(value?.object === 'volume' ? { ...value, labels: undefined } : value),
    );
    const body = { name: 'data', size_gb: 10, region: 'par' };
    const first = await api.post('/volumes', body, { key: 'earlier' });
    store.mock.restore();
    const { labels, ...shown } = first.body;
    assert.deepEqual([first.status, labels], [201, {}]);
    const headers = { authorization: `Bearer ${api.token}`, 'idempotency-key': 'earlier' };
    const again = await world.app.inject({ method: 'POST', url: '/v1/volumes', headers, payload: body });
    assert.deepEqual([again.statusCode, again.json()], [201, shown]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });

  it('an error is replayed byte for byte and audited once', async () => {
    const customer = await world.customer();
    const client = api.withToken(await createApiToken(customer));
    const order = { name: '', scope: 'read' };
    const refused = await client.post('/account/tokens', order, { key: 'refused' });
    assertApiError(refused, 400, 'invalid_request');
    const again = await client.post('/account/tokens', order, { key: 'refused' });
    assert.equal(again.text, refused.text);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.headers.get('x-request-id'), refused.headers.get('x-request-id'));
    const audits = await world.auditLines(customer);
    assert.deepEqual(audits.slice(-1), ['token.create error']);
    assert.equal(audits.filter((line) => line === 'token.create error').length, 1);
  });

  it('a key with another body, query, or path is rejected', async () => {
    assert.equal((await api.post('/account/tokens', TOKEN, { key: 'other' })).status, 201);
    const changed = { ...TOKEN, scope: 'write' };
    assertApiError(await api.post('/account/tokens', changed, { key: 'other' }), 409, 'conflict_state');
    assertApiError(await api.post('/account/tokens?x=1', TOKEN, { key: 'other' }), 409, 'conflict_state');
    assertApiError(await api.post('/firewall/groups', TOKEN, { key: 'other' }), 409, 'conflict_state');
    const spelled = await api.raw('POST', '/account/tokens', `{"scope":"read",  "name":"${TOKEN.name}"}`, {
      key: 'other',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    assert.equal(spelled.status, 201, 'another serialization of a body is the same request');
  });

  it('no response is stored for 401, 403, or an unreadable body', async () => {
    const customer = await world.customer();
    const reader = api.withToken(await createApiToken(customer, 'read'));
    const writer = api.withToken(await createApiToken(customer, 'write'));
    assertApiError(await reader.post('/account/tokens', TOKEN, { key: 'kept' }), 403, 'forbidden_scope');
    assertApiError(
      await writer.raw('POST', '/account/tokens', '{', {
        key: 'kept',
        headers: { 'content-type': 'application/json' },
      }),
      400,
      'invalid_request',
    );
    assertApiError(
      await writer.post('/account/tokens', { ...TOKEN, scope: 'billing' }, { key: 'kept' }),
      403,
      'forbidden_scope',
    );
    assert.equal((await writer.post('/account/tokens', TOKEN, { key: 'kept' })).status, 201);
  });

  it('a key belongs to one customer, and to one credential if the response is sealed', async () => {
    const customer = await world.customer();
    const [one, two] = [
      api.withToken(await createApiToken(customer)),
      api.withToken(await createApiToken(customer)),
    ];
    const first = await one.post('/account/tokens', TOKEN, { key: 'mine' });
    assert.equal(first.status, 201);
    assertApiError(await two.post('/account/tokens', TOKEN, { key: 'mine' }), 409, 'conflict_state');
    const elsewhere = await api.post('/account/tokens', TOKEN, { key: 'mine' });
    assert.equal(elsewhere.status, 201);
    assert.notEqual(elsewhere.body.id, first.body.id);
  });

  it('a key expires after 24 hours', async () => {
    const first = await api.post('/account/tokens', TOKEN, { key: 'a-day' });
    world.clock.offsetMs += 24 * 3_600_000 - 5_000;
    const later = await api.post('/account/tokens', TOKEN, { key: 'a-day' });
    assert.equal(later.body.id, first.body.id);
    world.clock.offsetMs += 10_000;
    const nextDay = await api.post('/account/tokens', TOKEN, { key: 'a-day' });
    assert.notEqual(nextDay.body.id, first.body.id);
    assert.equal(nextDay.headers.get('idempotent-replayed'), null);
  });

  it('a key has 1 to 255 visible ASCII characters', async () => {
    for (const key of ['a b', 'x'.repeat(256), 'schlüssel']) {
      const items = assertApiError(await api.post('/account/tokens', TOKEN, { key }), 400, 'invalid_request');
      assert.equal(items[0].field, 'Idempotency-Key');
    }
    assert.equal((await api.post('/account/tokens', TOKEN, { key: 'x'.repeat(255) })).status, 201);
  });
});

/** Every row of every table, as text. */
async function dumpOf(world: HttpWorld): Promise<string> {
  const tables = await world.db.rows<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema in ('public', 'sim')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await world.db.pool.query<{ line: string }>(`select t::text as line from ${name} t`);
    texts.push(...rows.rows.map((row) => row.line));
  }
  return texts.join('\n');
}

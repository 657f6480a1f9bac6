/** Bad input of every kind at every endpoint gets a response in the shape of the contract. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { GET_ENDPOINTS, POST_ENDPOINTS } from '../../src/http/session/endpoints.ts';
import { FAILURES } from '../../src/spec/errors.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

const ACTIONS = POST_ENDPOINTS.flatMap(({ operations }) =>
  'run' in operations ? [] : [...operations.keys()],
);
const FIELDS = [
  ...['action', 'email', 'password', 'password_confirm', 'recovery_code', 'amount', 'coin', 'order_ref'],
  ...['product', 'plan', 'region', 'os', 'billing', 'root_password', 'current_password', 'new_password'],
  ...['name', 'scope', 'expires_at', 'id', '_token', '__proto__', 'constructor', ''],
];

const nasty = fc.constantFrom(
  ...['', ' ', '0', '-1', '1e999', 'NaN', 'null', 'true', '9'.repeat(400), '50', '30.001', '0x1f', '１００'],
  ...[
    "' or 1=1 --",
    '"; drop table customers; --',
    '<script>alert(1)</script>',
    '{{7*7}}',
    '../../etc/passwd',
  ],
  ...[
    '\u0000',
    '\ufffd',
    '\r\nSet-Cookie: a=b',
    '%',
    '%zz',
    '%ff',
    '\u202e',
    '🦭'.repeat(80),
    'x'.repeat(9_000),
  ],
  ...[
    '__proto__',
    'toString',
    'vps',
    'dedi',
    's1',
    'r1',
    'rek',
    'rkv',
    'debian',
    'LTC',
    'BTC',
    '1',
    '12',
    'read',
  ],
  ...['9999-12-31T23:59:60Z', '2030-01-01T00:00:00Z', 'ord_x', 'tok_aaaaaaaaaaaaaaaaaaaaaaaaaa', PASSWORD],
);
const value = fc.oneof({ weight: 3, arbitrary: nasty }, fc.string({ unit: 'binary', maxLength: 40 }));
const field = fc.tuple(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...FIELDS) },
    fc.string({ unit: 'binary', maxLength: 10 }),
  ),
  value,
);
const form = fc
  .tuple(fc.constantFrom(...ACTIONS, 'none'), fc.array(field, { maxLength: 12 }))
  .map(([action, fields]) => {
    const pairs = [['action', action], ...fields].filter(([name], index) => name !== 'action' || index === 0);
    return new URLSearchParams(pairs as [string, string][]).toString();
  });
const rawBody = fc.oneof(
  { weight: 6, arbitrary: form },
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    'a=%FF%FE',
    '=&=&&',
    'a&a',
    '{"action":"signin"}',
    '%',
    '&'.repeat(500),
    'x'.repeat(20_000),
  ),
);
const contentType = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/x-www-form-urlencoded') },
  fc.constantFrom('application/json', 'text/plain', 'multipart/form-data; boundary=x', ';', 'a/b/c', ' '),
  fc.constant('APPLICATION/X-WWW-FORM-URLENCODED; charset=utf-8'),
);
const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 300 });
const headers = fc.record(
  { 'idempotency-key': headerText, origin: fc.oneof(headerText, fc.constant('null')), cookie: headerText },
  { requiredKeys: [] },
);

describe('bad input', () => {
  let world: HttpWorld;
  let customer: SessionClient;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    customer = await world.customer();
    await world.creditBalance(customer, 1_000n);
  });
  after(() => world.close());

  function assertShape(answer: SessionResponse): void {
    const { status, body, text } = answer;
    assert.ok(status < 500, `${status} ${text}`);
    assert.equal(typeof body.ok, 'boolean', text);
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/);
    if (body.ok === true) {
      assert.equal(status, 200);
      return;
    }
    assert.ok(Object.hasOwn(FAILURES, String(body.error)), text);
    assert.ok(typeof body.msg === 'string' && body.msg.length > 0);
  }

  for (const { path } of POST_ENDPOINTS) {
    it(`bad input at ${path} gets a response in the shape of the contract`, async () => {
      const property = fc.asyncProperty(rawBody, contentType, headers, async (body, type, more) => {
        const { cookie, csrf } = customer;
        const token = { 'x-csrf-token': String(csrf) };
        assertShape(await customer.postRaw(path, body, { ...token, 'content-type': type, ...more }));
        if (!(await customer.get('/me.php')).body.logged_in) await customer.signIn();
        else if (more.cookie !== undefined) customer.cookie = cookie;
      });
      await fc.assert(property, { numRuns: PROPERTY_RUNS * 6 });
    });

    it(`bad input at ${path} without a session gets a response in the shape of the contract`, async () => {
      const property = fc.asyncProperty(rawBody, contentType, headers, async (body, type, more) => {
        assertShape(await world.visitor().postRaw(path, body, { 'content-type': type, ...more }));
      });
      await fc.assert(property, { numRuns: PROPERTY_RUNS });
    });
  }

  for (const { path } of GET_ENDPOINTS) {
    it(`bad input in the query of ${path} gets a response in the shape of the contract`, async () => {
      const query = fc.array(field, { maxLength: 4 }).map((pairs) => new URLSearchParams(pairs).toString());
      const raw = fc.constantFrom(
        'ref=%ff',
        'ref=%',
        'ref[]=1',
        'ref=1&ref=2',
        '?',
        '&&&',
        'ref',
        `ref=${'a'.repeat(8_000)}`,
      );
      const property = fc.asyncProperty(fc.oneof(query, raw), async (text) => {
        assertShape(await customer.get(`${path}?${text}`));
      });
      await fc.assert(property, { numRuns: PROPERTY_RUNS });
    });
  }

  it('an unreadable body gets 400 bad_request, and a repeated field is named', async () => {
    const token = { 'x-csrf-token': String(customer.csrf) };
    const bad = async (body: string, more: Record<string, string> = {}) => {
      const answer = await customer.postRaw('/deploy-api.php', body, { ...token, ...more });
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], body.slice(0, 20));
      return answer.body;
    };
    assert.equal((await bad('plan=s1&plan=s2')).field, 'plan');
    assert.equal((await bad(`_token=${customer.csrf}&_token=${customer.csrf}`)).field, '_token');
    await bad('plan=%ff');
    await bad('plan=%EF%BF%BD%f0%9f');
    await bad('pl%00an=s1');
    await bad(`plan=${'x'.repeat(LIMITS.formBodyMaxBytes)}`);
    await bad('{"plan":"s1"}', { 'content-type': 'application/json' });
    await bad('plan=s1', { 'content-type': 'text/plain' });
  });

  it('NUL and U+FFFD are refused by the rule of their field, and reach no lookup', async () => {
    const order = {
      product: 'vps',
      plan: 's1',
      region: 'rek',
      os: 'debian',
      billing: '1',
      root_password: PASSWORD,
    };
    const refused = async (path: string, fields: Record<string, string>, error: string, status = 200) => {
      const answer = await customer.post(path, fields);
      assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(fields));
    };
    for (const char of ['\0', '\uFFFD']) {
      for (const name of ['product', 'plan', 'region', 'os', 'billing'] as const) {
        await refused('/deploy-api.php', { ...order, [name]: order[name] + char }, `bad_${name}`);
      }
      await refused('/deploy-api.php', { ...order, root_password: `abc${char}` }, 'bad_password');
      const topup = { action: 'create', coin: 'BTC', amount: '50' };
      await refused('/topup-api.php', { ...topup, amount: `50${char}` }, 'bad_amount');
      await refused('/topup-api.php', { ...topup, coin: `BTC${char}` }, 'bad_coin');
      await refused('/topup-api.php', { action: 'cancel', order_ref: `x${char}` }, 'not_found', 404);
      await refused('/account-api.php', { action: `get${char}` }, 'bad_action', 400);
    }
    await refused('/deploy-api.php', { ...order, root_password: `${PASSWORD}\0` }, 'bad_password');
    const token = { action: 'create_token', scope: 'read', current_password: PASSWORD };
    await refused('/account-api.php', { ...token, name: 'a\0' }, 'bad_name');
    const shown = await customer.post('/account-api.php', { ...token, name: 'a\uFFFD' });
    assert.equal(shown.body.ok, true, shown.text);
  });
});

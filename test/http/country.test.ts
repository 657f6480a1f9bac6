import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { blockByPolicy } from '../../src/domain/rules/policies.ts';
import { createApiToken } from '../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

const PROXY = '10.9.0.1';
/** Public addresses, and where the test says they are. */
const PLACES: Record<string, string> = { '8.8.8.1': 'IS', '9.9.9.1': 'RO', '2a00:1450::1': 'CH' };

interface From {
  readonly socket: string;
  readonly said?: string;
  readonly proto?: string;
}

describe('where a request comes from', () => {
  let world: HttpWorld;
  let token: string;
  let lookUps = 0;
  before(async () => {
    world = await startHttpWorld({
      settings: { trustedProxies: [PROXY, '2001:db8:5::/48'], tokenFailuresPerHour: 1 },
      geo: {
        countryOf: (address) => {
          lookUps += 1;
          return PLACES[address] ?? null;
        },
      },
    });
    token = await createApiToken(await world.customer());
  });
  after(() => world.close());

  const headersOf = ({ said, proto }: From) => ({
    ...(said === undefined ? {} : { 'x-forwarded-for': said }),
    ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }),
  });
  const call = (from: From, request: { method: 'GET' | 'POST' | 'DELETE'; url: string; payload?: object }) =>
    world.app.inject({
      ...request,
      remoteAddress: from.socket,
      headers: { authorization: `Bearer ${token}`, ...headersOf(from) },
    });
  const lastCountry = async () => {
    const row = await world.db.row<{ ip_country: string }>(
      `select ip_country from audit_events order by created_at desc, ctid desc limit 1`,
    );
    return row?.ip_country;
  };

  it('is in the audit log: of the connection, or of what a trusted proxy says, and of nobody else’s word', async () => {
    const cases: [From, string][] = [
      [{ socket: '8.8.8.1' }, 'IS'],
      [{ socket: '::ffff:8.8.8.1' }, 'IS'],
      [{ socket: '2a00:1450::1' }, 'CH'],
      [{ socket: '127.0.0.1' }, 'XX'],
      [{ socket: '8.8.8.2' }, 'XX'],
      // Nobody's proxy.
      [{ socket: '8.8.8.1', said: '9.9.9.1' }, 'IS'],
      [{ socket: PROXY, said: '9.9.9.1' }, 'RO'],
      [{ socket: `::ffff:${PROXY}`, said: '9.9.9.1' }, 'RO'],
      [{ socket: '2001:db8:5::9', said: '2a00:1450::1' }, 'CH'],
      // What the caller himself wrote stands to the left of what the proxy saw.
      [{ socket: PROXY, said: '9.9.9.1, 8.8.8.1' }, 'IS'],
      [{ socket: PROXY, said: `9.9.9.1, 8.8.8.1, 2001:db8:5::1, ${PROXY}` }, 'IS'],
      [{ socket: PROXY, said: '8.8.8.1:51234' }, 'IS'],
      [{ socket: PROXY, said: '[2a00:1450::1]:51234' }, 'CH'],
      [{ socket: PROXY, said: 'unknown' }, 'XX'],
      [{ socket: PROXY, said: '' }, 'XX'],
      [{ socket: PROXY }, 'XX'],
    ];
    for (const [from, country] of cases) {
      await call(from, { method: 'DELETE', url: '/v1/volumes/vol_nothing' });
      assert.equal(await lastCountry(), country, JSON.stringify(from));
    }
  });

  it('is in the audit log of the session surface, too', async () => {
    const from = { remoteAddress: PROXY, headers: headersOf({ socket: '', said: '8.8.8.1' }) };
    const csrf = await world.app.inject({ url: '/csrf.php', ...from });
    const cookie = String(csrf.headers['set-cookie']).split(';')[0] ?? '';
    const form = new URLSearchParams({
      action: 'signup',
      email: 'far@example.org',
      password: 'a long enough password',
      password_confirm: 'a long enough password',
      _token: csrf.json().csrf,
    });
    const made = await world.app.inject({
      method: 'POST',
      url: '/auth-api.php',
      remoteAddress: PROXY,
      headers: { ...from.headers, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: form.toString(),
    });
    assert.equal(made.json().ok, true, made.body);
    assert.equal(await lastCountry(), 'IS');
  });

  it('is not looked up for a read, unless a policy asks', async () => {
    lookUps = 0;
    await call({ socket: '8.8.8.1' }, { method: 'GET', url: '/v1/servers' });
    assert.equal(lookUps, 0);
  });

  it('decides about a policy for a country, on the REST surface and for forms', async () => {
    const order = { operation: 'topups.create', country: 'RO', region: null, order: 'Order 7' } as const;
    await blockByPolicy(world.service, order);
    const create = {
      method: 'POST',
      url: '/v1/billing/topup',
      payload: { coin: 'LTC', amount_usd: 50 },
    } as const;
    const blocked = await call({ socket: PROXY, said: '9.9.9.1' }, create);
    assert.equal(blocked.statusCode, 451, blocked.body);
    assert.match(blocked.body, /Order 7/);
    assert.equal(await lastCountry(), 'RO');
    assert.equal((await call({ socket: '8.8.8.1', said: '9.9.9.1' }, create)).statusCode, 201);
    assert.equal((await call({ socket: '127.0.0.1' }, create)).statusCode, 201);
    assert.equal((await call({ socket: '9.9.9.1' }, { method: 'GET', url: '/v1/servers' })).statusCode, 200);
    const customer = await world.customer();
    const fields = { action: 'create', amount: 50, coin: 'LTC' };
    const form = (said: string) =>
      customer.post('/topup-api.php', fields, { headers: { 'x-forwarded-for': said } });
    // The client of the session surface comes from this machine, which is no proxy.
    assert.equal((await form('9.9.9.1')).body.ok, true);
  });

  it('counts failed tokens for the caller, not for the proxy', async () => {
    const fail = async (said: string) => {
      const headers = { authorization: 'Bearer nonsense', 'x-forwarded-for': said };
      return (await world.app.inject({ url: '/v1/servers', remoteAddress: PROXY, headers })).statusCode;
    };
    assert.deepEqual([await fail('8.8.8.1'), await fail('8.8.8.1'), await fail('9.9.9.1')], [401, 429, 401]);
  });

  it('tells whether the caller speaks TLS: then the cookie is Secure', async () => {
    const cookie = async (from: From) => {
      const answer = await world.app.inject({
        url: '/csrf.php',
        remoteAddress: from.socket,
        headers: headersOf(from),
      });
      return String(answer.headers['set-cookie']);
    };
    assert.match(await cookie({ socket: PROXY, said: '8.8.8.1', proto: 'https' }), /; Secure/);
    assert.doesNotMatch(await cookie({ socket: '8.8.8.1', said: '8.8.8.1', proto: 'https' }), /Secure/);
    assert.doesNotMatch(await cookie({ socket: PROXY, said: '8.8.8.1', proto: 'http' }), /Secure/);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { blockByPolicy } from '../../../src/domain/rules/policies.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const PROXY = '10.9.0.1';
/** Public addresses, and their countries in this test. */
const PLACES: Record<string, string> = { '8.8.8.1': 'IS', '9.9.9.1': 'RO', '2a00:1450::1': 'CH' };

interface From {
  readonly socket: string;
  readonly forwardedFor?: string;
  readonly proto?: string;
}

describe('the origin of a request', () => {
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

  const headersOf = ({ forwardedFor, proto }: From) => ({
    ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
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

  it('the audit log has the country of the connection or of a trusted proxy’s client', async () => {
    const cases: [From, string][] = [
      [{ socket: '8.8.8.1' }, 'IS'],
      [{ socket: '::ffff:8.8.8.1' }, 'IS'],
      [{ socket: '2a00:1450::1' }, 'CH'],
      [{ socket: '127.0.0.1' }, 'XX'],
      [{ socket: '8.8.8.2' }, 'XX'],
      // Not a trusted proxy.
      [{ socket: '8.8.8.1', forwardedFor: '9.9.9.1' }, 'IS'],
      [{ socket: PROXY, forwardedFor: '9.9.9.1' }, 'RO'],
      [{ socket: `::ffff:${PROXY}`, forwardedFor: '9.9.9.1' }, 'RO'],
      [{ socket: '2001:db8:5::9', forwardedFor: '2a00:1450::1' }, 'CH'],
      // The caller’s own text is to the left of the address that the proxy added.
      [{ socket: PROXY, forwardedFor: '9.9.9.1, 8.8.8.1' }, 'IS'],
      [{ socket: PROXY, forwardedFor: `9.9.9.1, 8.8.8.1, 2001:db8:5::1, ${PROXY}` }, 'IS'],
      [{ socket: PROXY, forwardedFor: '8.8.8.1:51234' }, 'IS'],
      [{ socket: PROXY, forwardedFor: '[2a00:1450::1]:51234' }, 'CH'],
      [{ socket: PROXY, forwardedFor: 'unknown' }, 'XX'],
      [{ socket: PROXY, forwardedFor: '' }, 'XX'],
      [{ socket: PROXY }, 'XX'],
    ];
    for (const [from, country] of cases) {
      await call(from, { method: 'DELETE', url: '/v1/volumes/vol_nothing' });
      assert.equal(await lastCountry(), country, JSON.stringify(from));
    }
  });

  it('the audit log of the session surface also has the country', async () => {
    const from = { remoteAddress: PROXY, headers: headersOf({ socket: '', forwardedFor: '8.8.8.1' }) };
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

  it('a read does not look up the country unless a policy needs it', async () => {
    lookUps = 0;
    await call({ socket: '8.8.8.1' }, { method: 'GET', url: '/v1/servers' });
    assert.equal(lookUps, 0);
  });

  it('a policy for a country applies to the REST surface and to forms', async () => {
    const order = { operation: 'topups.create', country: 'RO', region: null, order: 'Order 7' } as const;
    await blockByPolicy(world.service, order);
    const create = {
      method: 'POST',
      url: '/v1/billing/topup',
      payload: { coin: 'LTC', amount_usd: 50 },
    } as const;
    const blocked = await call({ socket: PROXY, forwardedFor: '9.9.9.1' }, create);
    assert.equal(blocked.statusCode, 451, blocked.body);
    assert.match(blocked.body, /Order 7/);
    assert.equal(await lastCountry(), 'RO');
    assert.equal((await call({ socket: '8.8.8.1', forwardedFor: '9.9.9.1' }, create)).statusCode, 201);
    assert.equal((await call({ socket: '127.0.0.1' }, create)).statusCode, 201);
    assert.equal((await call({ socket: '9.9.9.1' }, { method: 'GET', url: '/v1/servers' })).statusCode, 200);
    const customer = await world.customer();
    const fields = { action: 'create', amount: 50, coin: 'LTC' };
    const form = (forwardedFor: string) =>
      customer.post('/topup-api.php', fields, { headers: { 'x-forwarded-for': forwardedFor } });
    // The client of the session surface connects from this machine, which is not a proxy.
    assert.equal((await form('9.9.9.1')).body.ok, true);
  });

  it('failed tokens count for the caller, not for the proxy', async () => {
    const fail = async (forwardedFor: string) => {
      const headers = { authorization: 'Bearer nonsense', 'x-forwarded-for': forwardedFor };
      return (await world.app.inject({ url: '/v1/servers', remoteAddress: PROXY, headers })).statusCode;
    };
    assert.deepEqual([await fail('8.8.8.1'), await fail('8.8.8.1'), await fail('9.9.9.1')], [401, 429, 401]);
  });

  it('the cookie is Secure if the caller uses TLS', async () => {
    const cookie = async (from: From) => {
      const answer = await world.app.inject({
        url: '/csrf.php',
        remoteAddress: from.socket,
        headers: headersOf(from),
      });
      return String(answer.headers['set-cookie']);
    };
    assert.match(await cookie({ socket: PROXY, forwardedFor: '8.8.8.1', proto: 'https' }), /; Secure/);
    assert.doesNotMatch(
      await cookie({ socket: '8.8.8.1', forwardedFor: '8.8.8.1', proto: 'https' }),
      /Secure/,
    );
    assert.doesNotMatch(await cookie({ socket: PROXY, forwardedFor: '8.8.8.1', proto: 'http' }), /Secure/);
  });
});

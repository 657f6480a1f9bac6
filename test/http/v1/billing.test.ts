import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COIN_CODES } from '../../../src/spec/coins.ts';
import { LEDGER_TYPES } from '../../../src/spec/schemas/balance.ts';
import { TOPUP_STATUSES } from '../../../src/spec/states.ts';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('REST billing', () => {
  let world: HttpWorld;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld();
    const customer = await world.customer();
    await world.creditBalance(customer, 2_550n);
    api = V1Client.forApp(world.app, await createApiToken(customer));
  });
  after(() => world.close());

  it('the balance can be read', async () => {
    const { status, body } = await api.get('/billing/balance');
    assert.deepEqual([status, body.object, body.usd, body.active_servers], [200, 'balance', 25.5, 0]);
  });

  it('the ledger can be read', async () => {
    const { body } = await api.get('/billing/ledger?filter[type]=adjustment&sort=created_at');
    assert.deepEqual([body.object, body.has_more, body.data.length], ['list', false, 1]);
    assert.equal(body.data[0].amount_usd, 25.5);
    const wrong = await api.get('/billing/ledger?filter[type]=gift');
    const [item] = assertApiError(wrong, 400, 'invalid_request');
    assert.deepEqual(item, { field: 'filter[type]', issue: 'invalid_value', allowed: [...LEDGER_TYPES] });
  });

  it('a top-up is created once per key, and can be polled and listed', async () => {
    const order = { coin: 'LTC', amount_usd: 30.1 };
    const made = await api.post('/billing/topup', order, { key: 'one' });
    assert.equal(made.status, 201);
    assert.equal(made.body.amount_usd, 30.1);
    const again = await api.post('/billing/topup', order, { key: 'one' });
    assert.deepEqual([again.status, again.text], [201, made.text]);
    const polled = await api.get(`/billing/topup/${made.body.id}`);
    assert.deepEqual([polled.status, polled.body], [200, made.body]);
    const listed = await api.get('/billing/topup?filter[status]=pending&filter[coin]=LTC');
    assert.deepEqual(listed.body.data, [made.body]);
    const stranger = api.withToken(await createApiToken(await world.customer()));
    assertApiError(await stranger.get(`/billing/topup/${made.body.id}`), 404, 'not_found');
    for (const [query, allowed] of [
      ['filter[status]=paid', [...TOPUP_STATUSES]],
      ['filter[coin]=DOGE', [...COIN_CODES]],
    ] as const) {
      const [item] = assertApiError(await api.get(`/billing/topup?${query}`), 400, 'invalid_request');
      assert.deepEqual(item.allowed, allowed);
    }
  });

  for (const [what, body, item] of [
    [
      'an unknown coin',
      { coin: 'DOGE', amount_usd: 30 },
      { field: 'coin', issue: 'invalid_value', allowed: [...COIN_CODES] },
    ],
    [
      'an amount below the minimum',
      { coin: 'BTC', amount_usd: 29.99 },
      { field: 'amount_usd', issue: 'min', min: 30 },
    ],
    [
      'an amount above the maximum',
      { coin: 'BTC', amount_usd: 10000.01 },
      { field: 'amount_usd', issue: 'max', max: 10000 },
    ],
    [
      'a fraction of a cent',
      { coin: 'BTC', amount_usd: 30.001 },
      { field: 'amount_usd', issue: 'invalid_format' },
    ],
    [
      'a text as the amount',
      { coin: 'BTC', amount_usd: '30' },
      { field: 'amount_usd', issue: 'invalid_type', expected: 'number' },
    ],
    ['a missing amount', { coin: 'BTC' }, { field: 'amount_usd', issue: 'required' }],
  ] as const) {
    it(`a top-up with ${what} is rejected with the field`, async () => {
      assert.deepEqual(assertApiError(await api.post('/billing/topup', body), 400, 'invalid_request'), [
        item,
      ]);
    });
  }

  it('top-ups above the limit of open ones are rejected', async () => {
    const customer = await world.customer();
    const theirs = api.withToken(await createApiToken(customer));
    for (let n = 0; n < 20; n++) await theirs.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
    const answer = await theirs.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
    const [item] = assertApiError(answer, 422, 'unprocessable');
    assert.deepEqual([item.issue, item.limit], ['limit_reached', 20]);
    assert.equal((await world.auditLines(customer)).at(-1), 'topup.create error');
  });
});

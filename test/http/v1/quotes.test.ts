/** Quotes over REST: they predict the response of the request that they are for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

let world: World;
let customer: SessionClient;
let api: V1Client;
let order: JsonBody;
let image: (version: string) => string;

before(async () => {
  world = await startWorld({ ...NO_RATES, SKERRY_QUOTAS: 'servers=3,tagsPerServer=2,volumesDiskGb=100' });
  customer = await world.customer();
  await world.addBalance(customer, 9_000n);
  api = V1Client.forApp(world.http, await createApiToken(customer));
  const images = (await api.get('/images?family=debian')).body.data;
  image = (version) => images.find((one: JsonBody) => one.version === version).id;
  const key = (await api.post('/ssh-keys', { name: 'ci', public_key: PUBLIC_KEY })).body.id;
  order = { name: 'web-1', plan: 's1', region: 'par', image: image('12'), ssh_keys: [key] };
});
after(() => world.close());

const run = (text: string, values: unknown[] = []) => world.opened.db.run(text, values);
const quoteOrder = (params: object) => api.post('/quotes', { operation: 'server.create', params });

/** Asserts that the quote predicts exactly the refusal of the request. */
async function assertPredicted(
  quote: object,
  [method, path, body]: readonly [method: string, path: string, body?: object],
): Promise<JsonBody> {
  const quoted = await api.post('/quotes', quote);
  assert.equal(quoted.status, 200, quoted.text);
  const real = await api.call(method, path, body);
  assert.ok(real.status >= 400, real.text);
  const { code, message, errors } = real.body.error;
  const { available, refusal, errors: predicted } = quoted.body;
  assert.deepEqual(
    { available, refusal, errors: predicted },
    { available: false, refusal: { code, message }, errors },
  );
  return real.body.error;
}

const assertOrderPredicted = async (changes: object): Promise<JsonBody> => {
  const body = { ...order, ...changes };
  return await assertPredicted({ operation: 'server.create', params: body }, ['POST', '/servers', body]);
};

/** Runs the work while the statement's effect lasts. */
async function during(on: string, off: string, work: () => Promise<unknown>): Promise<void> {
  const rules = 'update service set rules_version = rules_version + 1';
  for (const text of [on, rules]) await run(text);
  try {
    await work();
  } finally {
    for (const text of [off, rules]) await run(text);
  }
}

describe('POST /quotes', () => {
  it('a quote of an order is what the order charges', async () => {
    const { status, body } = await quoteOrder({ ...order, billing_months: 3 });
    assert.equal(status, 200);
    assert.deepEqual([body.available, body.errors, body.refusal], [true, [], null]);
    const { body: server } = await api.post('/servers', { ...order, billing_months: 3, quote: body.id });
    const [entry] = (await api.get('/billing/ledger?filter[type]=charge')).body.data;
    assert.deepEqual(body.lines, [{ description: entry.description, amount_usd: -entry.amount_usd }]);
    assert.deepEqual(
      [body.due_now_usd, body.renews_usd, body.balance_after_usd],
      [server.price_usd_cycle, server.price_usd_cycle, entry.balance_after_usd],
    );
    const deletion = await api.post('/quotes', { operation: 'server.delete', resource: server.id });
    assert.equal(deletion.body.credit_usd, server.price_usd_cycle);
    const deleted = await api.delete(`/servers/${server.id}`);
    assert.deepEqual([deleted.status, deleted.body.refund_usd], [202, server.price_usd_cycle]);
    // A repeated deletion returns the refund of the first one.
    const again = await api.delete(`/servers/${server.id}`);
    assert.ok(again.status === 404 || again.body.refund_usd === server.price_usd_cycle, again.text);
    await world.settle();
  });

  it('a server that ran is deleted without a refund, as its quote says', async () => {
    const { id } = (await api.post('/servers', order)).body;
    await world.settle();
    const quoted = await api.post('/quotes', { operation: 'server.delete', resource: id });
    const { credit_usd, lines, available } = quoted.body;
    assert.deepEqual([credit_usd, lines, available], [0, [], true]);
    assert.equal((await api.delete(`/servers/${id}`)).body.refund_usd, 0);
    await world.settle();
  });

  it('a dearer catalog between quote and order gets 409 with the price, and charges nothing', async () => {
    const { id } = (await quoteOrder(order)).body;
    await during(
      `update plans set price_cents_month = price_cents_month + 1 where id = 's1'`,
      `update plans set price_cents_month = price_cents_month - 1 where id = 's1'`,
      async () => {
        const before = (await api.get('/billing/ledger')).body;
        const refused = await api.post('/servers', { ...order, quote: id });
        const [item, ...more] = assertApiError(refused, 409, 'conflict_state');
        const price_usd = (await api.get('/plans/s1')).body.cycles[0].price_usd;
        assert.deepEqual([item, more], [{ field: 'quote', issue: 'price_changed', price_usd }, []]);
        assert.match(refused.body.error.message, /Nothing was charged/);
        assert.deepEqual((await api.get('/billing/ledger')).body, before);
        // The quote of an order with limits predicts that they are exceeded.
        await assertOrderPredicted({ quote: id });
        await assertOrderPredicted({ max_price_usd: price_usd - 0.01 });
      },
    );
  });

  it('a quote predicts the refusal of an order, item by item', async () => {
    const foreign = api.withToken(await createApiToken(await world.customer()));
    const foreignKey = (await foreign.post('/ssh-keys', { name: 'a', public_key: PUBLIC_KEY })).body.id;
    const unknownKey = formatId('sshKey', newId(new Date()));
    const fields: JsonBody[] = [];
    for (const changes of [
      { plan: 's9' },
      { region: 'zzz' },
      { image: 'img_1' },
      { image: image('11') },
      { ssh_keys: [order.ssh_keys[0], unknownKey] },
      { ssh_keys: [foreignKey] },
      { plan: 'r3', region: 'buh' },
      { tags: ['a', 'b', 'c'] },
      { quote: 'quo_1' },
      { firewall_groups: [formatId('firewallGroup', newId(new Date()))] },
      { firewall_groups: ['fwg_1'] },
      { plan: 'r1', billing_months: 12 },
    ])
      fields.push((await assertOrderPredicted(changes)).errors[0]);
    assert.deepEqual(
      fields.map(({ field, issue }) => `${field} ${issue}`),
      [
        'plan not_found',
        'region not_found',
        'image not_found',
        'image unavailable',
        'ssh_keys.1 not_found',
        'ssh_keys.0 not_found',
        'plan unavailable',
        'tags limit_reached',
        'quote not_found',
        'firewall_groups.0 not_found',
        'firewall_groups.0 not_found',
        'plan insufficient_balance',
      ],
    );
    await during(
      `update plans set active = false where id = 's2'`,
      `update plans set active = true where id = 's2'`,
      () => assertOrderPredicted({ plan: 's2' }),
    );
    await during('update hosts set draining = true', 'update hosts set draining = false', () =>
      assertOrderPredicted({}),
    );
    const { body: volume } = await api.post('/volumes', { name: 'data', size_gb: 200, region: 'par' });
    const { errors } = await assertOrderPredicted({ region: 'par', volumes: [volume.id] });
    assert.deepEqual([errors[0].field, errors[0].issue], ['volumes', 'limit_reached']);
    await during('update balances set servers = 3', 'update balances set servers = 0', () =>
      assertOrderPredicted({}),
    );
  });

  it('a quote predicts a switch, a policy, and a frozen account, and stays open', async () => {
    await during(
      `insert into switches (name, on_, reason, changed_at) values ('deploys', false, 'a new rack', now())`,
      'delete from switches',
      async () => assert.equal((await assertOrderPredicted({})).code, 'maintenance'),
    );
    await during(
      `insert into policies (id, operation, region_id, order_text, created_at)
       values (gen_random_uuid(), 'servers.create', 'par', 'Order 17', now())`,
      'delete from policies',
      async () => {
        assert.equal((await assertOrderPredicted({})).code, 'jurisdictional_block');
        assert.equal((await quoteOrder({ ...order, region: 'zrh' })).body.available, true);
      },
    );
    await during(
      'update customers set frozen_at = now()',
      'update customers set frozen_at = null',
      async () => assert.equal((await assertOrderPredicted({})).code, 'jurisdictional_block'),
    );
  });

  it('a quote predicts the refusal of a start and of a deletion', async () => {
    const { id } = (await api.post('/servers', order)).body;
    const start = { operation: 'server.start', resource: id };
    const starting = ['POST', `/servers/${id}/start`] as const;
    await world.settle();
    // It is running.
    await assertPredicted(start, starting);
    await run(
      `update servers set status = 'suspended', suspended_reason = 'balance', suspended_at = now(),
                                  resume_to = 'running', destroy_at = now(), bill_at = null where id = $1`,
      [parseId('server', id)],
    );
    await run('update servers set paid_until = created_at');
    const waiting = await assertPredicted(start, starting);
    assert.match(waiting.message, /Top up your balance/);
    await run(`update servers set suspended_reason = 'not_renewed'`);
    await run('update balances set balance_cents = 1');
    const short = await assertPredicted(start, starting);
    assert.equal(short.errors[0].issue, 'insufficient_balance');
    const price = (await api.post('/quotes', start)).body.due_now_usd;
    await run('update balances set balance_cents = 9000');
    const limited = { max_price_usd: price - 0.01 };
    const dear = await assertPredicted({ ...start, params: limited }, [...starting, limited]);
    assert.deepEqual(dear.errors, [{ field: 'max_price_usd', issue: 'price_changed', price_usd: price }]);
    await api.patch(`/servers/${id}`, { protection: { delete: true } });
    const deletion = { operation: 'server.delete', resource: id };
    const guarded = await assertPredicted(deletion, ['DELETE', `/servers/${id}`]);
    assert.deepEqual(guarded.errors, [{ field: 'protection.delete', issue: 'protected' }]);
    await run(`update servers set held_at = now(), hold_order = 'Order 18'`);
    await assertPredicted(deletion, ['DELETE', `/servers/${id}`]);
    await run('update servers set held_at = null, hold_order = null');
  });

  it('a token of any scope can quote, and only the scope billing sees the balance', async () => {
    for (const scope of ['read', 'write', 'billing'] as const) {
      const client = api.withToken(await createApiToken(customer, scope));
      const { body, status } = await client.post('/quotes', {
        operation: 'server.create',
        params: { plan: 'r3', billing_months: 12 },
      });
      assert.equal(status, 200);
      const seen = [body.balance_after_usd, body.deficit_usd, body.topup].map((figure) => figure !== null);
      assert.deepEqual(seen, Array(3).fill(scope === 'billing'), scope);
      const { have, deficit, need } = body.errors[0];
      assert.deepEqual(
        [have, deficit].map((figure) => figure !== undefined),
        Array(2).fill(scope === 'billing'),
      );
      assert.equal(need, body.due_now_usd);
    }
  });

  it('a malformed quote is rejected with the place of each mistake', async () => {
    const server = formatId('server', newId(new Date()));
    for (const [body, ...expected] of [
      [{}, 'operation required'],
      [{ operation: 'server.rebuild', params: {} }, 'operation invalid_value'],
      [{ operation: 'server.resize', params: {} }, 'params.plan required', 'resource required'],
      [{ operation: 'server.create' }, 'params.plan required'],
      [{ operation: 'server.create', params: [] }, 'params invalid_type'],
      [
        { operation: 'server.create', params: { plan: 1, nope: 1 } },
        'params.nope unknown_key',
        'params.plan invalid_type',
      ],
      [
        { operation: 'server.create', params: { plan: 's1', billing_months: 2 } },
        'params.billing_months invalid_value',
      ],
      [{ operation: 'server.create', params: { plan: 's1', ssh_keys: [] } }, 'params.ssh_keys min_items'],
      [{ operation: 'server.create', params: { plan: 's1', max_price_usd: -1 } }, 'params.max_price_usd min'],
      [{ operation: 'server.create', resource: server, params: { plan: 's1' } }, 'resource unknown_key'],
      [{ operation: 'server.start' }, 'resource required'],
      [{ operation: 'server.start', resource: server, params: { plan: 's1' } }, 'params.plan unknown_key'],
      [
        { operation: 'server.delete', resource: server, params: { quote: 'quo_1' } },
        'params.quote unknown_key',
      ],
    ] as const) {
      const items = assertApiError(await api.post('/quotes', body), 400, 'invalid_request');
      assert.deepEqual(items.map(({ field, issue }) => `${field} ${issue}`).sort(), [...expected].sort());
    }
    const unknown = await api.post('/quotes', { operation: 'server.start', resource: server });
    assert.deepEqual(assertApiError(unknown, 422, 'unprocessable'), [
      { field: 'resource', issue: 'not_found' },
    ]);
  });
});

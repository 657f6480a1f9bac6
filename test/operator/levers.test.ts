import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runOperator } from '../../src/operator/run.ts';
import { apiToken, assertRefused, V1Client } from '../support/v1-client.ts';
import { startWorld, topUp, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

/** What a command said that must succeed; typed in another process than the one that serves, for all that matters. */
async function ok(...argv: string[]): Promise<string> {
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const { service, db } = world.opened;
  const doors = {
    settings: () => [],
    database: async () => db,
    service: async () => ({ service, register: async () => undefined }),
  };
  const code = await runOperator(argv, doors, undefined, { out: say, err: say, ask: null });
  assert.equal(code, 0, lines.join('\n'));
  return lines.join('\n');
}

test('a payment that the kill-switch held is released or refunded by its order_ref', async () => {
  const customer = await world.customer();
  const balance = async () => (await customer.get('/me.php')).body.balance;
  await ok('switch', 'topup-credit', 'off');
  const released = await topUp(world, customer, 40);
  const refunded = await topUp(world, customer, 50);
  assert.equal(await balance(), 0);
  const held = await ok('topups', 'held');
  assert.match(held, new RegExp(`\n${released}  ${customer.email}  [0-9.]+ LTC  `));
  assert.equal(
    await ok('topups', 'release', released),
    'released: the top-up is credited, credited 40.00 USD',
  );
  assert.equal(await balance(), 40);
  assert.match(await ok('topups', 'refund', refunded), /^refunded: .* credited 0\.00 USD$/);
  assert.equal(await balance(), 40);
  assert.equal((await ok('topups', 'held')).split('\n').length, 1);
  assert.match(await ok('verify'), /(\d+) of \1 invariants hold$/);
});

test('deploys off refuses new servers on both surfaces and says why, and nothing else', async () => {
  const customer = await world.customer();
  const api = V1Client.over(world.url, await apiToken(customer));
  const deploy = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  const form = { ...deploy, root_password: 'correct horse battery' } as const;
  await ok('switch', 'deploys', 'off', '--reason', 'storage is full');
  const why = 'The operator has closed this for now (storage is full); try again later.';
  const onA = await customer.post('/deploy-api.php', form);
  assert.deepEqual([onA.status, onA.body.error, onA.body.msg], [503, 'maintenance', why]);
  const onB = await api.post('/servers', {});
  const items = assertRefused(onB, 503, 'maintenance');
  assert.deepEqual([onB.body.error.message, items[0]?.retry_after_s], [why, 600]);
  assert.equal((await api.get('/servers')).status, 200);
  assert.match((await customer.get('/servers')).text, /No new servers now\. .*storage is full/);
  await ok('switch', 'deploys', 'on');
  assert.equal((await customer.post('/deploy-api.php', form)).body.error, 'insufficient_balance');
  assertRefused(await api.post('/servers', {}), 400, 'invalid_request');
  assert.doesNotMatch((await customer.get('/servers')).text, /No new servers/);
});

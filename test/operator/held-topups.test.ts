import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runOperator } from '../../src/operator/run.ts';
import { startWorld, topUp, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

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

/** Runs the settlement engine on the simulated networks, coin by coin. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { createTopup } from '../../../../src/domain/topups/create.ts';
import { topupView } from '../../../../src/domain/topups/read.ts';
import type { SimnetControl } from '../../../../src/drivers/chain/simnet/control.ts';
import { SqlFaults } from '../../../../src/drivers/faults.ts';
import { formatUnits } from '../../../../src/kernel/money.ts';
import { COIN_CODES, COINS, type CoinCode } from '../../../../src/spec/coins.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import type { Job } from '../../../../src/workers/job.ts';
import { watchJob } from '../../../../src/workers/watch.ts';
import { createSimnetService } from '../../../support/simnet-service.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
let service: Service;
let control: SimnetControl;
let watch: Job;
before(async () => {
  world = await TopupWorld.start();
  ({ service, control } = createSimnetService(world));
  watch = watchJob(service, { retry: { firstMs: 1, maxMs: 30_000 } });
});
after(() => world.close());

async function invoice(coin: CoinCode, usd = 100): Promise<TopupRow> {
  return await createTopup(service, await world.createCustomer(), { coin, amountCents: BigInt(usd) * 100n });
}

async function pay({ coin, deposit_address: address }: TopupRow, amount: string): Promise<string> {
  return (await control.pay({ coin, address, amount })).txid;
}

async function settle(): Promise<void> {
  while ((await watch.run()) > 0 || (await watch.busy()));
}

async function mine(coin: CoinCode, count: number): Promise<void> {
  await control.mine({ coin, count });
  await settle();
}

for (const { code, network } of COINS) {
  test(`a ${code} payment on ${network} is seen, credited, reversed, and credited again`, async () => {
    const topup = await invoice(code);
    const needed = topup.required_confirmations;
    const txid = await pay(topup, topupView(topup).deposit_amount);
    await settle();
    assert.equal((await world.reloadTopup(topup)).status, 'confirming');
    if (needed > 1) await mine(code, needed - 1);
    assert.equal(await world.balance(topup), 0n);
    await mine(code, 1);
    assert.equal((await world.reloadTopup(topup)).status, 'credited');
    assert.equal(await world.balance(topup), 13_000n);
    await control.reorg({ coin: code, depth: needed + 1 });
    await settle();
    assert.equal((await world.reloadTopup(topup)).status, 'confirming');
    assert.equal(await world.balance(topup), 0n);
    await mine(code, needed);
    assert.equal(await world.balance(topup), 13_000n);
    assert.equal((await world.ledgerEntries(topup)).length, 6);
    const events = await world.topupEvents(topup);
    assert.deepEqual(events.at(-1)?.topup.txids, [txid]);
  });
}

test('a split payment in two transactions is credited once each', async () => {
  const topup = await invoice('LTC', 500);
  const half = formatUnits(topup.deposit_units / 2n, 8);
  await pay(topup, half);
  await mine('LTC', 2);
  assert.equal(await world.balance(topup), 25_000n + 10_000n);
  await pay(topup, half);
  await mine('LTC', 2);
  assert.equal(await world.balance(topup), 50_000n + 30_000n);
});

test('a payment dropped by a reorg is reversed', async () => {
  const topup = await invoice('BTC');
  await pay(topup, '0.01');
  await mine('BTC', 1);
  assert.equal(await world.balance(topup), 60_000n + 30_000n);
  await control.reorg({ coin: 'BTC', depth: 1, drop: true });
  await settle();
  assert.equal(await world.balance(topup), 0n);
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
});

test('a double-spent payment does not count', async () => {
  const topup = await invoice('BTC');
  const txid = await pay(topup, '0.01');
  await settle();
  await control.conflict(txid);
  await mine('BTC', 3);
  assert.equal((await world.reloadTopup(topup)).status, 'pending');
});

test('the simulated networks are idle once all payments are final', async () => {
  for (const coin of COIN_CODES) await control.mine({ coin, count: 31 });
  await settle();
  const unfinished = await world.db.rows(`select key from deposits where state in ('mempool', 'included')`);
  assert.deepEqual(unfinished, []);
});

test('failing nodes are retried until they respond', async () => {
  const topup = await invoice('SOL');
  await pay(topup, topupView(topup).deposit_amount);
  await new SqlFaults(world.db).set({ driver: 'chain', operation: 'poll', times: 9 });
  await mine('SOL', 1);
  assert.equal(await world.balance(topup), 13_000n);
});

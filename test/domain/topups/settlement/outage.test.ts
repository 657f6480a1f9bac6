/** Node and service outages lose nothing and cost the payer nothing. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { coinFindings } from '../../../../src/domain/topups/chains/coin-findings.ts';
import { MINUTE_MS } from '../../../../src/kernel/time.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { type LedgerEntry, TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => {
  world.btc.reportsBlockTime = true;
  world.btc.ok = true;
  world.rates.set('BTC', '50000');
});

const PAID: LedgerEntry[] = [
  { type: 'topup', cents: 10_000n },
  { type: 'bonus', cents: 3_000n },
];
const TAKEN_BACK: LedgerEntry[] = [
  { type: 'reversal', cents: -10_000n },
  { type: 'reversal', cents: -3_000n },
];

/** Creates an invoice over 100.00, paid and credited, with two more blocks. */
async function credited(): Promise<TopupRow> {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  return topup;
}

/** Polls a chain that cannot be read now. */
async function pollChain(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await world.watchJob.run();
    await world.db.run('update coins set retry_at = null');
  }
}

async function coin() {
  return await world.db.row<{ cursor: string; failures: number; last_fault: string | null }>(
    `select cursor, failures, last_fault from coins where code = 'BTC'`,
  );
}

test('a node that fell back reverses nothing, and reading continues once it has caught up', async () => {
  const topup = await credited();
  const read = (await coin())?.cursor;
  world.btc.rewind(3);
  await pollChain();
  const behind = await coin();
  assert.equal(behind?.failures, 3);
  assert.equal(behind?.cursor, read);
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  world.btc.mine();
  world.btc.resync();
  const next = await world.createInvoice(100);
  world.btc.pay(next.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await coin())?.failures, 0);
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  assert.deepEqual(await world.ledgerEntries(next), PAID);
});

test('the reason for waiting is stored for the operator until the node is back', async () => {
  await credited();
  const { height } = world.btc;
  world.btc.rewind(2);
  await pollChain();
  const block = `the node is at block ${height - 2}, but was already read up to ${height}`;
  const why = `${block}; waiting for it to catch up`;
  assert.equal((await coin())?.last_fault, why);
  world.btc.resync();
  await world.runUntilIdle();
  assert.equal((await coin())?.last_fault, null);
});

test('a stored failure contains no address and no password', async () => {
  await world.createInvoice(100);
  world.btc.duringPoll = async () => {
    throw new Error(
      'connect to http://me:pass@10.1.2.3:8332/wallet\nbc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 failed',
    );
  };
  await world.watchJob.run();
  world.btc.duringPoll = async () => undefined;
  const fault = (await coin())?.last_fault ?? '';
  assert.match(fault, /^connect to .* failed$/);
  assert.doesNotMatch(fault, /pass|10\.1|bc1q/);
  await world.runUntilIdle();
});

test('a node that lost blocks is awaited, and payments that are gone then are reversed', async () => {
  const topup = await credited();
  world.btc.loseBlocks(3, { drop: true });
  await pollChain();
  world.btc.mine(2);
  await pollChain();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  world.btc.mine(1);
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), [...PAID, ...TAKEN_BACK]);
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
});

test('a node that lost its network is reported by status until it recovers', async () => {
  await world.createInvoice(100);
  await world.runUntilIdle();
  const live = { ...world.service, settings: { ...world.service.settings, mode: 'live' } } as const;
  const after40Minutes = async () => {
    world.clock.advanceMinutes(40);
    await world.runUntilIdle();
    return (await coinFindings(live))
      .map(({ message }) => message)
      .filter((message) => message.startsWith('BTC: not read'));
  };
  assert.deepEqual(await after40Minutes(), []);
  world.btc.ok = false;
  assert.match((await after40Minutes()).join(), /^BTC: not read since .* UTC: .*skerryd chain doctor/);
  world.btc.mine();
  assert.equal((await after40Minutes()).length, 1);
  assert.equal((await coin())?.failures, 0);
  world.btc.ok = true;
  assert.deepEqual(await after40Minutes(), []);
});

test('a node that does not report its health delays no payment', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(1);
  world.btc.failures.health = 1_000;
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  world.btc.failures.health = 0;
  assert.deepEqual([await world.ledgerEntries(topup), (await coin())?.failures], [PAID, 0]);
});

test('after downtime, a payment in a timely block still has the locked rate', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(30);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  world.rates.set('BTC', '40000');
  world.clock.advanceMinutes(3 * 24 * 60);
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
});

test('after a node outage of days, a timely payment still has the locked rate', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  world.rates.set('BTC', '40000');
  for (let day = 0; day < 3; day++) {
    world.btc.failures.poll = 3;
    await pollChain();
    world.clock.advanceMinutes(24 * 60);
  }
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
});

test('without block times, the time when a payment is found counts', async () => {
  world.btc.reportsBlockTime = false;
  const late = await world.createInvoice(100);
  await world.runUntilIdle();
  for (let n = 0; n < 5; n++) {
    world.clock.advanceMinutes(60);
    await world.runUntilIdle();
  }
  world.rates.set('BTC', '40000');
  world.btc.pay(late.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(late), 8_000n);
});

test('without block times, downtime counts up to the last complete read', async () => {
  world.btc.reportsBlockTime = false;
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(30);
  await world.runUntilIdle();
  const readAt = world.clock.now();
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  world.rates.set('BTC', '40000');
  world.clock.advanceMinutes(3 * 24 * 60);
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  const includedAt = async () => (await world.deposits(topup))[0]?.included_at;
  assert.deepEqual(await includedAt(), readAt);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await includedAt(), readAt, 'it does not change');
  assert.ok(world.clock.now().getTime() - readAt.getTime() > MINUTE_MS);
});

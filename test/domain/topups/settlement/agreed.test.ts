/** A coin with a second node: nothing is credited until both nodes have it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { findTopupForOperator } from '../../../../src/domain/topups/operator.ts';
import { getPayment } from '../../../../src/domain/topups/payment.ts';
import { applyObservations } from '../../../../src/domain/topups/settlement/observations.ts';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { paymentColumns } from '../../../../src/operator/format/topup.ts';
import { countDisputedPayments } from '../../../../src/store/service/status.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { ScriptedChain } from '../../../support/scripted-chain.ts';
import { ScriptedSecondNode } from '../../../support/scripted-second-node.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
let btc: ScriptedChain;
let second: ScriptedSecondNode;
before(async () => {
  world = await TopupWorld.start({
    chains: ({ clock }) => {
      btc = new ScriptedChain('BTC', clock);
      btc.terse = true;
      second = new ScriptedSecondNode(btc);
      return new Map([['BTC', new CrossCheckedChain(btc, second)]]);
    },
  });
});
after(() => world.close());
beforeEach(() => second.repair());

/** Creates an invoice and its payment in the mempool; returns the payment's key. */
async function paid(usd = 100): Promise<{ topup: TopupRow; key: string }> {
  const topup = await world.createInvoice(usd);
  const key = btc.pay(topup.deposit_address, topup.deposit_units);
  await world.runUntilIdle();
  return { topup, key };
}

async function credited(): Promise<{ topup: TopupRow; key: string }> {
  const made = await paid();
  btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(made.topup), 13_000n);
  return made;
}

async function statusLine(topup: TopupRow): Promise<string> {
  const { payments, refunds } = await findTopupForOperator(world.service, topup.order_ref);
  return payments.map((payment) => paymentColumns(payment, refunds)[4]).join();
}

test('a payment that the second node lacks is not credited, and the operator sees why', async () => {
  const { topup, key } = await paid();
  second.missingKeys.add(key);
  btc.mine(3);
  await world.runUntilIdle();
  const waiting = await world.reloadTopup(topup);
  assert.deepEqual([waiting.status, waiting.confirmations, waiting.credit_held], ['confirming', 0, false]);
  assert.equal(await world.balance(topup), 0n);
  assert.equal(await statusLine(topup), 'not credited; not confirmed by the second node');
  assert.equal((await world.deposits(topup))[0]?.agreed, false);
  const payer = { ...(await world.createCustomer()), customerId: topup.customer_id };
  const { parts } = await getPayment(world.service, payer, formatId('topup', topup.id));
  assert.deepEqual(
    parts.map(({ state, confirmations }) => [state, confirmations]),
    [['confirming', 0]],
  );
});

test('a payment is credited without a new block once the second node has it', async () => {
  const { topup, key } = await paid();
  second.missingKeys.add(key);
  btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 0n);
  second.missingKeys.clear();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  assert.equal(await statusLine(topup), 'credited 100.00 USD');
});

test('a payment is credited once it is deep enough on both nodes, without a new block', async () => {
  const { topup, key } = await paid(1_000);
  btc.mine();
  second.freeze([key]);
  btc.mine(3);
  await world.runUntilIdle();
  const waiting = await world.reloadTopup(topup);
  assert.deepEqual([waiting.confirmations, waiting.required_confirmations], [1, 2]);
  assert.equal(await world.balance(topup), 0n);
  second.repair();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 170_000n);
});

test('a credit stays when the second node goes silent or falls back', async () => {
  const { topup, key } = await credited();
  second.unresponsive = true;
  btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.deposits(topup))[0]?.agreed, false);
  assert.equal(await statusLine(topup), 'credited 100.00 USD; not confirmed by the second node');
  second.repair();
  second.missingKeys.add(key);
  btc.mine();
  await world.runUntilIdle();
  const now = await world.reloadTopup(topup);
  assert.deepEqual([now.status, now.confirmations], ['credited', 3]);
  assert.equal((await world.ledgerEntries(topup)).length, 2);
});

test('a credit that moved to a sibling block stays while the second node lacks the block', async () => {
  for (const away of [() => (second.unresponsive = true), (key: string) => second.freeze([key])]) {
    const { topup, key } = await credited();
    away(key);
    btc.reorg(1);
    btc.mine(2);
    await world.runUntilIdle();
    assert.equal((await world.reloadTopup(topup)).status, 'credited');
    assert.equal((await world.deposits(topup))[0]?.agreed, false);
    second.repair();
    await world.runUntilIdle();
    assert.equal((await world.ledgerEntries(topup)).length, 2);
  }
});

test('a payment that both nodes lost is credited again only once both have it', async () => {
  const { topup, key } = await credited();
  btc.reorg(1);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 0n);
  second.freeze([key]);
  btc.mine(2);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  second.repair();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.equal(await world.balance(topup), 13_000n);
  assert.equal((await world.ledgerEntries(topup)).length, 6);
});

test('a payment that is final on one node and missing on the other is tracked and reported', async () => {
  const { topup, key } = await paid();
  btc.mine();
  second.missingKeys.add(key);
  await world.runUntilIdle();
  const observation = { ...btc.observe(key), state: 'final' as const, confirmations: 60, agreed: false };
  await applyObservations(world.service, 'BTC', [observation]);
  assert.equal((await world.deposits(topup))[0]?.state, 'included');
  const disputed = await countDisputedPayments(world.db, new Date(world.clock.now().getTime() + 1));
  assert.equal(disputed.find(({ coin }) => coin === 'BTC')?.n, 1n);
  second.repair();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
});

test('a payment only on the second node is not credited, and a credited payment is reversed', async () => {
  const { topup, key } = await credited();
  second.freeze([key]);
  btc.reorg(1, { drop: true });
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 0n);
});

test('a disputed payment does not delay other invoices', async () => {
  const { key } = await paid();
  second.missingKeys.add(key);
  const { topup } = await paid();
  btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
});

test('payments that became final while the second node was away are credited when it returns', async () => {
  const { topup } = await paid();
  second.unresponsive = true;
  btc.mine(60);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 0n);
  second.repair();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.deposits(topup))[0]?.state, 'final');
});

test('credited payments are not queried between blocks, even if the second node is behind', async () => {
  const { key } = await credited();
  second.unresponsive = true;
  btc.mine();
  await world.runUntilIdle();
  second.confirmCalls.length = 0;
  await world.runUntilIdle();
  assert.ok(!second.confirmCalls.flat().includes(key));
});

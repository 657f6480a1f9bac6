/** Payments and non-payments on a real node with real contracts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EvmChain } from '../../../../src/drivers/chain/evm/driver.ts';
import { parseNodeUrl } from '../../../../src/drivers/chain/node-http.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { Anvil, hex, NO_ANVIL } from './anvil.ts';
import { contract } from './contracts.ts';
import { EvmWorld, testAccount } from './evm-world.ts';
import { methodNotFound, RpcProxy } from './rpc-proxy.ts';

const CONFIRMED = 24;
const skip = NO_ANVIL || FULL_ONLY.skip;

let anvil: Anvil;
let evm: EvmWorld;
/** The same chain through a node without `trace_block`. */
let other: EvmWorld;
let geth: RpcProxy;
let usdt: string;
let payer: string;

before(async () => {
  if (skip) return;
  anvil = await Anvil.start();
  usdt = await anvil.deploy(contract('Tether').bytecode);
  payer = await anvil.deploy(contract('Payer').bytecode);
  geth = await RpcProxy.start(anvil.url);
  geth.answer = async ({ method, params }) => {
    if (method === 'trace_block') return methodNotFound(method);
    if (method !== 'debug_traceBlockByHash') return undefined;
    const block = await anvil.request<{ transactions: string[] }>('eth_getBlockByHash', params[0], false);
    const traced = block.transactions.map(async (txHash) => ({
      txHash,
      result: await anvil.request('debug_traceTransaction', txHash, params[1]),
    }));
    return { result: await Promise.all(traced) };
  };
  evm = await EvmWorld.start(anvil, { contract: usdt });
  other = await EvmWorld.start(anvil, { contract: usdt, url: geth.url });
});

after(async () => {
  await evm?.close();
  await other?.close();
  await geth?.close();
  await anvil?.close();
});

/** Calls a contract with a value. */
async function call(to: string, data: string, value = 0n): Promise<string> {
  return await anvil.send(await anvil.prepare({ to, data, value: hex(value) }));
}

async function succeeded(txid: string): Promise<boolean> {
  const receipt = await anvil.request<{ status: string }>('eth_getTransactionReceipt', txid);
  return receipt.status === '0x1';
}

async function weiOf(topup: TopupRow): Promise<bigint> {
  return BigInt(await anvil.request<string>('eth_getBalance', topup.deposit_address, 'latest'));
}

/** Mines pending transactions and confirms them. */
async function confirm(world = evm): Promise<void> {
  await anvil.mine(CONFIRMED);
  await world.world.runUntilIdle();
}

async function amounts(topup: TopupRow, world = evm): Promise<bigint[]> {
  const deposits = await world.world.deposits(topup);
  return deposits.map(({ amount_units }) => amount_units).sort();
}

for (const [method, at] of [
  ['trace_block', () => evm],
  ['callTracer', () => other],
] as const) {
  describe(`ether with ${method}`, { skip }, () => {
    it(`${method}: a payment by a contract to several addresses is credited to each`, async () => {
      const [one, two] = [await at().invoice(100), await at().invoice(200)];
      const each = two.deposit_units;
      const to = [one.deposit_address, two.deposit_address, anvil.account(3)];
      await call(payer, contract('Payer').call('split', to), each * 3n);
      await confirm(at());
      assert.deepEqual([await amounts(one, at()), await amounts(two, at())], [[each], [each]]);
      assert.equal(await at().world.balance(two), 23_000n);
    });

    it(`${method}: two equal payments in one transaction are both credited`, async () => {
      const topup = await at().invoice(100);
      const half = topup.deposit_units / 2n + 1n;
      const to = [topup.deposit_address, topup.deposit_address];
      await call(payer, contract('Payer').call('split', to), half * 2n);
      await confirm(at());
      assert.deepEqual(await amounts(topup, at()), [half, half]);
      assert.equal(await at().world.balance(topup), 13_000n);
    });

    it(`${method}: a failed call inside a successful transaction is not credited`, async () => {
      const topup = await at().invoice(100);
      const data = contract('Payer').call('carefully', topup.deposit_address);
      const txid = await call(payer, data, topup.deposit_units);
      await confirm(at());
      assert.equal(await succeeded(txid), true);
      assert.deepEqual(await amounts(topup, at()), []);
    });

    it(`${method}: a failed transaction is not credited`, async () => {
      const topup = await at().invoice(100);
      const data = contract('Payer').call('payAndFail', topup.deposit_address);
      const txid = await call(payer, data, topup.deposit_units);
      await confirm(at());
      assert.equal(await succeeded(txid), false);
      assert.deepEqual(await amounts(topup, at()), []);
    });

    it(`${method}: the balance of a destroyed contract is credited`, async () => {
      const topup = await at().invoice(100);
      const data = contract('Payer').call('bequeath', topup.deposit_address);
      await call(payer, data, topup.deposit_units);
      await confirm(at());
      assert.deepEqual(await amounts(topup, at()), [topup.deposit_units]);
      assert.equal(await weiOf(topup), topup.deposit_units);
    });

    it(`${method}: the balance of a contract that survives its self-destruct is credited`, async () => {
      const topup = await at().invoice(100);
      const data = contract('Payer').call('leave', topup.deposit_address);
      await call(payer, data, topup.deposit_units);
      await confirm(at());
      // The value of an earlier call that failed is included.
      const wei = await weiOf(topup);
      assert.ok(wei >= topup.deposit_units);
      assert.deepEqual(await amounts(topup, at()), [wei]);
    });

    it(`${method}: a payment of zero is ignored`, async () => {
      const topup = await at().invoice(100);
      await anvil.pay(topup.deposit_address, 0n);
      await confirm(at());
      assert.deepEqual(await amounts(topup, at()), []);
    });

    it(`${method}: a payment whose amount changes in another block is another payment`, async () => {
      const topup = await at().invoice(100);
      const data = contract('Payer').call('byHeight', topup.deposit_address);
      const order = await anvil.prepare({ to: payer, data, value: hex(topup.deposit_units * 2n) });
      const txid = await anvil.send(order);
      await confirm(at());
      const [before] = await amounts(topup, at());
      await anvil.reorg(CONFIRMED, [[order, 3]]);
      await confirm(at());
      const [removed, included] = (await at().world.deposits(topup)).toSorted(
        (a, b) => a.confirmations - b.confirmations,
      );
      assert.deepEqual(
        [removed?.state, removed?.amount_units, removed?.credited_cents],
        ['removed', before, null],
      );
      assert.deepEqual([included?.state, included?.txid], ['included', txid]);
      assert.equal(included?.amount_units, await weiOf(topup));
      assert.notEqual(included?.amount_units, before);
    });
  });
}

describe('keys of ether payments', { skip }, () => {
  it('payments have the same keys with both trace methods', async () => {
    const account = testAccount(100);
    const options = [{ account }, { account, url: geth.url }];
    const worlds = await Promise.all(options.map((each) => EvmWorld.start(anvil, each)));
    try {
      const topups = await Promise.all(worlds.map((each) => each.invoice(100)));
      const { deposit_address: address } = topups[0] ?? assert.fail();
      assert.equal(topups[1]?.deposit_address, address);
      await call(payer, contract('Payer').call('split', [address, address]), 10n);
      await call(payer, contract('Payer').call('bequeath', address), 5n);
      await anvil.mine();
      const keys = worlds.map(async ({ world }, i) => {
        await world.runUntilIdle();
        const deposits = await world.deposits(topups[i] ?? assert.fail());
        return deposits.map(({ key }) => key).toSorted();
      });
      const [one, two] = await Promise.all(keys);
      assert.equal(one?.length, 3);
      assert.deepEqual(one, two);
    } finally {
      for (const each of worlds) await each.close();
    }
  });
});

describe('USDT', { skip }, () => {
  it('a USDT payment is credited by its log, also several per transaction', async () => {
    const [one, two] = [await evm.invoice(50, 'USDT'), await evm.invoice(60, 'USDT')];
    await call(usdt, contract('Tether').call('transfer', one.deposit_address, one.deposit_units));
    const to = [two.deposit_address, one.deposit_address, two.deposit_address];
    await call(usdt, contract('Tether').call('transferEach', to, 30_000_000n));
    await confirm();
    assert.deepEqual(await amounts(one), [30_000_000n, 50_000_000n]);
    assert.deepEqual(await amounts(two), [30_000_000n, 30_000_000n]);
    assert.equal(await evm.world.balance(two), 6_000n);
  });

  it('a USDT payment keeps its key when its log moves to another position', async () => {
    const topup = await evm.invoice(50, 'USDT');
    const transfer = (to: string, units: bigint) => contract('Tether').call('transfer', to, units);
    const paid = await anvil.prepare({
      to: usdt,
      data: transfer(topup.deposit_address, topup.deposit_units),
    });
    await anvil.send(paid);
    await anvil.mine(3);
    await evm.world.runUntilIdle();
    const before = await evm.world.deposits(topup);
    const funded = await anvil.prepare({ from: anvil.account(1), to: anvil.account(2), value: '0x1' });
    await anvil.reorg(3, [
      [funded, 1],
      [paid, 1],
    ]);
    await confirm();
    const after = await evm.world.deposits(topup);
    assert.deepEqual(
      after.map(({ key }) => key),
      before.map(({ key }) => key),
    );
    assert.notEqual(after[0]?.block_hash, before[0]?.block_hash);
    assert.equal(await evm.world.balance(topup), 5_000n);
  });

  it('a USDT credit is reversed when its log leaves the chain', async () => {
    const topup = await evm.invoice(50, 'USDT');
    await call(usdt, contract('Tether').call('transfer', topup.deposit_address, topup.deposit_units));
    await confirm();
    assert.equal(await evm.world.balance(topup), 5_000n);
    await anvil.reorg(CONFIRMED);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'removed 0, 0');
  });

  it('a USDT transfer that fails or is zero, or a similar log, is not credited', async () => {
    const topup = await evm.invoice(50, 'USDT');
    const { call: data } = contract('Tether');
    const failed = await call(usdt, data('transfer', topup.deposit_address, 10n ** 30n));
    await call(usdt, data('transfer', topup.deposit_address, 0n));
    await call(usdt, data('pretend', topup.deposit_address));
    await confirm();
    assert.equal(await succeeded(failed), false);
    assert.deepEqual(await amounts(topup), []);
  });

  it('another token and ether are not credited at a USDT address', async () => {
    const topup = await evm.invoice(50, 'USDT');
    const fake = await anvil.deploy(contract('Tether').bytecode);
    await call(fake, contract('Tether').call('transfer', topup.deposit_address, topup.deposit_units));
    await anvil.pay(topup.deposit_address, 10n ** 18n);
    await confirm();
    assert.deepEqual(await amounts(topup), []);
  });

  it('a contract of another token is rejected as USDT', async () => {
    const token = await anvil.deploy(contract('Eighteen').bytecode);
    for (const address of [token, anvil.account(5)]) {
      const own = async () => new Set<string>();
      const node = parseNodeUrl(anvil.url);
      const options = { coin: 'USDT', node, account: testAccount(), own } as const;
      await assert.rejects(
        new EvmChain({ ...options, contract: address, allowTest: true }).checkSafety(),
        UnsafeChainError,
      );
    }
  });
});

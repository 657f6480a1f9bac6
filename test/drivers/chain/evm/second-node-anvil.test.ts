/** Ether with a second node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../../support/runs.ts';
import { Anvil, hex, NO_ANVIL } from './anvil.ts';
import { contract } from './contracts.ts';
import { EvmWorld } from './evm-world.ts';
import { methodNotFound, RpcProxy } from './rpc-proxy.ts';

const CONFIRMATIONS = 12;

describe('ether with a second node', { skip: NO_ANVIL || FULL_ONLY.skip }, () => {
  let anvil: Anvil;
  let second: RpcProxy;
  let evm: EvmWorld;
  before(async () => {
    anvil = await Anvil.start();
    second = await RpcProxy.start(anvil.url);
    evm = await EvmWorld.start(anvil, { secondUrl: second.url });
  });
  after(async () => {
    await evm?.close();
    await second?.close();
    await anvil?.close();
  });

  it('an ether payment is credited once the second node has it in the same block', async () => {
    const topup = await evm.invoice(100);
    second.answer = ({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined);
    await anvil.pay(topup.deposit_address, topup.deposit_units);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 0`);
    second.answer = () => undefined;
    await anvil.mine();
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 1}, 13000`);
  });

  it('an ether credit stays while the second node is down', async () => {
    const topup = await evm.invoice(100);
    await anvil.pay(topup.deposit_address, topup.deposit_units);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    second.answer = ({ method }) => methodNotFound(method);
    await anvil.mine(70);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 70}, 13000`);
    second.answer = () => undefined;
    await anvil.mine();
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `final ${CONFIRMATIONS + 71}, 13000`);
  });

  it('a second node that cannot trace agrees by declared payments and balances', async () => {
    const untracing = await RpcProxy.start(anvil.url);
    untracing.answer = ({ method }) => (/trace/.test(method) ? methodNotFound(method) : undefined);
    const evm = await EvmWorld.start(anvil, { secondUrl: untracing.url });
    try {
      const [plain, inner] = [await evm.invoice(100), await evm.invoice(100)];
      const payer = await anvil.deploy(contract('Payer').bytecode);
      await anvil.pay(plain.deposit_address, plain.deposit_units);
      const data = contract('Payer').call('split', [inner.deposit_address]);
      await anvil.send(await anvil.prepare({ to: payer, value: hex(inner.deposit_units), data }));
      await anvil.mine(CONFIRMATIONS);
      await evm.world.runUntilIdle();
      for (const topup of [plain, inner]) {
        assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
      }
    } finally {
      await evm.close();
      await untracing.close();
    }
  });

  it('an ether payment is not credited if the second node traces it with another amount', async () => {
    const disagreeing = await RpcProxy.start(anvil.url);
    disagreeing.answer = async ({ method, params }) => {
      if (method !== 'trace_block') return undefined;
      const traces = await anvil.request<{ action: { value?: string } }[]>('trace_block', params[0]);
      return { result: traces.map((trace) => ({ ...trace, action: { ...trace.action, value: '0x1' } })) };
    };
    const evm = await EvmWorld.start(anvil, { secondUrl: disagreeing.url });
    try {
      const topup = await evm.invoice(100);
      await anvil.pay(topup.deposit_address, topup.deposit_units);
      await anvil.mine(CONFIRMATIONS);
      await evm.world.runUntilIdle();
      assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 0`);
    } finally {
      await evm.close();
      await disagreeing.close();
    }
  });
});

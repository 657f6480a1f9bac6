import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { EvmChain } from '../../../../src/drivers/chain/evm/driver.ts';
import { EvmNode } from '../../../../src/drivers/chain/evm/node.ts';
import { EvmSecondNode } from '../../../../src/drivers/chain/evm/second-node.ts';
import { EvmSource } from '../../../../src/drivers/chain/evm/source.ts';
import { tokenReader } from '../../../../src/drivers/chain/evm/token-reader.ts';
import { NodeError, NodeUnreachable, parseNodeUrl } from '../../../../src/drivers/chain/node-http.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { testAccount } from './evm-world.ts';
import { StubNode } from './stub-node.ts';

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

let node: StubNode;
before(async () => {
  node = await StubNode.start();
});
after(async () => {
  await node.close();
});
beforeEach(() => {
  Object.assign(node, {
    chainId: 1,
    height: 100,
    finalized: null,
    tipAgeS: 5,
    syncing: false,
    peers: '0x19',
  });
  Object.assign(node, { tracing: 'traces', tracedFrom: 0, code: '0x6080', decimals: 6n });
  node.genesis = '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3';
  node.proxy.calls.length = 0;
  node.proxy.batches.length = 0;
});

function chain(coin: 'ETH' | 'USDT', { contract = USDT, allowTest = false } = {}): EvmChain {
  const own = async () => new Set<string>();
  return new EvmChain({
    coin,
    node: parseNodeUrl(node.url),
    account: testAccount(),
    own,
    contract,
    allowTest,
  });
}

async function refusal(driver: { checkSafety(): Promise<void> }): Promise<string> {
  try {
    await driver.checkSafety();
  } catch (error) {
    assert.ok(error instanceof UnsafeChainError, String(error));
    return error.message;
  }
  return 'none';
}

describe('Ethereum nodes', () => {
  it('a mainnet node is accepted', async () => {
    assert.equal(await refusal(chain('ETH')), 'none');
    assert.equal(await refusal(chain('USDT')), 'none');
  });

  it('a test network is rejected unless it is allowed', async () => {
    node.chainId = 11_155_111;
    assert.match(await refusal(chain('ETH')), /chain 11155111/);
    assert.match(await refusal(chain('USDT')), /chain 11155111/);
    const witness = { coin: 'ETH', node: parseNodeUrl(node.url), contract: USDT, allowTest: false } as const;
    assert.match(await refusal(new EvmSecondNode(witness)), /chain 11155111/);
    assert.equal(await refusal(chain('ETH', { allowTest: true })), 'none');
  });

  it('a private chain with the chain id of mainnet is rejected', async () => {
    node.genesis = `0x${'1'.repeat(64)}`;
    assert.match(await refusal(chain('ETH')), /a copy of Ethereum/);
  });

  it('a node must support one of two trace methods for ether, but none for USDT', async () => {
    node.tracing = 'frames';
    assert.equal(await refusal(chain('ETH')), 'none');
    node.tracing = 'none';
    assert.match(await refusal(chain('ETH')), /payments made by contracts.*would be missed/);
    assert.equal(await refusal(chain('USDT')), 'none');
  });

  it('a chain with only a genesis block is accepted', async () => {
    Object.assign(node, { height: 0, tracing: 'frames' });
    const driver = chain('ETH');
    const { cursor } = await driver.poll({ cursor: null });
    assert.equal(cursor, `0:${node.genesis}`);
  });

  it('a failed trace for another reason does not mean that tracing is unsupported', async () => {
    node.tracedFrom = 1_000;
    node.tracing = 'traces';
    await assert.rejects(chain('ETH').checkSafety(), NodeError);
  });

  it('the USDT contract must exist with six decimals at a valid address', async () => {
    node.decimals = 18n;
    assert.match(await refusal(chain('USDT')), /18 decimals/);
    node.code = '0x';
    assert.match(await refusal(chain('USDT')), /does not exist on this network/);
    assert.match(await refusal(chain('USDT', { contract: USDT.replace('AC17', 'Ac17') })), /has a typo/);
    assert.match(await refusal(chain('USDT', { contract: `${USDT}0` })), /not a valid address/);
    assert.equal(await refusal(chain('ETH')), 'none');
  });

  it('a syncing node is retried until it has the contract', async () => {
    const options = { coin: 'USDT', node: parseNodeUrl(node.url), contract: USDT, allowTest: false } as const;
    node.code = '0x';
    for (const state of [
      { height: 0, syncing: { currentBlock: '0x0', highestBlock: '0x1500000' } },
      { height: 0, syncing: false },
      { height: 3_000_000, syncing: { currentBlock: '0x2dc6c0' } },
      { height: 3_000_000, syncing: false, tipAgeS: 900 },
    ]) {
      Object.assign(node, { tipAgeS: 5, ...state });
      for (const driver of [chain('USDT'), new EvmSecondNode(options)]) {
        await assert.rejects(driver.checkSafety(), (error) => error instanceof NodeError);
      }
    }
    Object.assign(node, { height: 100, syncing: false, tipAgeS: 5 });
    for (const driver of [chain('USDT'), new EvmSecondNode(options)]) {
      assert.match(await refusal(driver), /does not exist on this network/);
    }
  });

  it('an unreachable node is retried', async () => {
    const { url } = node;
    const unreachable = url.replace(/\d+$/, '1');
    const own = async () => new Set<string>();
    const lost = { coin: 'ETH', node: parseNodeUrl(unreachable), account: testAccount(), own } as const;
    const driver = new EvmChain({ ...lost, contract: USDT, allowTest: false });
    await assert.rejects(driver.poll({ cursor: null }), NodeUnreachable);
    await assert.rejects(driver.allocate({ id: 'one', index: 0, amountUnits: 1n }), NodeUnreachable);
  });

  it('the safety check runs before the first use and not at each poll', async () => {
    const driver = chain('ETH');
    const { cursor } = await driver.poll({ cursor: null });
    await driver.poll({ cursor });
    const checks = node.proxy.calls.filter(({ method }) => method === 'eth_chainId');
    assert.equal(checks.length, 1);
  });
});

describe('Ethereum addresses', () => {
  it('an invoice always has the same address and the other coin never has it', async () => {
    const [ether, usdt] = [chain('ETH'), chain('USDT')];
    const addressOf = async (driver: EvmChain, index: number) =>
      (await driver.allocate({ id: `${index}`, index, amountUnits: 5n })).address;
    const all = [];
    for (const index of [0, 1, 2, 1_000])
      all.push(await addressOf(ether, index), await addressOf(usdt, index));
    assert.equal(new Set(all).size, 8);
    assert.equal(await addressOf(ether, 1), all[2]);
    for (const address of all) assert.match(address, /^0x[0-9a-fA-F]{40}$/);
  });

  it('a payment URI names the network and the token', async () => {
    const invoice = { id: 'one', index: 3, amountUnits: 12_345_678_901_234_567_890n };
    const ether = await chain('ETH').allocate(invoice);
    assert.equal(ether.uri, `ethereum:${ether.address}@1?value=12345678901234567890`);
    const usdt = await chain('USDT', { contract: USDT.toLowerCase() }).allocate({
      ...invoice,
      amountUnits: 30_000_000n,
    });
    assert.equal(usdt.uri, `ethereum:${USDT}@1/transfer?address=${usdt.address}&uint256=30000000`);
  });
});

describe('Ethereum polls', () => {
  it('a request has a limited number of calls', async () => {
    node.height = 500;
    for (const coin of ['ETH', 'USDT'] as const) {
      const driver = chain(coin);
      const { isComplete } = await driver.poll({ cursor: null });
      assert.equal(isComplete, false);
      await driver.recheck(Array.from({ length: 200 }, (_, i) => `0x${String(i).padStart(64, '0')}:x`));
    }
    assert.ok(Math.max(...node.proxy.batches) <= 20, `${Math.max(...node.proxy.batches)} at once`);
  });

  it('a poll without a new block makes one call', async () => {
    for (const coin of ['ETH', 'USDT'] as const) {
      node.height = 10;
      const driver = chain(coin);
      let cursor: string | null = null;
      for (let isComplete = false; !isComplete; ) ({ cursor, isComplete } = await driver.poll({ cursor }));
      node.proxy.calls.length = 0;
      assert.deepEqual(await driver.poll({ cursor }), { cursor, observations: [], isComplete: true });
      assert.deepEqual(
        node.proxy.calls.map(({ method, params }) => `${method} ${params[0]}`),
        ['eth_getBlockByNumber latest'],
      );
    }
  });

  it('a block is final when it is 64 deep and the node does not disagree', async () => {
    node.height = 1_000;
    for (const [finalized, finalHeight] of [
      [null, 936],
      [990, 936],
      [930, 930],
    ] as const) {
      node.finalized = finalized;
      const evm = new EvmNode(parseNodeUrl(node.url));
      const source = new EvmSource(evm, tokenReader(evm, USDT));
      assert.equal((await source.tip()).finalHeight, finalHeight);
    }
  });
});

describe('Ethereum health', () => {
  it('a synced node is healthy', async () => {
    const health = await chain('ETH').health();
    assert.deepEqual([health.ok, health.height], [true, 100]);
    assert.match(health.detail, /25 peers/);
    node.peers = null;
    assert.equal((await chain('ETH').health()).ok, true);
  });

  it('a node that is syncing, has no peers, or has an old tip is unhealthy', async () => {
    Object.assign(node, { syncing: { currentBlock: '0x1' }, peers: '0x0', tipAgeS: 900 });
    const { ok, detail } = await chain('ETH').health();
    assert.equal(ok, false);
    assert.equal(detail, 'the node is syncing; the node has no peers; the newest block is 15 minutes old');
  });

  it('a test network needs no peers and no new blocks', async () => {
    Object.assign(node, { chainId: 31_337, peers: '0x0', tipAgeS: 90_000 });
    assert.equal((await chain('ETH', { allowTest: true }).health()).ok, true);
  });
});

describe('Ethereum findings', () => {
  const levels = async (coin: 'ETH' | 'USDT', nextIndex = 3) => {
    const findings = await chain(coin).examine(nextIndex);
    return findings.map(({ level, message }) => `${level}: ${message}`).join('\n');
  };

  it('findings list the indexes that a wallet must scan', async () => {
    assert.match(await levels('ETH'), /even indexes.*currently up to 4/);
    assert.match(await levels('USDT'), /odd indexes.*currently up to 5/);
    assert.doesNotMatch(await levels('ETH', 0), /indexes/);
  });

  it('findings warn that USDT addresses hold no ether for the fee', async () => {
    assert.match(await levels('USDT'), /note: USDT addresses hold no ether/);
  });

  it('findings warn if the node cannot report balance changes of a transaction', async () => {
    node.transactions.set(100, [{ hash: `0x${'1'.repeat(64)}`, to: USDT.toLowerCase() }]);
    try {
      for (const tracing of ['traces', 'frames'] as const) {
        Object.assign(node, { height: 100, tracing, replays: true });
        assert.doesNotMatch(await levels('ETH'), /too long/);
      }
      Object.assign(node, { tracing: 'traces', replays: false });
      assert.match(await levels('ETH'), /note: .*too long to trace/);
    } finally {
      node.transactions.clear();
      node.replays = true;
    }
  });

  it('findings report how far back the node can trace', async () => {
    node.height = 20_000;
    assert.match(await levels('ETH'), /ok: the node can trace blocks that are one day old/);
    node.tracedFrom = 19_900;
    assert.match(await levels('ETH'), /warn: the node can only trace its newest blocks/);
  });
});

/**
 * The cost of a block doesn't grow with the number of assigned addresses: with 10 and with 10,000 there are
 * the same calls to the node and the same SQL statements. The benchmarks of the same names measure the time.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { AccountKey } from '../../../src/drivers/chain/account-key.ts';
import { EvmChain } from '../../../src/drivers/chain/evm/driver.ts';
import { MoneroChain } from '../../../src/drivers/chain/monero/driver.ts';
import { parseNodeUrl } from '../../../src/drivers/chain/node-http.ts';
import { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import { formatUnits } from '../../../src/kernel/money.ts';
import type { ChainDriver, OwnAddressLookup } from '../../../src/ports/chain.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import { findOwnAddresses } from '../../../src/store/topups/addresses.ts';
import { claimCoins } from '../../../src/store/topups/coins.ts';
import type { TopupRow } from '../../../src/store/topups/topups.ts';
import { readChain } from '../../../src/workers/read-chain.ts';
import { CallCounter, CountingProxy, countingDatabase } from '../../support/call-counter.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { TopupWorld } from '../../support/topup-world.ts';
import { Anvil, hex, NO_ANVIL } from './evm/anvil.ts';
import { testAccount } from './evm/evm-world.ts';
import { MoneroStub } from './monero/monero-stub.ts';
import { BitcoinStub, ZPUB } from './utxo/bitcoin-stub.ts';

const FEW = 10;
const MANY = 10_000;
const PAID = 3;
const LEASE_MS = 600_000;
const DRIVER_TIMEOUT_MS = 60_000;

interface NodeFixture {
  readonly url: string;
  /** Creates a driver that sends its requests to `url` instead of the node. */
  readonly driver: (url: string, own: OwnAddressLookup, given: () => Promise<number>) => ChainDriver;
  /** Mines a block in which these invoices are paid in full. */
  readonly mine: (invoices: readonly TopupRow[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface NodeSetup {
  readonly start: () => Promise<NodeFixture>;
  readonly missing: string | false;
}

const NODES: Readonly<Partial<Record<CoinCode, NodeSetup>>> = {
  BTC: { start: bitcoin, missing: false },
  XMR: { start: monero, missing: false },
  ETH: { start: ethereum, missing: NO_ANVIL },
};

async function bitcoin(): Promise<NodeFixture> {
  const stub = await BitcoinStub.start();
  stub.answers.set('getaddressinfo', (address: string) => ({ address, ismine: true, solvable: true }));
  const { url, authorization } = stub.node;
  const { origin, pathname } = new URL(url);
  return {
    url: origin,
    driver: (counted, own, allocatedCount) =>
      new UtxoChain({
        ...{ coin: 'BTC', own, allocatedCount, allowTest: false },
        ...{ node: { url: counted + pathname, authorization }, account: AccountKey.parse(ZPUB) },
      }),
    mine: async (invoices) => {
      stub.height += 1;
      for (const { deposit_address: address, deposit_units } of invoices) {
        stub.pay({ address, amount: formatUnits(deposit_units, 8) });
      }
    },
    close: () => stub.close(),
  };
}

async function monero(): Promise<NodeFixture> {
  const stub = await MoneroStub.start();
  return {
    url: stub.node.url,
    driver: (url, _own, allocatedCount) => {
      const node = { url, authorization: null };
      return new MoneroChain({
        wallet: node,
        daemon: node,
        address: stub.address,
        allowTest: false,
        allocatedCount,
      });
    },
    mine: async (invoices) => {
      stub.mine(1);
      for (const [index, { deposit_units }] of invoices.entries()) {
        stub.pay(index + 1, deposit_units, stub.height);
      }
    },
    close: () => stub.close(),
  };
}

async function ethereum(): Promise<NodeFixture> {
  const anvil = await Anvil.start();
  return {
    url: anvil.url,
    driver: (url, own) =>
      new EvmChain({
        ...{
          coin: 'ETH',
          node: parseNodeUrl(url),
          account: testAccount(),
          contract: '',
          own,
          allowTest: true,
        },
      }),
    mine: async (invoices) => {
      for (const { deposit_address: to, deposit_units } of invoices) {
        await anvil.send(await anvil.prepare({ to, value: hex(deposit_units) }));
      }
      await anvil.mine();
    },
    close: () => anvil.close(),
  };
}

interface CallCounts {
  readonly node: Readonly<Record<string, number>>;
  readonly database: Readonly<Record<string, number>>;
}

/**
 * Counts the calls of each poll: for a block with three paid invoices, for an empty block, and without a new
 * block.
 */
async function measurePolls(
  coin: CoinCode,
  start: () => Promise<NodeFixture>,
  count: number,
): Promise<CallCounts[]> {
  const calls = new CallCounter();
  const statements = new CallCounter();
  const node = await start();
  const proxy = await CountingProxy.start(node.url, calls);
  let allocatedCount = 0;
  const world = await TopupWorld.start({
    chains: ({ db }) => {
      const counted = countingDatabase(db, statements);
      const own: OwnAddressLookup = (addresses) => findOwnAddresses(counted, coin, addresses);
      return new Map([[coin, node.driver(proxy.url, own, async () => allocatedCount)]]);
    },
  });
  const poll = chainPoller(world, coin, statements);
  try {
    const paid: TopupRow[] = [];
    while (paid.length < PAID) paid.push(await world.createInvoice(40, coin));
    allocatedCount = count;
    await allocateMany(world, paid[0] ?? assert.fail(), count);
    // From here on the safety check is cached, and a poll finds only new blocks.
    await (world.chains.get(coin) ?? assert.fail()).checkSafety();
    await node.mine([]);
    await poll();
    const counts: CallCounts[] = [];
    for (const invoices of [paid, [], null]) {
      if (invoices !== null) await node.mine(invoices);
      calls.drain();
      statements.drain();
      await poll();
      counts.push({ node: calls.drain(), database: statements.drain() });
    }
    assert.equal((await world.db.rows('select 1 from deposits')).length, PAID);
    return counts;
  } finally {
    await world.close();
    await proxy.close();
    await node.close();
  }
}

/** Returns a function that polls like the watch worker, under a lease that is not renewed meanwhile. */
function chainPoller(world: TopupWorld, coin: CoinCode, statements: CallCounter): () => Promise<void> {
  const service = { ...world.service, db: countingDatabase(world.db, statements) };
  return async () => {
    world.clock.advanceMinutes(1);
    await world.db.run('update coins set leased_until = null');
    const leases = new Map([[coin, randomUUID()]]);
    const [claimed] = await claimCoins(world.db, { leases, leaseMs: LEASE_MS });
    await readChain(service, claimed ?? assert.fail('the coin could not be claimed'), DRIVER_TIMEOUT_MS);
  };
}

/** Copies an invoice until there are `count` in total. */
async function allocateMany(world: TopupWorld, like: TopupRow, count: number): Promise<void> {
  await world.db.run(
    `insert into topups
     select (jsonb_populate_record(t, jsonb_build_object(
              'id', new_id(now()), 'public_no', t.public_no + i,
              'order_ref', 'ord_' || i, 'deposit_address', 'unpaid-' || i))).*
       from topups t, generate_series(1, $2) i where t.id = $1`,
    [like.id, count - PAID],
  );
  await world.db.run('update coins set next_index = $1', [count]);
  await world.db.run('vacuum analyze topups');
  const all = await world.db.row<{ n: number }>('select count(*)::int as n from topups');
  assert.equal(all?.n, count);
}

for (const [coin, { start, missing }] of Object.entries(NODES) as [CoinCode, NodeSetup][]) {
  const skip = missing || FULL_ONLY.skip;
  it(`a ${coin} block needs the same calls with 10,000 addresses as with ten`, { skip }, async (t) => {
    const few = await measurePolls(coin, start, FEW);
    const many = await measurePolls(coin, start, MANY);
    assert.deepEqual(many, few);
    const sums = few.map(({ node, database }) => `${sum(node)} calls and ${sum(database)} statements`);
    t.diagnostic(`${coin}: paid, empty, idle: ${sums.join('; ')}`);
    // Make sure that calls were counted at all.
    for (const { node, database } of few.slice(0, 2)) assert.ok(sum(node) > 0 && sum(database) > 0);
  });
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0);
}

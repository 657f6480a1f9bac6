/**
 * The cost of a new Monero block with 10,000 watched addresses, compared with 10: two view-only wallets with
 * the same keys on one real node, read alternately after each block.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MoneroChain } from '../src/drivers/chain/monero/driver.ts';
import { startMonero, VIEW_ONLY } from '../test/drivers/chain/monero/monero-world.ts';
import { NO_MONERO, TestWallet } from '../test/drivers/chain/monero/nodes.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const FEW = 10;
const MANY = 10_000;
const ROUNDS = 24;
const BLOCKS_PER_ROUND = 5;

interface ReadCost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

export async function benchWatchedMonero(folder: string): Promise<Figure[]> {
  if (NO_MONERO !== false) {
    throw new CannotMeasure(`watched Monero addresses: ${NO_MONERO}`);
  }
  const world = await startMonero();
  const walletFolder = join(folder, 'wallet-of-many');
  await mkdir(walletFolder);
  const wallet = await TestWallet.start(walletFolder, world.daemon);
  try {
    const { key } = await world.wallet.call<{ readonly key: string }>('query_key', { key_type: 'view_key' });
    await wallet.createViewOnly(VIEW_ONLY, world.address, key);
    const { daemon, address } = world;
    const few = world.driver();
    const many = new MoneroChain({
      wallet: wallet.node,
      daemon: daemon.node,
      ...{ address, allowTest: true },
    });
    await many.allocate({ id: 'last', index: MANY - 1, amountUnits: 1n });
    await few.allocate({ id: 'last', index: FEW - 1, amountUnits: 1n });
    const { address: paid } = await few.allocate({ id: 'paid', index: 0, amountUnits: 1n });
    const pay = async () => {
      await world.miner.pay([{ address: paid, amountUnits: 1_000_000_000n }]);
    };
    const readers = { few: { driver: few, cursor: null }, many: { driver: many, cursor: null } };
    return await measure(readers, pay, () => world.mine(1));
  } finally {
    await wallet.stop();
    await world.close();
  }
}

interface Reader {
  readonly driver: MoneroChain;
  cursor: string | null;
}

type Both<T> = Readonly<Record<'few' | 'many', T>>;

async function measure(
  readers: Both<Reader>,
  pay: () => Promise<void>,
  mine: () => Promise<void>,
): Promise<Figure[]> {
  const reads: Both<ReadCost[]> = { few: [], many: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await pay();
    for (let block = 0; block < BLOCKS_PER_ROUND; block++) {
      await mine();
      // The first reader after a block finds cold node caches, so the order alternates.
      const order = block % 2 === round % 2 ? (['few', 'many'] as const) : (['many', 'few'] as const);
      for (const size of order) reads[size].push(await read(readers[size]));
    }
  }
  // The first tenth is a warm-up.
  const warmupBlocks = Math.floor((ROUNDS * BLOCKS_PER_ROUND) / 10);
  const [few, many] = [medians(reads.few.slice(warmupBlocks)), medians(reads.many.slice(warmupBlocks))];
  if (process.env.BENCH_VERBOSE) {
    const shown = ({ cpuMs, wallMs }: ReadCost) => `${cpuMs.toFixed(2)} ms CPU, ${wallMs.toFixed(2)} ms`;
    process.stderr.write(`per block: ${FEW} addresses ${shown(few)}; ${MANY} addresses ${shown(many)}\n`);
  }
  const bounds = { unit: '×', limit: 1.2, goal: 1.1, bound: 'max' } as const;
  const name = `a Monero block, ${MANY} watched addresses ÷ ${FEW}`;
  return [
    { name: `${name}: CPU`, value: many.cpuMs / few.cpuMs, ...bounds },
    { name: `${name}: time`, value: many.wallMs / few.wallMs, ...bounds },
  ];
}

async function read(reader: Reader): Promise<ReadCost> {
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  const { cursor, observations } = await reader.driver.poll({ cursor: reader.cursor });
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  reader.cursor = cursor;
  if (observations.length === 0) throw new Error('payments are missing');
  return { cpuMs: (user + system) / 1000, wallMs };
}

function medians(reads: readonly ReadCost[]): ReadCost {
  return {
    cpuMs: median(reads.map(({ cpuMs }) => cpuMs)),
    wallMs: median(reads.map(({ wallMs }) => wallMs)),
  };
}

/**
 * The cost of a new Ethereum block with 10,000 watched addresses, compared with 10: two databases and one
 * real node, read alternately after each block.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { EvmChain } from '../src/drivers/chain/evm/driver.ts';
import { parseNodeUrl } from '../src/drivers/chain/node-http.ts';
import type { OwnAddressLookup } from '../src/ports/chain.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { findOwnAddresses } from '../src/store/topups/addresses.ts';
import { Anvil, hex, NO_ANVIL } from '../test/drivers/chain/evm/anvil.ts';
import { testAccount } from '../test/drivers/chain/evm/evm-world.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const FEW = 10;
const MANY = 10_000;
const ROUNDS = 7;
const BLOCKS_PER_ROUND = 10;
/** A typical block of the main network. */
const TRANSACTIONS_PER_BLOCK = 150;
const PAYMENTS_PER_BLOCK = 3;

interface ReadCost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

interface Reader {
  readonly driver: EvmChain;
  cursor: string | null;
}

export async function benchWatchedEvm(folder: string): Promise<Figure[]> {
  if (NO_ANVIL !== false) {
    throw new CannotMeasure(`watched Ethereum addresses: ${NO_ANVIL}`);
  }
  const anvil = await Anvil.start();
  try {
    return await withReader(anvil, join(folder, 'evm-few'), FEW, (few) =>
      withReader(anvil, join(folder, 'evm-many'), MANY, (many) => measure(anvil, few, many)),
    );
  } finally {
    await anvil.close();
  }
}

async function withReader<T>(
  anvil: Anvil,
  dataDir: string,
  count: number,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const database = await startEmbedded({ dataDir });
  const db = openDatabase(database.connection, { poolSize: 2 });
  try {
    await migrate(db);
    const driver = driverOf(anvil, (addresses) => findOwnAddresses(db, 'ETH', addresses));
    await insertInvoices(db, driver, count);
    return await work({ driver, cursor: null });
  } finally {
    await db.close();
    await database.stop();
  }
}

function driverOf(anvil: Anvil, own: OwnAddressLookup): EvmChain {
  const node = parseNodeUrl(anvil.url);
  return new EvmChain({ coin: 'ETH', node, account: testAccount(), own, contract: '', allowTest: true });
}

/** Inserts invoices with one address each. The first ones have the addresses that are paid. */
async function insertInvoices(db: OpenDatabase, driver: EvmChain, count: number): Promise<void> {
  const addresses = await Promise.all(
    Array.from({ length: PAYMENTS_PER_BLOCK }, async (_, index) => {
      return (await driver.allocate({ id: `${index}`, index, amountUnits: 1n })).address;
    }),
  );
  while (addresses.length < count) addresses.push(randomAddress());
  await db.transaction(async (tx) => {
    await tx.run(
      `insert into customers (id, public_no, email, email_key, password_hash, created_at)
       values (new_id(now()), 1, 'c@example.org', 'c', '', now())`,
    );
    await tx.run(`insert into coins (code, next_index) values ('ETH', $1)`, [count]);
    await tx.run(
      `insert into topups (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents,
                           deposit_address, deposit_uri, deposit_units, rate_usd, required_confirmations,
                           status, expires_at, created_at)
       select new_id(now()), i, 'ord_' || i, (select id from customers), 'ETH', 10000, 0,
              address, 'ethereum:' || address, 1, '2500', 12, 'pending', now() + interval '1 hour', now()
         from unnest($1::text[]) with ordinality as input (address, i)`,
      [addresses],
    );
  });
  await db.run('vacuum analyze topups');
}

function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

async function measure(anvil: Anvil, few: Reader, many: Reader): Promise<Figure[]> {
  const reads = { few: [] as ReadCost[], many: [] as ReadCost[] };
  // The first reader after a block finds cold node caches, so a third reader goes first.
  const warmUp = { driver: driverOf(anvil, async () => new Set()), cursor: null };
  for (const reader of [warmUp, few, many]) await catchUp(reader);
  for (let round = 0; round <= ROUNDS; round++) {
    const roundReads = { few: [] as ReadCost[], many: [] as ReadCost[] };
    for (let block = 0; block < BLOCKS_PER_ROUND; block++) {
      await mineBlock(anvil, few);
      await read(warmUp);
      const order = block % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const);
      for (const size of order) roundReads[size].push(await readBlock(size === 'few' ? few : many));
    }
    // The first round is a warm-up.
    if (round === 0) continue;
    reads.few.push(minimum(roundReads.few));
    reads.many.push(minimum(roundReads.many));
  }
  const [fewCost, manyCost] = [medians(reads.few), medians(reads.many)];
  if (process.env.BENCH_VERBOSE) {
    const shown = ({ cpuMs, wallMs }: ReadCost) => `${cpuMs.toFixed(2)} ms CPU, ${wallMs.toFixed(2)} ms`;
    const [few, many] = [shown(fewCost), shown(manyCost)];
    process.stderr.write(`per block: ${FEW} addresses ${few}; ${MANY} addresses ${many}\n`);
  }
  const bounds = { unit: '×', limit: 1.2, goal: 1.1, bound: 'max' } as const;
  const name = `an Ethereum block, ${MANY} watched addresses ÷ ${FEW}`;
  return [
    { name: `${name}: CPU`, value: manyCost.cpuMs / fewCost.cpuMs, ...bounds },
    { name: `${name}: time`, value: manyCost.wallMs / fewCost.wallMs, ...bounds },
  ];
}

/** Mines a block that pays other addresses and three that both databases have. */
async function mineBlock(anvil: Anvil, { driver }: Reader): Promise<void> {
  const from = anvil.account(0);
  const first = Number(await anvil.request<string>('eth_getTransactionCount', from, 'pending'));
  for (let i = 0; i < TRANSACTIONS_PER_BLOCK; i++) {
    const index = i;
    const to =
      i < PAYMENTS_PER_BLOCK
        ? (await driver.allocate({ id: `${index}`, index, amountUnits: 1n })).address
        : randomAddress();
    await anvil.send({ from, to, value: '0x1', nonce: hex(first + i) });
  }
  await anvil.mine();
}

async function readBlock(reader: Reader): Promise<ReadCost> {
  const { observations, ...figures } = await read(reader);
  if (observations !== PAYMENTS_PER_BLOCK) throw new Error(`${observations} payments were found`);
  return figures;
}

/** Reads all existing blocks. */
async function catchUp(reader: Reader): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== reader.cursor; ) {
    cursor = reader.cursor;
    await read(reader);
  }
}

async function read(reader: Reader): Promise<ReadCost & { readonly observations: number }> {
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  const { cursor, observations } = await reader.driver.poll({ cursor: reader.cursor });
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  reader.cursor = cursor;
  return { cpuMs: (user + system) / 1000, wallMs, observations: observations.length };
}

/** Other load on the machine can only increase a cost, so the minimum is the best estimate. */
function minimum(reads: readonly ReadCost[]): ReadCost {
  return {
    cpuMs: Math.min(...reads.map(({ cpuMs }) => cpuMs)),
    wallMs: Math.min(...reads.map(({ wallMs }) => wallMs)),
  };
}

function medians(reads: readonly ReadCost[]): ReadCost {
  return {
    cpuMs: median(reads.map(({ cpuMs }) => cpuMs)),
    wallMs: median(reads.map(({ wallMs }) => wallMs)),
  };
}

/**
 * What a new block of Ethereum costs where 10,000 addresses were given out, against 10: two databases, one real node, read in
 * turn after each block.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { EvmChain } from '../src/drivers/chain/evm/driver.ts';
import { nodeAddress } from '../src/drivers/chain/node-http.ts';
import type { OwnAddresses } from '../src/ports/chain.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { findOwnAddresses } from '../src/store/own-addresses.ts';
import { Anvil, hex, NO_ANVIL } from '../test/drivers/evm/anvil.ts';
import { testAccount } from '../test/drivers/evm/evm-world.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const FEW = 10;
const MANY = 10_000;
const ROUNDS = 7;
const BLOCKS_A_ROUND = 10;
/** As in a block of the real network. */
const TRANSACTIONS_A_BLOCK = 150;
const PAYMENTS_A_BLOCK = 3;

interface Read {
  readonly cpuMs: number;
  readonly wallMs: number;
}

interface Reader {
  readonly driver: EvmChain;
  cursor: string | null;
}

export async function benchWatchedEvm(folder: string): Promise<Figure[]> {
  if (NO_ANVIL !== false) {
    throw new CannotMeasure(`watched addresses of Ethereum: ${NO_ANVIL}`);
  }
  const anvil = await Anvil.start();
  try {
    return await withReader(anvil, join(folder, 'evm-few'), FEW, (few) =>
      withReader(anvil, join(folder, 'evm-many'), MANY, (many) => figures(anvil, few, many)),
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
    await giveOut(db, driver, count);
    return await work({ driver, cursor: null });
  } finally {
    await db.close();
    await database.stop();
  }
}

function driverOf(anvil: Anvil, own: OwnAddresses): EvmChain {
  const node = nodeAddress(anvil.url);
  return new EvmChain({ coin: 'ETH', node, account: testAccount(), own, contract: '', allowTest: true });
}

/** So many invoices with an address each; the first ones have those that are paid. */
async function giveOut(db: OpenDatabase, driver: EvmChain, count: number): Promise<void> {
  const addresses = await Promise.all(
    Array.from({ length: PAYMENTS_A_BLOCK }, async (_, index) => {
      return (await driver.allocate({ id: `${index}`, index, amountUnits: 1n })).address;
    }),
  );
  while (addresses.length < count) addresses.push(someAddress());
  await db.transaction(async (tx) => {
    await tx.run(
      `insert into customers (id, public_no, email, email_key, password_hash, created_at)
       values (new_id(now()), 1, 'c@example.org', 'c', '', now())`,
    );
    await tx.run(`insert into coins (code, next_index) values ('ETH', $1)`, [count]);
    await tx.run(
      `insert into topups (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents, deposit_address, deposit_uri,
                           deposit_units, rate_usd, required_confirmations, status, expires_at, created_at)
       select new_id(now()), i, 'ord_' || i, (select id from customers), 'ETH', 10000, 0, address, 'ethereum:' || address,
              1, '2500', 12, 'pending', now() + interval '1 hour', now()
         from unnest($1::text[]) with ordinality as given (address, i)`,
      [addresses],
    );
  });
  await db.run('vacuum analyze topups');
}

function someAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

async function figures(anvil: Anvil, few: Reader, many: Reader): Promise<Figure[]> {
  const reads = { few: [] as Read[], many: [] as Read[] };
  // Who comes first finds the node's caches cold: that is neither of them.
  const first = { driver: driverOf(anvil, async () => new Set()), cursor: null };
  for (const reader of [first, few, many]) await readAll(reader);
  for (let round = 0; round <= ROUNDS; round++) {
    const ofRound = { few: [] as Read[], many: [] as Read[] };
    for (let block = 0; block < BLOCKS_A_ROUND; block++) {
      await mine(anvil, few);
      await read(first);
      const order = block % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const);
      for (const which of order) ofRound[which].push(await readBlock(which === 'few' ? few : many));
    }
    // The first round warms all.
    if (round === 0) continue;
    reads.few.push(least(ofRound.few));
    reads.many.push(least(ofRound.many));
  }
  const [ofFew, ofMany] = [middle(reads.few), middle(reads.many)];
  if (process.env.BENCH_VERBOSE) {
    const shown = ({ cpuMs, wallMs }: Read) => `${cpuMs.toFixed(2)} ms CPU, ${wallMs.toFixed(2)} ms`;
    process.stderr.write(`a block: ${FEW} addresses ${shown(ofFew)}; ${MANY} addresses ${shown(ofMany)}\n`);
  }
  const bounds = { unit: '×', heldTo: 1.2, goal: 1.1, bound: 'max' } as const;
  const name = `a block of Ethereum, ${MANY} watched addresses ÷ ${FEW}`;
  return [
    { name: `${name}: CPU`, value: ofMany.cpuMs / ofFew.cpuMs, ...bounds },
    { name: `${name}: time`, value: ofMany.wallMs / ofFew.wallMs, ...bounds },
  ];
}

/** A block in which others are paid, and three of the addresses that both databases have. */
async function mine(anvil: Anvil, { driver }: Reader): Promise<void> {
  const from = anvil.account(0);
  const first = Number(await anvil.ask<string>('eth_getTransactionCount', from, 'pending'));
  for (let i = 0; i < TRANSACTIONS_A_BLOCK; i++) {
    const index = i;
    const to =
      i < PAYMENTS_A_BLOCK
        ? (await driver.allocate({ id: `${index}`, index, amountUnits: 1n })).address
        : someAddress();
    await anvil.send({ from, to, value: '0x1', nonce: hex(first + i) });
  }
  await anvil.mine();
}

async function readBlock(reader: Reader): Promise<Read> {
  const { observations, ...figures } = await read(reader);
  if (observations !== PAYMENTS_A_BLOCK) throw new Error(`${observations} payments were seen`);
  return figures;
}

/** What is there already. */
async function readAll(reader: Reader): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== reader.cursor; ) {
    cursor = reader.cursor;
    await read(reader);
  }
}

async function read(reader: Reader): Promise<Read & { readonly observations: number }> {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  const { cursor, observations } = await reader.driver.poll({ cursor: reader.cursor });
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  reader.cursor = cursor;
  return { cpuMs: (user + system) / 1000, wallMs, observations: observations.length };
}

/** What else the machine does can only add to it. */
function least(reads: readonly Read[]): Read {
  return {
    cpuMs: Math.min(...reads.map(({ cpuMs }) => cpuMs)),
    wallMs: Math.min(...reads.map(({ wallMs }) => wallMs)),
  };
}

function middle(reads: readonly Read[]): Read {
  return {
    cpuMs: median(reads.map(({ cpuMs }) => cpuMs)),
    wallMs: median(reads.map(({ wallMs }) => wallMs)),
  };
}

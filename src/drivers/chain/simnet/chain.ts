/**
 * One simulated chain in the database. Every change locks the chain's row first, so changes have a total
 * order, which `seq` numbers. Readers use a single statement, hence one snapshot, and no lock.
 */
import type { Sql } from '../../../kernel/sql.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { newBlockHash } from './networks.ts';

/** From this many confirmations a payment no longer changes, except in a deep reorganization. */
export const FINAL_CONFIRMATIONS = 30;

export interface Chain {
  readonly coin: CoinCode;
  readonly firstHeight: number;
  readonly height: number;
  readonly hash: string;
  readonly seq: bigint;
  /** The next block is due one interval after this; null while no payment is waiting for one. */
  readonly waitingFrom: Date | null;
}

export async function lockChain(tx: Sql, coin: CoinCode): Promise<Chain> {
  // Not "for update": that would wait for every address insert, whose row references this one.
  const chain = await tx.row<Chain>(
    `select coin, first_height as "firstHeight", height, hash, seq, waiting_from as "waitingFrom"
     from sim.chains where coin = $1 for no key update`,
    [coin],
  );
  if (!chain) throw new Error(`no simulated network for ${coin}`);
  return chain;
}

/** Mines one block per time, oldest first; the first includes the whole mempool. */
export async function mineBlocks(tx: Sql, chain: Chain, times: readonly Date[]): Promise<Chain> {
  const hashes: string[] = [];
  for (const _ of times) hashes.push(newBlockHash(chain.coin, hashes.at(-1) ?? chain.hash));
  const [first, last, lastTime] = [hashes[0], hashes.at(-1), times.at(-1)];
  if (first === undefined || last === undefined || !lastTime) return chain;
  await tx.run(
    `insert into sim.blocks (coin, hash, parent_hash, height, mined_at, seq)
     select $1, hash, coalesce(lag(hash) over (order by n), $2), $3::int + n, mined_at, $4::bigint + n
     from unnest($5::text[], $6::timestamptz[]) with ordinality as block (hash, mined_at, n)`,
    [chain.coin, chain.hash, chain.height, chain.seq, hashes, times.map((time) => time.toISOString())],
  );
  await tx.run(
    `update sim.payments set state = 'included', height = $2, block_hash = $3, changed_seq = $4
     where coin = $1 and state = 'mempool'`,
    [chain.coin, chain.height + 1, first, chain.seq + 1n],
  );
  return await saveTip(tx, {
    ...chain,
    height: chain.height + times.length,
    hash: last,
    seq: chain.seq + BigInt(times.length),
    waitingFrom: lastTime,
  });
}

/** Removes blocks from the tip, down to the first at most; returns how many. Their payments get `state`. */
export async function removeBlocks(
  tx: Sql,
  chain: Chain,
  change: { depth: number; state: 'mempool' | 'removed'; now: Date },
): Promise<{ chain: Chain; removed: number }> {
  const height = Math.max(chain.firstHeight, chain.height - change.depth);
  const seq = chain.seq + 1n;
  await tx.run(
    `update sim.payments set state = $3, height = null, block_hash = null, changed_seq = $4
     where coin = $1 and state = 'included' and height > $2`,
    [chain.coin, height, change.state, seq],
  );
  await tx.run('update sim.blocks set orphaned = true where coin = $1 and height > $2 and not orphaned', [
    chain.coin,
    height,
  ]);
  const tip = await tx.row<{ hash: string }>(
    'select hash from sim.blocks where coin = $1 and height = $2 and not orphaned',
    [chain.coin, height],
  );
  if (!tip) throw new Error(`the simulated ${chain.coin} chain has no block ${height}`);
  const moved = await saveTip(tx, { ...chain, height, hash: tip.hash, seq, waitingFrom: change.now });
  return { chain: moved, removed: chain.height - height };
}

/** Saves the chain's row; it only waits for a block while some payment is unconfirmed or not final. */
export async function saveTip(tx: Sql, chain: Chain): Promise<Chain> {
  const waitingFrom = (await countBlocksNeeded(tx, chain)) > 0 ? chain.waitingFrom : null;
  await tx.run(
    `update sim.chains set height = $height, hash = $hash, seq = $seq, waiting_from = $waitingFrom
      where coin = $coin`,
    { ...chain, waitingFrom },
  );
  return { ...chain, waitingFrom };
}

/** Mines the blocks that are due by `now`, each at its scheduled time, at most `limit`. */
export async function mineDueBlocks(
  tx: Sql,
  chain: Chain,
  due: { now: Date; blockS: number; limit: number },
): Promise<Chain> {
  const from = chain.waitingFrom?.getTime();
  if (due.blockS <= 0 || from === undefined) return chain;
  const intervalMs = due.blockS * 1000;
  const overdue = Math.floor((due.now.getTime() - from) / intervalMs);
  const count = Math.min(overdue, due.limit, await countBlocksNeeded(tx, chain));
  const times = Array.from({ length: Math.max(0, count) }, (_, i) => new Date(from + (i + 1) * intervalMs));
  return await mineBlocks(tx, chain, times);
}

/** Returns how many blocks make every payment final. */
async function countBlocksNeeded(tx: Sql, chain: Chain): Promise<number> {
  const found = await tx.row<{ waiting: boolean; newest: number | null }>(
    `select exists (select from sim.payments where coin = $1 and state = 'mempool') as waiting,
       (select max(height) from sim.payments where coin = $1 and state = 'included') as newest`,
    [chain.coin],
  );
  if (found?.waiting) return FINAL_CONFIRMATIONS;
  if (found?.newest == null) return 0;
  return Math.max(0, FINAL_CONFIRMATIONS - (chain.height - found.newest + 1));
}

/** How the chains stand, asked now: what every node and its driver say of themselves, beside what is kept of its polls. */

import { summarizeError } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { withTimeout } from '../../kernel/with-timeout.ts';
import type { ChainDriver, ChainFinding, ChainHealth } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { type CoinRow, cursorHeight, listCoinRows } from '../../store/coins.ts';
import type { Service } from '../context.ts';

/** A node that is asked for its first time is proven, which takes a little. */
const TIMEOUT_MS = 15 * SECOND_MS;

/** What was asked for, or why there is no answer, in words for the operator. */
export type NodeAnswer<T> = { readonly value: T } | { readonly fault: string };

export interface ChainState {
  readonly coin: CoinCode;
  /** That the node may be used. */
  readonly proof: NodeAnswer<true>;
  readonly health: NodeAnswer<ChainHealth>;
  readonly notes: NodeAnswer<readonly ChainFinding[]>;
  /** How many addresses were given out. */
  readonly addressCount: number;
  /** The block that was read last; null: none yet. */
  readonly readHeight: number | null;
  readonly readAt: Date | null;
  /** Polls that failed in a row, and why the last one did. */
  readonly failures: number;
  readonly lastFault: string | null;
}

/** Of every coin that is taken, all of them at once; none waits for another, nor for longer than the patience for each question. */
export async function readChains(
  service: Pick<Service, 'db' | 'chains'>,
  { patienceMs = TIMEOUT_MS } = {},
): Promise<readonly ChainState[]> {
  const kept = new Map((await listCoinRows(service.db)).map((row) => [row.code, row]));
  const taken = [...service.chains];
  return await Promise.all(
    taken.map(([coin, driver]) => readChainState({ coin, driver, row: kept.get(coin), patienceMs })),
  );
}

/** Coins that addresses were given out for, and that nobody reads now. */
export async function orphanedCoins(service: Pick<Service, 'db' | 'chains'>): Promise<readonly CoinCode[]> {
  const rows = await listCoinRows(service.db);
  return rows.filter(({ code }) => !service.chains.has(code)).map(({ code }) => code);
}

async function readChainState(options: {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  readonly row: CoinRow | undefined;
  readonly patienceMs: number;
}): Promise<ChainState> {
  const { coin, driver, row, patienceMs } = options;
  const addressCount = row?.next_index ?? 0;
  const proof = await tryNode(async () => {
    await driver.checkSafety();
    return true as const;
  }, patienceMs);
  const [health, notes] = await Promise.all([
    tryNode(() => driver.health(), patienceMs),
    tryNode(() => driver.examine(addressCount), patienceMs),
  ]);
  return {
    coin,
    proof,
    health,
    notes,
    addressCount,
    readHeight: cursorHeight(row?.cursor ?? null),
    readAt: row?.read_at ?? null,
    failures: row?.failures ?? 0,
    lastFault: row?.last_fault ?? null,
  };
}

async function tryNode<T>(call: () => Promise<T>, patienceMs: number): Promise<NodeAnswer<T>> {
  try {
    return { value: await withTimeout(call(), patienceMs) };
  } catch (error) {
    return { fault: summarizeError(error) };
  }
}

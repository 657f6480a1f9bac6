/** Reads the state of the chains: the answers of nodes and drivers, and the stored state of the polls. */

import { summarizeError } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import type { ChainDriver, ChainFinding, ChainHealth } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { type CoinRow, cursorHeight, listCoinRows } from '../../store/topups/coins.ts';
import type { Service } from '../context.ts';

/** The first query of a node includes a check, which takes time. */
const TIMEOUT_MS = 15 * SECOND_MS;

/** A value, or the reason why there is none, for the operator. */
export type NodeAnswer<T> = { readonly value: T } | { readonly fault: string };

export interface ChainState {
  readonly coin: CoinCode;
  /** Whether the node is safe to use. */
  readonly proof: NodeAnswer<true>;
  readonly health: NodeAnswer<ChainHealth>;
  readonly notes: NodeAnswer<readonly ChainFinding[]>;
  /** Number of addresses given out. */
  readonly addressCount: number;
  /** The last block read; null: none. */
  readonly readHeight: number | null;
  readonly readAt: Date | null;
  /** Consecutive failed polls, and the reason of the last. */
  readonly failures: number;
  readonly lastFault: string | null;
}

/** Reads all accepted coins concurrently. `patienceMs` is the timeout of every query. */
export async function readChains(
  service: Pick<Service, 'db' | 'chains'>,
  { patienceMs = TIMEOUT_MS } = {},
): Promise<readonly ChainState[]> {
  const stored = new Map((await listCoinRows(service.db)).map((row) => [row.code, row]));
  const taken = [...service.chains];
  return await Promise.all(
    taken.map(([coin, driver]) => readChainState({ coin, driver, row: stored.get(coin), patienceMs })),
  );
}

/** Returns coins with addresses given out but without a reader. */
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

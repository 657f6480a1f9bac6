/** How the chains stand, asked now: what every node and its driver say of themselves, beside what is kept of its polls. */
import { inTime } from '../../kernel/in-time.ts';
import { faultLine } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { ChainDriver, ChainHealth, ChainNote } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { type CoinRow, cursorHeight, listCoinRows } from '../../store/coins.ts';
import type { Service } from '../context.ts';

/** A node that is asked for its first time is proven, which takes a little. */
const PATIENCE_MS = 15 * SECOND_MS;

/** What was asked for, or why there is no answer, in words for the operator. */
export type Answer<T> = { readonly value: T } | { readonly fault: string };

export interface ChainState {
  readonly coin: CoinCode;
  /** That the node may be used. */
  readonly proof: Answer<true>;
  readonly health: Answer<ChainHealth>;
  readonly notes: Answer<readonly ChainNote[]>;
  /** How many addresses were given out. */
  readonly given: number;
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
  { patienceMs = PATIENCE_MS } = {},
): Promise<readonly ChainState[]> {
  const kept = new Map((await listCoinRows(service.db)).map((row) => [row.code, row]));
  const taken = [...service.chains];
  return await Promise.all(
    taken.map(([coin, driver]) => chainState({ coin, driver, row: kept.get(coin), patienceMs })),
  );
}

/** Coins that addresses were given out for, and that nobody reads now. */
export async function forsakenCoins(service: Pick<Service, 'db' | 'chains'>): Promise<readonly CoinCode[]> {
  const rows = await listCoinRows(service.db);
  return rows.filter(({ code }) => !service.chains.has(code)).map(({ code }) => code);
}

async function chainState(asked: {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  readonly row: CoinRow | undefined;
  readonly patienceMs: number;
}): Promise<ChainState> {
  const { coin, driver, row, patienceMs } = asked;
  const given = row?.next_index ?? 0;
  const proof = await answer(async () => {
    await driver.prove();
    return true as const;
  }, patienceMs);
  const [health, notes] = await Promise.all([
    answer(() => driver.health(), patienceMs),
    answer(() => driver.examine(given), patienceMs),
  ]);
  return {
    coin,
    proof,
    health,
    notes,
    given,
    readHeight: cursorHeight(row?.cursor ?? null),
    readAt: row?.read_at ?? null,
    failures: row?.failures ?? 0,
    lastFault: row?.last_fault ?? null,
  };
}

async function answer<T>(ask: () => Promise<T>, patienceMs: number): Promise<Answer<T>> {
  try {
    return { value: await inTime(ask(), patienceMs) };
  } catch (error) {
    return { fault: faultLine(error) };
  }
}

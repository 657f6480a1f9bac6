/**
 * Reads the chains. One process at a time reads a coin, under a lease that a heartbeat extends; what it found is
 * applied first, then the cursor is saved, so what a killed process had read is read again by the next one. A poll
 * that fails delays its own coin only.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { applyObservations, LeaseLost } from '../domain/topups/observations.ts';
import { crashPoint } from '../kernel/crash.ts';
import type { Observation } from '../ports/chain.ts';
import {
  type ClaimedCoin,
  claimCoins,
  countLeasedElsewhere,
  delayCoin,
  extendCoins,
  hasFailedCoins,
  releaseCoins,
  saveCursor,
} from '../store/coins.ts';
import { unfinishedKeys } from '../store/deposits.ts';
import type { Duty } from './duty.ts';

export interface WatchOptions {
  /** How long a process that died keeps a coin from the others; a living one extends it in time. */
  readonly leaseMs?: number;
  /** How long a driver may take to answer. */
  readonly driverTimeoutMs?: number;
  /** The wait after a first failure; it doubles up to `retryMostMs`. */
  readonly retryFirstMs?: number;
  readonly retryMostMs?: number;
}

const DEFAULTS: Required<WatchOptions> = {
  leaseMs: 10_000,
  driverTimeoutMs: 20_000,
  retryFirstMs: 500,
  retryMostMs: 30_000,
};

const RECHECK_BATCH = 200;

/** A run that could only wait for another process does so before it returns: its caller comes back at once. */
const ELSEWHERE_PAUSE_MS = 50;

/**
 * Reads every coin that has an invoice, in each run: one that returns 0 with no coin waiting to be tried again
 * (`busy`) has seen all there was to see.
 */
export function watchDuty(service: Service, options: WatchOptions = {}): Duty {
  const limits = { ...DEFAULTS, ...options };
  // Leases of runs that ended. Should the database be away when one is given back, the next run does it.
  const ended = new Set<string>();
  return {
    name: 'watch',
    run: async () => {
      if (ended.size > 0) await giveBack(service, ended);
      const leaseId = randomUUID();
      try {
        return await watchCoins(service, leaseId, limits);
      } finally {
        ended.add(leaseId);
        await giveBack(service, ended);
      }
    },
    nextDue: async () => null,
    busy: () => hasFailedCoins(service.db),
  };
}

async function giveBack(service: Service, leases: Set<string>): Promise<void> {
  const ids = [...leases];
  await releaseCoins(service.db, ids);
  for (const id of ids) leases.delete(id);
}

async function watchCoins(
  service: Service,
  leaseId: string,
  limits: Required<WatchOptions>,
): Promise<number> {
  const lease = { leaseId, leaseMs: limits.leaseMs };
  const claimed = await claimCoins(service.db, { ...lease, codes: [...service.chains.keys()] });
  const heartbeat = setInterval(() => {
    extendCoins(service.db, lease).catch(() => undefined);
  }, limits.leaseMs / 3);
  const reads = claimed.map((coin) => watchCoin(service, coin, leaseId, limits));
  const outcomes = await Promise.allSettled(reads);
  clearInterval(heartbeat);
  let changed = 0;
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
    changed += outcome.value;
  }
  const elsewhere = await countLeasedElsewhere(service.db, leaseId);
  if (changed === 0 && elsewhere > 0) await pause(ELSEWHERE_PAUSE_MS);
  return changed + elsewhere;
}

/** Reads one coin; a failure of its node, or of an invoice of its, is logged and delays this coin. */
async function watchCoin(
  service: Service,
  coin: ClaimedCoin,
  leaseId: string,
  limits: Required<WatchOptions>,
): Promise<number> {
  try {
    return await readChain(service, coin, leaseId, limits.driverTimeoutMs);
  } catch (error) {
    if (error instanceof LeaseLost) return 1;
    const type = error instanceof Error ? error.name : typeof error;
    service.log.warn({ coin: coin.code, error: type }, 'a chain could not be read');
    const delay = { firstMs: limits.retryFirstMs, mostMs: limits.retryMostMs };
    await delayCoin(service.db, coin.code, leaseId, delay);
    return 0;
  }
}

async function readChain(
  service: Service,
  coin: ClaimedCoin,
  leaseId: string,
  timeoutMs: number,
): Promise<number> {
  const driver = service.chains.get(coin.code);
  if (!driver) return 0;
  const { cursor, observations } = await answerOf(driver.poll({ cursor: coin.cursor }), timeoutMs);
  crashPoint('credit.polled');
  let changed = await applyObservations(service, coin.code, observations, leaseId);
  const moved = cursor !== coin.cursor;
  for (const keys of await silentKeys(service, coin, moved, observations)) {
    const rechecked = await answerOf(driver.recheck(keys), timeoutMs);
    changed += await applyObservations(service, coin.code, rechecked, leaseId);
  }
  if (moved || coin.failures > 0) {
    if (!(await saveCursor(service.db, coin.code, leaseId, cursor))) throw new LeaseLost();
    crashPoint('credit.cursor_saved');
  }
  return changed;
}

/**
 * Unfinished payments that the poll did not mention, in batches: one in the mempool should have been, so it is
 * gone; one in a block may have left it when the chain moved.
 */
async function silentKeys(
  service: Service,
  coin: ClaimedCoin,
  moved: boolean,
  observations: readonly Observation[],
): Promise<string[][]> {
  const told = new Set(observations.map((observation) => observation.key));
  const unfinished = await unfinishedKeys(service.db, coin.code, { included: moved });
  const silent = unfinished.filter((key) => !told.has(key));
  const batches: string[][] = [];
  for (let i = 0; i < silent.length; i += RECHECK_BATCH) batches.push(silent.slice(i, i + RECHECK_BATCH));
  return batches;
}

/** Gives up on a driver that does not answer, so that it cannot hold back the other coins. */
async function answerOf<T>(asked: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DriverTimeout()), timeoutMs);
  });
  try {
    return await Promise.race([asked, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

class DriverTimeout extends Error {
  override readonly name = 'DriverTimeout';
}

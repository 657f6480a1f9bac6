/**
 * Reads the chains. One process at a time reads a coin, under a lease that a heartbeat extends. Observations
 * are applied first and the cursor is saved last, so the next process rereads what a killed one had read. No
 * coin waits for another: a failed poll delays only its own coin, and a slow one continues next to the
 * following runs.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { BACKOFF, type Backoff, backoffMs } from '../kernel/backoff.ts';
import { LeaseLost } from '../kernel/fail.ts';
import { summarizeError } from '../kernel/logger.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import type { CoinCode } from '../spec/coins.ts';
import { newLeaseId } from '../store/leases.ts';
import {
  claimCoins,
  countLeasedElsewhere,
  delayCoin,
  extendCoinLease,
  hasFailedCoins,
  type LeasedCoin,
  releaseCoins,
} from '../store/topups/coins.ts';
import type { Job } from './job.ts';
import { readChain } from './read-chain.ts';

export interface WatchOptions {
  /** How long a process that died blocks a coin; a live process extends the lease in time. */
  readonly leaseMs?: number;
  /** Timeout of a driver call. */
  readonly driverTimeoutMs?: number;
  /** How long a run waits for reads in progress. */
  readonly runWaitMaxMs?: number;
  readonly retry?: Backoff;
}

const DEFAULTS: Required<WatchOptions> = {
  leaseMs: 10_000,
  driverTimeoutMs: 20_000,
  runWaitMaxMs: 500,
  retry: BACKOFF.coin,
};

/**
 * Reads every coin that has an invoice, in each run. A run that returns 0 while no coin is still being read
 * or waiting for a retry (`busy`) has seen everything.
 */
export function watchJob(service: Service, options: WatchOptions = {}): Job {
  const watch = new ChainWatcher(service, { ...DEFAULTS, ...options });
  return {
    name: 'watch',
    run: () => watch.run(),
    nextDue: async () => null,
    busy: () => watch.busy(),
  };
}

class ChainWatcher {
  readonly #service: Service;
  readonly #limits: Required<WatchOptions>;
  readonly #reading = new Map<CoinCode, Promise<void>>();
  /** Leases that the database may hold for us, and those of them that must be released. */
  readonly #leaseIds = new Set<string>();
  readonly #releasableLeaseIds = new Set<string>();
  #changedCount = 0;
  /** Consecutive runs that found coins only in progress elsewhere. */
  #elsewhereRuns = 0;

  constructor(service: Service, limits: Required<WatchOptions>) {
    this.#service = service;
    this.#limits = limits;
  }

  async busy(): Promise<boolean> {
    return this.#reading.size > 0 || (await hasFailedCoins(this.#service.db));
  }

  async run(): Promise<number> {
    // In case the database was unreachable when a lease was to be released.
    if (this.#releasableLeaseIds.size > 0) await this.#releaseLeases();
    await this.#startReads();
    await this.#waitForReads();
    const done = this.#changedCount + this.#reading.size;
    this.#changedCount = 0;
    const elsewhere = await countLeasedElsewhere(this.#service.db, [...this.#leaseIds]);
    this.#elsewhereRuns = done === 0 && elsewhere > 0 ? this.#elsewhereRuns + 1 : 0;
    // The caller comes back at once.
    if (this.#elsewhereRuns > 0) await pause(backoffMs(BACKOFF.coinReader, this.#elsewhereRuns));
    return done + elsewhere;
  }

  /** Leases the coins that no process reads and starts reading each. */
  async #startReads(): Promise<void> {
    const idle = [...this.#service.chains.keys()].filter((code) => !this.#reading.has(code));
    if (idle.length === 0) return;
    const leases = new Map(idle.map((code) => [code, newLeaseId()]));
    const unused = new Set<string>(leases.values());
    for (const id of unused) this.#leaseIds.add(id);
    try {
      const claimed = await claimCoins(this.#service.db, { leases, leaseMs: this.#limits.leaseMs });
      for (const coin of claimed) {
        unused.delete(coin.leaseId);
        this.#reading.set(coin.code, this.#readCoin(coin));
      }
    } catch (error) {
      // The failed statement may have stored them anyway.
      for (const id of unused) this.#releasableLeaseIds.add(id);
      throw error;
    }
    for (const id of unused) this.#leaseIds.delete(id);
  }

  async #waitForReads(): Promise<void> {
    if (this.#reading.size === 0) return;
    await settlesWithin(Promise.all(this.#reading.values()), this.#limits.runWaitMaxMs);
  }

  /** Reads one coin and releases it; never fails. */
  async #readCoin(coin: LeasedCoin): Promise<void> {
    const { db, log } = this.#service;
    const { leaseMs } = this.#limits;
    const heartbeat = setInterval(() => {
      extendCoinLease(db, coin.leaseId, leaseMs).catch(() => undefined);
    }, leaseMs / 3).unref();
    try {
      // Not `+= await`: that would add to the count from before the wait and lose another coin's changes.
      const changed = await this.#readChanges(coin);
      this.#changedCount += changed;
    } catch (error) {
      log.error({ err: error, coin: coin.code }, 'chain failure could not be recorded');
    }
    clearInterval(heartbeat);
    this.#releasableLeaseIds.add(coin.leaseId);
    await this.#releaseLeases().catch(() => undefined);
    this.#reading.delete(coin.code);
  }

  /** Returns how many invoices changed. Logs a failure of the node or of an invoice, and delays this coin. */
  async #readChanges(coin: LeasedCoin): Promise<number> {
    const { driverTimeoutMs, retry } = this.#limits;
    try {
      return await readChain(this.#service, coin, driverTimeoutMs);
    } catch (error) {
      // Another process reads it now.
      if (error instanceof LeaseLost) return 1;
      this.#service.log.warn({ err: error, coin: coin.code }, 'chain could not be read');
      const retryInMs = backoffMs(retry, coin.failures + 1);
      const delay = { retryInMs, fault: summarizeError(error) };
      await delayCoin(this.#service.db, coin.code, coin.leaseId, delay);
      return 0;
    }
  }

  async #releaseLeases(): Promise<void> {
    const ids = [...this.#releasableLeaseIds];
    await releaseCoins(this.#service.db, ids);
    for (const id of ids) {
      this.#releasableLeaseIds.delete(id);
      this.#leaseIds.delete(id);
    }
  }
}

/**
 * Reads the chains. One process at a time reads a coin, under a lease of its own that a heartbeat extends; what it
 * found is applied first, then the cursor is saved, so what a killed process had read is read again by the next one.
 * No coin waits for another: a poll that fails delays its own coin only, and one that takes long goes on beside the
 * next runs.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { LeaseLost } from '../domain/topups/change.ts';
import { faultLine } from '../kernel/logger.ts';
import type { CoinCode } from '../spec/coins.ts';
import {
  type ClaimedCoin,
  claimCoins,
  countLeasedElsewhere,
  delayCoin,
  extendCoin,
  hasFailedCoins,
  releaseCoins,
} from '../store/coins.ts';
import type { Duty } from './duty.ts';
import { readChain } from './read-chain.ts';

export interface WatchOptions {
  /** How long a process that died keeps a coin from the others; a living one extends it in time. */
  readonly leaseMs?: number;
  /** How long a driver may take to answer. */
  readonly driverTimeoutMs?: number;
  /** How long a run waits for the coins that are being read. */
  readonly patienceMs?: number;
  /** The wait after a first failure; it doubles up to `retryMostMs`. */
  readonly retryFirstMs?: number;
  readonly retryMostMs?: number;
}

const DEFAULTS: Required<WatchOptions> = {
  leaseMs: 10_000,
  driverTimeoutMs: 20_000,
  patienceMs: 500,
  retryFirstMs: 500,
  retryMostMs: 30_000,
};

/** A run that found coins under way elsewhere, and nothing else, waits before it returns: its caller comes back at once. */
const ELSEWHERE_FIRST_MS = 25;
const ELSEWHERE_MOST_MS = 500;

/**
 * Reads every coin that has an invoice, in each run: one that returns 0 with no coin still being read or waiting to be
 * tried again (`busy`) has seen all there was to see.
 */
export function watchDuty(service: Service, options: WatchOptions = {}): Duty {
  const watch = new ChainWatch(service, { ...DEFAULTS, ...options });
  return {
    name: 'watch',
    run: () => watch.run(),
    nextDue: async () => null,
    busy: () => watch.busy(),
  };
}

class ChainWatch {
  readonly #service: Service;
  readonly #limits: Required<WatchOptions>;
  readonly #reading = new Map<CoinCode, Promise<void>>();
  /** Leases that the database may know as ours, and those of them that are to be given back. */
  readonly #ours = new Set<string>();
  readonly #over = new Set<string>();
  #changed = 0;
  #elsewhereMs = ELSEWHERE_FIRST_MS;

  constructor(service: Service, limits: Required<WatchOptions>) {
    this.#service = service;
    this.#limits = limits;
  }

  async busy(): Promise<boolean> {
    return this.#reading.size > 0 || (await hasFailedCoins(this.#service.db));
  }

  async run(): Promise<number> {
    // Should the database have been away when a lease was to be given back.
    if (this.#over.size > 0) await this.#giveBack();
    await this.#begin();
    await this.#waitForReads();
    const done = this.#changed + this.#reading.size;
    this.#changed = 0;
    const elsewhere = await countLeasedElsewhere(this.#service.db, [...this.#ours]);
    if (done === 0 && elsewhere > 0) await this.#letOthersRead();
    else this.#elsewhereMs = ELSEWHERE_FIRST_MS;
    return done + elsewhere;
  }

  /** Leases the coins that nobody reads and begins to read each. */
  async #begin(): Promise<void> {
    const idle = [...this.#service.chains.keys()].filter((code) => !this.#reading.has(code));
    if (idle.length === 0) return;
    const leases = new Map(idle.map((code) => [code, randomUUID()]));
    const unused = new Set<string>(leases.values());
    for (const id of unused) this.#ours.add(id);
    try {
      const claimed = await claimCoins(this.#service.db, { leases, leaseMs: this.#limits.leaseMs });
      for (const coin of claimed) {
        unused.delete(coin.leaseId);
        this.#reading.set(coin.code, this.#read(coin));
      }
    } catch (error) {
      // They may be in the database all the same.
      for (const id of unused) this.#over.add(id);
      throw error;
    }
    for (const id of unused) this.#ours.delete(id);
  }

  async #waitForReads(): Promise<void> {
    if (this.#reading.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#limits.patienceMs);
    });
    await Promise.race([Promise.all(this.#reading.values()), late]);
    clearTimeout(timer);
  }

  async #letOthersRead(): Promise<void> {
    await pause(this.#elsewhereMs);
    this.#elsewhereMs = Math.min(this.#elsewhereMs * 2, ELSEWHERE_MOST_MS);
  }

  /** Reads one coin and gives it back; never fails. */
  async #read(coin: ClaimedCoin): Promise<void> {
    const { db, log } = this.#service;
    const { leaseMs } = this.#limits;
    const heartbeat = setInterval(() => {
      extendCoin(db, coin.leaseId, leaseMs).catch(() => undefined);
    }, leaseMs / 3).unref();
    try {
      // Not `+= await`: that would add to what was there before the wait, and another coin's changes would be lost.
      const changed = await this.#changes(coin);
      this.#changed += changed;
    } catch (error) {
      log.error({ err: error, coin: coin.code }, 'the failure of a chain could not be noted');
    }
    clearInterval(heartbeat);
    this.#over.add(coin.leaseId);
    await this.#giveBack().catch(() => undefined);
    this.#reading.delete(coin.code);
  }

  /** How many invoices changed; a failure of the coin's node, or of an invoice of its, is logged and delays this coin. */
  async #changes(coin: ClaimedCoin): Promise<number> {
    const { driverTimeoutMs, retryFirstMs, retryMostMs } = this.#limits;
    try {
      return await readChain(this.#service, coin, driverTimeoutMs);
    } catch (error) {
      // Another process reads it by now.
      if (error instanceof LeaseLost) return 1;
      this.#service.log.warn({ err: error, coin: coin.code }, 'a chain could not be read');
      const delay = { firstMs: retryFirstMs, mostMs: retryMostMs, fault: faultLine(error) };
      await delayCoin(this.#service.db, coin.code, coin.leaseId, delay);
      return 0;
    }
  }

  async #giveBack(): Promise<void> {
    const ids = [...this.#over];
    await releaseCoins(this.#service.db, ids);
    for (const id of ids) {
      this.#over.delete(id);
      this.#ours.delete(id);
    }
  }
}

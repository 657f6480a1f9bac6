/**
 * Transfers of copies that take longer than a call: they run in this process, and each call reports how far
 * one is. A process that ends loses only that; the next call starts again with what is left.
 */
import { logFault } from '../kernel/faults/fault-log.ts';
import type { Logger } from '../kernel/logger.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import { ComputeError } from '../ports/compute.ts';
import type { CopyProgress } from '../ports/copies.ts';

/** How long a call waits for the end. */
const WAIT_MS = SECOND_MS;
/** Of one host at once. */
const TRANSFERS_MAX = 4;

type Failure = Pick<ComputeError, 'fault' | 'message'>;

interface Transfer {
  readonly abort: AbortController;
  /** Null, or why it failed. */
  readonly done: Promise<Failure | null>;
  bytes: number;
  hasEnded: boolean;
}

export type TransferWork = (signal: AbortSignal, onBytes: (bytes: number) => void) => Promise<void>;

export class CopyTransfers {
  readonly #log: Logger | null;
  /** By the ids of their snapshots. */
  readonly #running = new Map<string, Transfer>();

  constructor(log: Logger | null) {
    this.#log = log;
  }

  /** Starts the work unless it runs, and reports its progress. Its end is reported once. */
  async run(id: string, work: TransferWork): Promise<CopyProgress> {
    const transfer = this.#running.get(id) ?? this.#start(id, work);
    if (transfer === null || !(await settlesWithin(transfer.done, WAIT_MS)))
      return { state: 'working', bytes: transfer?.bytes ?? 0, fault: null, message: null };
    if (this.#running.get(id) === transfer) this.#running.delete(id);
    const { bytes } = transfer;
    const failure = await transfer.done;
    if (failure === null) return { state: 'done', bytes, fault: null, message: null };
    return { state: 'failed', bytes, ...failure };
  }

  /** Stops the work, and waits until it has ended. */
  async end(id: string): Promise<void> {
    const transfer = this.#running.get(id);
    transfer?.abort.abort();
    await transfer?.done;
    if (this.#running.get(id) === transfer) this.#running.delete(id);
  }

  #start(id: string, work: TransferWork): Transfer | null {
    // No one asked for the results of these.
    for (const [other, { hasEnded }] of this.#running) if (hasEnded) this.#running.delete(other);
    if (this.#running.size >= TRANSFERS_MAX) return null;
    const abort = new AbortController();
    const progress = { bytes: 0, hasEnded: false };
    const onBytes = (bytes: number) => {
      progress.bytes += bytes;
    };
    const done = Promise.resolve()
      .then(() => work(abort.signal, onBytes))
      .then(
        () => null,
        (error: unknown) => this.#describe(error),
      )
      .finally(() => {
        progress.hasEnded = true;
      });
    const transfer: Transfer = Object.assign(progress, { abort, done });
    this.#running.set(id, transfer);
    return transfer;
  }

  #describe(error: unknown): Failure {
    if (error instanceof ComputeError) return { fault: error.fault, message: error.message };
    if (this.#log) logFault(this.#log, 'warn', 'a copy of a snapshot failed', { err: error });
    return { fault: 'host', message: 'the host failed' };
  }
}

/**
 * Copies snapshots to the store of files, in the background. It is a queue of its own, so that a store that
 * is slow or away delays nothing else. Each row is leased by one process while its host sends.
 */
import type { Service } from '../../domain/context.ts';
import { describeFault } from '../../domain/servers/operations/step.ts';
import { continueCopy } from '../../domain/snapshots/copies/copy.ts';
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import { LeaseLost } from '../../kernel/fail.ts';
import { runWithLease } from '../../kernel/faults/lease-context.ts';
import { formatId } from '../../kernel/ids.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { BlobTagError } from '../../ports/blobs.ts';
import { HEARTBEAT_MS, LEASE_S, newLeaseId } from '../../store/leases.ts';
import {
  claimCopy,
  failCopy,
  holdCopy,
  type LeasedCopy,
  releaseCopy,
} from '../../store/servers/snapshot-copies.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

const CLAIM_EVERY_MS = SECOND_MS / 2;
/** Without a store, only rows from before are deleted. */
const CLAIM_RARELY_MS = MINUTE_MS;
/** At once from one process, which only waits for its hosts. */
const PER_PROCESS = 16;

export function copySnapshotsJob(service: Service): Job {
  const copies = new Copies(service);
  const hasStore = service.blobs.copies !== undefined;
  const claim = atMostEvery(hasStore ? CLAIM_EVERY_MS : CLAIM_RARELY_MS, () => copies.startDue());
  const job = housekeepingJob('copy snapshots', async () => {
    await claim();
    return 0;
  });
  return { ...job, stop: () => copies.stop() };
}

class Copies {
  readonly #service: Service;
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();

  constructor(service: Service) {
    this.#service = service;
  }

  async startDue(): Promise<void> {
    while (this.#running.size < PER_PROCESS && !this.#abort.signal.aborted) {
      const claim = { leaseId: newLeaseId(), leaseS: LEASE_S };
      const copy = await this.#service.db.transaction((tx) => claimCopy(tx, claim));
      if (copy === undefined) return;
      const run = this.#run(copy).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#running);
  }

  async #run(copy: LeasedCopy): Promise<void> {
    const { db, log } = this.#service;
    const lost = new AbortController();
    const isHeld = () => holdCopy(db, copy, LEASE_S);
    const heartbeat = setInterval(() => {
      isHeld().then(
        (held) => held || lost.abort(),
        (err: unknown) => log.warn({ err }, 'lease could not be extended'),
      );
    }, HEARTBEAT_MS);
    const signal = AbortSignal.any([this.#abort.signal, lost.signal]);
    try {
      const againS = await runWithLease(isHeld, () => continueCopy(this.#service, copy, signal));
      await releaseCopy(db, copy, againS);
    } catch (error) {
      await this.#recordFailure(copy, error);
    } finally {
      clearInterval(heartbeat);
    }
  }

  async #recordFailure(copy: LeasedCopy, error: unknown): Promise<void> {
    const { db, log } = this.#service;
    const attempts = copy.attempts + 1;
    const fields = { err: error, snapshot: formatId('snapshot', copy.snapshot_id), attempts };
    try {
      if (this.#abort.signal.aborted || error instanceof LeaseLost) return await releaseCopy(db, copy, 0);
      log.warn(fields, 'snapshot could not be copied to the file store');
      const inMs = error instanceof BlobTagError ? DAY_MS : backoffMs(BACKOFF.snapshotCopy, attempts);
      const inS = inMs / SECOND_MS;
      await failCopy(db, copy, { message: describeFault(error), inS });
    } catch (err) {
      log.warn({ err }, 'saving the result failed; the lease will expire');
    }
  }
}

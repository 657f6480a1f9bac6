/**
 * Sends images to hosts on other machines, in the background: a transfer may take longer than a call of a
 * driver. Each is leased by one process. Another one continues it where the host stopped.
 */

import type { Service } from '../../domain/context.ts';
import { findFileToSend, planDistribution, sendToBackend } from '../../domain/images/distribute.ts';
import { describeFault } from '../../domain/servers/operations/step.ts';
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import { LeaseLost } from '../../kernel/fail.ts';
import { runWithLease } from '../../kernel/faults/lease-context.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import {
  claimBackendFile,
  failBackendFile,
  finishBackendFile,
  type LeasedFile,
  recordFileProgress,
  releaseBackendFile,
} from '../../store/inventory/backend-files.ts';
import { HEARTBEAT_MS, LEASE_S, newLeaseId } from '../../store/leases.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

const PLAN_EVERY_MS = 5 * SECOND_MS;
const CLAIM_EVERY_MS = SECOND_MS;
/** Transfers at once, to one host and from one process. */
const PER_BACKEND = 2;
const PER_PROCESS = 4;

export function sendImagesJob(service: Service): Job {
  const transfers = new Transfers(service);
  // Simulated machines need no images.
  const isNeeded = service.compute.images !== null;
  const plan = atMostEvery(PLAN_EVERY_MS, () => planDistribution(service));
  const claim = atMostEvery(CLAIM_EVERY_MS, () => transfers.startDue());
  const run = async () => {
    if (!isNeeded) return 0;
    await plan();
    await claim();
    return 0;
  };
  return { ...housekeepingJob('send images', run), stop: () => transfers.stop() };
}

class Transfers {
  readonly #service: Service;
  readonly #running = new Map<Promise<void>, AbortController>();
  #isStopping = false;

  constructor(service: Service) {
    this.#service = service;
  }

  async startDue(): Promise<void> {
    while (this.#running.size < PER_PROCESS && !this.#isStopping) {
      const claim = { leaseId: newLeaseId(), leaseS: LEASE_S, perBackend: PER_BACKEND };
      const file = await claimBackendFile(this.#service.db, claim);
      if (file === undefined) return;
      const abort = new AbortController();
      const transfer = this.#transfer(file, abort).finally(() => this.#running.delete(transfer));
      this.#running.set(transfer, abort);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const abort of this.#running.values()) abort.abort();
    await Promise.all(this.#running.keys());
  }

  async #transfer(file: LeasedFile, abort: AbortController): Promise<void> {
    const { db, log } = this.#service;
    const progress = { sentBytes: 0, sizeBytes: 0 };
    const isHeld = () => recordFileProgress(db, file, { ...progress, leaseS: LEASE_S });
    const heartbeat = setInterval(() => {
      isHeld().then(
        (held) => held || abort.abort(),
        (err: unknown) => log.warn({ err, backend: file.backend }, 'lease could not be extended'),
      );
    }, HEARTBEAT_MS);
    try {
      const source = await findFileToSend(this.#service, file);
      progress.sizeBytes = source.file.sizeBytes;
      const onProgress = (bytes: number) => {
        progress.sentBytes = bytes;
      };
      const toSend = { ...source, signal: abort.signal, onProgress };
      await runWithLease(isHeld, () => sendToBackend(this.#service, file, toSend));
      progress.sentBytes = progress.sizeBytes;
      await isHeld();
      await finishBackendFile(db, file);
      log.info({ backend: file.backend, image: file.imageSha256 }, 'the host has the image');
    } catch (error) {
      await this.#recordFailure(file, error);
    } finally {
      clearInterval(heartbeat);
    }
  }

  async #recordFailure(file: LeasedFile, error: unknown): Promise<void> {
    const { db, log } = this.#service;
    const fields = {
      err: error,
      backend: file.backend,
      image: file.imageSha256,
      attempts: file.attempts + 1,
    };
    try {
      if (this.#isStopping || error instanceof LeaseLost) return await releaseBackendFile(db, file);
      log.warn(fields, 'image could not be sent to the host');
      const fault = error instanceof ComputeError ? error.fault : 'transient';
      const inS = backoffMs(BACKOFF.backendFile, file.attempts + 1) / SECOND_MS;
      await failBackendFile(db, file, { fault, message: describeFault(error), inS });
    } catch (err) {
      log.warn({ err, backend: file.backend }, 'saving the result failed; the lease will expire');
    }
  }
}

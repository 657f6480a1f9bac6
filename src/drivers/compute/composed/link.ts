/**
 * A backend as the composed driver sees it. A backend that failed or took too long is *away*: questions to
 * many backends skip it, and a probe in the background finds out when it is back. No call waits for a probe.
 */
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { logFault } from '../../../kernel/faults/fault-log.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { Backend } from '../../../ports/backends.ts';
import type { ComputeDriver, SupervisionResult } from '../../../ports/compute.ts';
import type {
  FileOffer,
  FileSource,
  FileToFollow,
  FileToSend,
  FileTransfer,
  HostFile,
} from '../../../ports/host-files.ts';

/** A driver of another machine, with a connection to close. */
export type RemoteCompute = ComputeDriver & { close(): void };

/** A driver of one backend. */
export type BackendDriver = RemoteCompute & {
  /** Sends the missing part of the file. Throws `transient` if another caller is sending it. */
  putFile?(file: FileToSend): Promise<void>;
  /** Offers a file to the host that has the key. Throws unless it has the file. */
  offerFile?(file: HostFile, transfer: FileTransfer): Promise<FileOffer>;
  /** Fetches the missing part of a file from another host. */
  fetchFile?(file: FileToFollow, source: FileSource): Promise<void>;
  /** Connects, and returns the version of the protocol. Absent: it needs none. */
  protocol?(): Promise<number>;
};

const PROBE_TIMEOUT_MS = 2_000;

export class BackendLink {
  readonly backend: Backend;
  readonly driver: BackendDriver;
  /** Its last full reports, repeated while it is away so that nothing is concluded from its silence. */
  readonly last: { listed: readonly string[]; failing: readonly SupervisionResult[] } = {
    listed: [],
    failing: [],
  };
  readonly #log: Logger;
  /** Consecutive failures; 0: it answers. */
  #failures = 0;
  #isProbing = false;
  #nextProbeAt = 0;

  constructor(backend: Backend, driver: BackendDriver, log: Logger) {
    this.backend = backend;
    this.driver = driver;
    this.#log = log;
  }

  get name(): string {
    return this.backend.name;
  }

  get isAway(): boolean {
    return this.#failures > 0;
  }

  /** Returns null if it is away or becomes so: callers ask many backends and take what they get. */
  async ask<T>(call: (driver: BackendDriver) => Promise<T>, patienceMs: number): Promise<T | null> {
    if (this.isAway) {
      this.#probeWhenDue();
      return null;
    }
    try {
      return await withTimeout(call(this.driver), patienceMs);
    } catch (error) {
      this.#recordFailure(error);
      return null;
    }
  }

  #probeWhenDue(): void {
    if (this.#isProbing || performance.now() < this.#nextProbeAt) return;
    this.#isProbing = true;
    withTimeout(this.driver.observe([]), PROBE_TIMEOUT_MS)
      .then(
        () => {
          this.#failures = 0;
          this.#log.info({ backend: this.name }, 'backend answers again');
        },
        (error: unknown) => this.#recordFailure(error),
      )
      .finally(() => {
        this.#isProbing = false;
      });
  }

  #recordFailure(error: unknown): void {
    this.#failures += 1;
    // The first probe is immediate: one slow answer is no outage.
    const waitMs = this.#failures === 1 ? 0 : backoffMs(BACKOFF.backend, this.#failures - 1);
    this.#nextProbeAt = performance.now() + waitMs;
    const message = 'backend does not answer; the state of its machines is unknown';
    logFault(this.#log, 'warn', message, { err: error, place: this.name, backend: this.name });
  }
}

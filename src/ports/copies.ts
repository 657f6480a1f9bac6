/**
 * Copies of snapshots in a store of files elsewhere. The host sends and fetches the bytes itself, with URLs
 * that the caller signed for a limited time, so it holds no key of the store. A copy is one file, and needs
 * no image.
 *
 *   prepareCopy, until it is ready → sendCopy for the parts that the store lacks → forgetCopy
 *   on any host, when no host has the snapshot: fetchCopy, until it is done
 *
 * Every call is an *ensure*, like those of the compute port, and can be repeated after a restart of either
 * side. None of them changes a snapshot that exists.
 */

import type { ComputeFault } from './compute-fault.ts';

/** The file that is sent: always the same bytes until `forgetCopy`. */
export interface PreparedCopy {
  readonly sizeBytes: number;
  /** Lower-case hexadecimal, like the others. */
  readonly sha256: string;
  /** Of each part but the last one. */
  readonly partBytes: number;
  readonly partMd5s: readonly string[];
}

export interface CopyPart {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly md5: string;
  /** Accepts a PUT of these bytes, and no others. A secret. */
  readonly url: string;
}

export interface StoredCopy {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Answers a GET with ranges. A secret. */
  readonly url: string;
}

/** The snapshot that a fetched copy becomes, as it was taken. */
export interface FetchedSnapshot {
  /** Name of the host that fetches it. */
  readonly host: string;
  readonly machineId: string;
  readonly generation: number;
  readonly diskGb: number;
  readonly sizeGb: number;
}

/** `failed`: this attempt has ended, and the next call begins another one. `message` has no addresses. */
export interface CopyProgress {
  readonly state: 'working' | 'done' | 'failed';
  /** Of this attempt. */
  readonly bytes: number;
  /** Why it failed. `transient`: the store does not answer, or not as it should. */
  readonly fault: ComputeFault | null;
  readonly message: string | null;
}

export interface SnapshotCopies {
  /** Starts to write the file, and returns null until it is complete. Refuses an unfinished snapshot. */
  prepareCopy(snapshotId: string): Promise<PreparedCopy | null>;
  /** Starts to send the parts, one after another, or reports the progress of an earlier call. */
  sendCopy(snapshotId: string, parts: readonly CopyPart[]): Promise<CopyProgress>;
  /** Deletes the file. Succeeds if there is none. The snapshot stays. */
  forgetCopy(snapshotId: string): Promise<void>;
  /** Starts to fetch the copy, or reports the progress. `done`: the host has the snapshot. */
  fetchCopy(snapshotId: string, snapshot: FetchedSnapshot, copy: StoredCopy): Promise<CopyProgress>;
}

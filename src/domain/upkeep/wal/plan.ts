/** The settings of point-in-time recovery, and its limits. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import type { DumpSource } from '../../../store/dump/dump.ts';
import type { WalSpool } from '../../../store/embedded/archiving.ts';

/** Absent unless the embedded database archives its write-ahead log. */
export interface WalPlan {
  readonly source: DumpSource;
  readonly dataDir: string;
  readonly recipients: readonly string[];
  /** Where a base is restored to verify it; null: it is not. */
  readonly scratchFolder: string | null;
  /** How many days back a restore reaches. */
  readonly days: number;
  /** Null if this process cannot see the spool. */
  readonly openSpool: () => Promise<WalSpool | null>;
  /** Opens what was archived of one cluster. `signal` ends calls of a store. */
  readonly open: (cluster: string, signal?: AbortSignal) => WalArchive;
  /** Opens what was archived of this database: a restored backup is another cluster. */
  readonly listArchives: () => Promise<WalArchive[]>;
}

/** A restore replays the log of at most this time, and of the writing of the next base. */
export const BASE_EVERY_MS = DAY_MS;
/** After a base that failed, the next one waits this long. */
export const BASE_RETRY_MS = 30 * MINUTE_MS;
/** An older base means that none could be written. */
export const BASE_MAX_MS = 2 * DAY_MS;
/** A chain that is broken for longer means that no base succeeds. */
export const BROKEN_MAX_MS = 2 * HOUR_MS;
/** An older segment that waits means that archiving does not work. */
export const WAITS_MAX_MS = 10 * MINUTE_MS;
/** 1 GiB of segments that could not be stored. Then they are dropped, for the database to keep its disk. */
export const SPOOL_MAX = 64;
/** A base that was not restored, because the service stopped or it failed, is followed by another one. */
export const UNPROVED_EVERY_MS = 6 * HOUR_MS;
/** A store that is away for a while should not look like a damaged base. */
export const PROOF_ATTEMPTS = 3;
export const PROOF_RETRY_MS = 10 * MINUTE_MS;
/** How often old bases and segments are deleted. */
export const TIDY_EVERY_MS = 6 * HOUR_MS;

/**
 * Reads of a streaming replica, with a bound on how old they are. A sample asks the primary how far its log
 * goes, and the replica how far it has replayed it. So the age is measured by the clock of this process
 * alone, and also while nothing is written.
 */

import type { Database } from '../../kernel/sql.ts';
import { settlesWithin } from '../../kernel/timeout.ts';
import { type ConnectionSettings, isUnavailable, openDatabase, sqlState } from '../db.ts';
import { countCompletedChanges, type Writer } from './recent-changes.ts';

const SAMPLE_INTERVAL_MS = 250;
const SAMPLE_TIMEOUT_MS = 1_000;
const SAMPLES_MAX = 1_000;
/** The replica canceled a statement that stood in the way of its replay. */
const CONFLICT = '40001';

export interface ReplicaState {
  /** `behind`: further than allowed. `away`: it does not answer, or is no replica of this database. */
  readonly state: 'current' | 'behind' | 'away';
  /** How far it is behind, at most; null: unknown. */
  readonly lagMs: number | null;
}

export interface ReplicaReads {
  state(): ReplicaState;
  /**
   * Returns the database for reads of this person: the replica if it is recent enough and has all that the
   * person changed, otherwise null.
   */
  for(writer: Writer, now: Date): Promise<Database | null>;
}

interface ReplicaOptions {
  readonly poolSize: number;
  readonly maxLagMs: number;
  readonly onError: (error: Error) => void;
}

interface Sample {
  readonly atMs: number;
  readonly position: bigint;
}

export class Replica implements ReplicaReads {
  readonly #primary: Database;
  readonly #maxLagMs: number;
  readonly #reads: ReturnType<typeof openDatabase>;
  readonly #sampler: ReturnType<typeof openDatabase>;
  readonly #fallback: Database;
  #samples: Sample[] = [];
  /** It has everything that was committed before. */
  #freshAsOfMs: number | null = null;
  #isAway = true;
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(primary: Database, connection: ConnectionSettings, options: ReplicaOptions) {
    this.#primary = primary;
    this.#maxLagMs = options.maxLagMs;
    const { poolSize, onError } = options;
    this.#reads = openDatabase(connection, { poolSize, onError });
    this.#sampler = openDatabase(connection, { poolSize: 1, onError, statementTimeoutMs: 2_000 });
    this.#fallback = withFallback(this.#reads, primary, () => {
      this.#isAway = true;
    });
  }

  /** Takes a first sample, and goes on until `close`. */
  async start(): Promise<void> {
    await this.#sampleInTime();
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sampling;
    await Promise.all([this.#reads.close(), this.#sampler.close()]);
  }

  /** Its position belongs to another log after the primary has changed. */
  forget(): void {
    this.#samples = [];
    this.#freshAsOfMs = null;
  }

  state(): ReplicaState {
    const lagMs = this.#freshAsOfMs === null ? null : performance.now() - this.#freshAsOfMs;
    if (this.#isAway) return { state: 'away', lagMs };
    const isCurrent = lagMs !== null && lagMs <= this.#maxLagMs;
    return { state: isCurrent ? 'current' : 'behind', lagMs };
  }

  async for(writer: Writer, now: Date): Promise<Database | null> {
    if (this.state().state !== 'current') return null;
    const changes = await countCompletedChanges(this.#primary, writer, { now, maxLagMs: this.#maxLagMs });
    if (changes === 0n) return this.#fallback;
    const seen = await countCompletedChanges(this.#fallback, writer, { now, maxLagMs: this.#maxLagMs });
    return seen >= changes ? this.#fallback : null;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(
      () => void this.#sampleInTime().then(() => this.#schedule()),
      SAMPLE_INTERVAL_MS,
    );
    this.#timer.unref();
  }

  /** A slow sample counts as failed, and the next one waits for its end. */
  async #sampleInTime(): Promise<void> {
    const sampling = this.#sample().catch(() => {
      this.#isAway = true;
    });
    this.#sampling = sampling;
    if (await settlesWithin(sampling, SAMPLE_TIMEOUT_MS)) return;
    this.#isAway = true;
    await sampling;
  }

  async #sample(): Promise<void> {
    const atMs = performance.now();
    const written = await this.#primary.row<{ position: bigint }>(PRIMARY_POSITION);
    const replayed = await this.#sampler.row<{ position: bigint | null; standby: boolean }>(REPLICA_POSITION);
    if (!written || !replayed?.standby || replayed.position === null) throw new Error('not a replica');
    // A log that became shorter is another one.
    if (written.position < (this.#samples.at(-1)?.position ?? 0n)) this.forget();
    this.#samples.push({ atMs, position: written.position });
    const { position } = replayed;
    const reached = this.#samples.findLastIndex((sample) => sample.position <= position);
    if (reached >= 0) {
      this.#freshAsOfMs = this.#samples[reached]?.atMs ?? null;
      this.#samples.splice(0, reached);
    }
    if (this.#samples.length > SAMPLES_MAX) this.#samples.splice(1, 1);
    this.#isAway = performance.now() - atMs > SAMPLE_TIMEOUT_MS;
  }
}

const PRIMARY_POSITION = `select (pg_current_wal_lsn() - '0/0')::bigint as position`;
const REPLICA_POSITION = `
  select (pg_last_wal_replay_lsn() - '0/0')::bigint as position, pg_is_in_recovery() as standby`;

/** Repeats on the primary a statement that the replica could not answer, for example because it writes. */
function withFallback(replica: Database, primary: Database, onAway: () => void): Database {
  const run = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    try {
      return await work(replica);
    } catch (error) {
      const isConflict = sqlState(error) === CONFLICT;
      if (!isConflict && !isUnavailable(error)) throw error;
      if (!isConflict && sqlState(error) !== '25006') onAway();
      return await work(primary);
    }
  };
  return {
    rows: (text, values) => run((db) => db.rows(text, values)),
    row: (text, values) => run((db) => db.row(text, values)),
    run: (text, values) => run((db) => db.run(text, values)),
    transaction: (work) => run((db) => db.transaction(work)),
  };
}

/**
 * Reads of a streaming replica, with a bound on how old they are. A sample asks the primary how far its log
 * goes, and the replica how far it has replayed it. So the age is measured by the clock of this process
 * alone, and also while nothing is written.
 */

import type pg from 'pg';
import { DeadlineExceeded, runApart } from '../../kernel/faults/deadline.ts';
import type { Database } from '../../kernel/sql.ts';
import { settlesWithin } from '../../kernel/timeout.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../db.ts';
import { isUnavailable, sqlState } from './errors.ts';
import { countCompletedChanges, type Writer } from './recent-changes.ts';
import { destroyConnection } from './socket.ts';

const SAMPLE_INTERVAL_MS = 250;
const SAMPLE_TIMEOUT_MS = 1_000;
const SAMPLES_MAX = 1_000;
/** For a statement of a request, which then has its own time left for the primary. */
const READ_TIMEOUT_MS = 1_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** Longer than a read waits, whose failure then says that the pool is busy. */
const CONNECT_TIMEOUT_MS = 2_000;
/** The replica canceled a statement that stood in the way of its replay. */
const CONFLICT = '40001';

export interface ReplicaState {
  /** `behind`: further than allowed. `away`: it does not answer, or is no replica of this database. */
  readonly state: 'current' | 'behind' | 'away';
  /** How far it is behind, at most; null: unknown. */
  readonly lagMs: number | null;
  /** Why it is away; null: it does not answer. */
  readonly reason: string | null;
}

/** It answers, and must not be used. */
class NoReplica extends Error {
  override readonly name = 'NoReplica';
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
  readonly #reads: OpenDatabase;
  readonly #sampler: OpenDatabase;
  readonly #clients = new Set<pg.ClientBase>();
  #samples: Sample[] = [];
  /** It has everything that was committed before. */
  #freshAsOfMs: number | null = null;
  #isAway = true;
  #reason: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(primary: Database, connection: ConnectionSettings, options: ReplicaOptions) {
    this.#primary = primary;
    this.#maxLagMs = options.maxLagMs;
    const { poolSize, onError } = options;
    const connect = { onError, connectTimeoutMs: CONNECT_TIMEOUT_MS };
    this.#reads = openDatabase(connection, { ...connect, poolSize });
    this.#sampler = openDatabase(connection, { ...connect, poolSize: 1, statementTimeoutMs: 2_000 });
    for (const { pool } of [this.#reads, this.#sampler]) {
      pool.on('connect', (client) => this.#clients.add(client));
      pool.on('remove', (client) => this.#clients.delete(client));
    }
  }

  /** Takes a first sample, and goes on until `close`. Does not wait for a replica that does not answer. */
  async start(): Promise<void> {
    const first = this.#sampleInTime();
    void first.then(() => this.#schedule());
    await settlesWithin(first, SAMPLE_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const closing = this.#sampling.then(() => Promise.all([this.#reads.close(), this.#sampler.close()]));
    if (await settlesWithin(closing, CLOSE_TIMEOUT_MS)) {
      await closing;
      return;
    }
    for (const client of this.#clients) destroyConnection(client);
    closing.catch(() => undefined);
  }

  /** Its position belongs to another log after the primary has changed. */
  forget(): void {
    this.#samples = [];
    this.#freshAsOfMs = null;
  }

  state(): ReplicaState {
    const lagMs = this.#freshAsOfMs === null ? null : performance.now() - this.#freshAsOfMs;
    if (this.#isAway) return { state: 'away', lagMs, reason: this.#reason };
    const isCurrent = lagMs !== null && lagMs <= this.#maxLagMs;
    return { state: isCurrent ? 'current' : 'behind', lagMs, reason: null };
  }

  async for(writer: Writer, now: Date): Promise<Database | null> {
    if (this.state().state !== 'current') return null;
    const window = { now, maxLagMs: this.#maxLagMs };
    const changes = await countCompletedChanges(this.#primary, writer, window);
    if (changes === null) return null;
    const db = withFallback(this.#reads, this.#primary, (error) => this.#leave(error));
    if (changes === 0n) return db;
    // Never counted on the primary instead, which has them all.
    const counting = runApart(READ_TIMEOUT_MS, () => countCompletedChanges(this.#reads, writer, window));
    const seen = await counting.catch((error: unknown) => {
      if (!isReplicaError(error)) throw error;
      if (isGone(error)) this.#leave(error);
      return null;
    });
    return seen !== null && seen >= changes ? db : null;
  }

  #leave(error: unknown): void {
    this.#isAway = true;
    const isAnswer = (error as { severity?: unknown } | null)?.severity !== undefined;
    this.#reason =
      error instanceof NoReplica ? error.message : isAnswer ? `SQLSTATE ${sqlState(error)}` : null;
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
    const sampling = this.#sample().catch((error: unknown) => this.#leave(error));
    this.#sampling = sampling;
    if (await settlesWithin(sampling, SAMPLE_TIMEOUT_MS)) return;
    this.#leave(null);
    await sampling;
  }

  async #sample(): Promise<void> {
    const atMs = performance.now();
    const written = await this.#primary.row<PrimaryPosition>(PRIMARY_POSITION);
    const replayed = await this.#sampler.row<ReplicaPosition>(REPLICA_POSITION);
    if (!written || !replayed?.standby || replayed.position === null) throw new NoReplica('it is no standby');
    if (written.incarnation === null || written.incarnation !== replayed.incarnation)
      throw new NoReplica('it has another database');
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

interface PrimaryPosition {
  readonly position: bigint;
  readonly incarnation: string | null;
}

interface ReplicaPosition {
  readonly position: bigint | null;
  readonly standby: boolean;
  readonly incarnation: string | null;
}

/** Positions of two clusters look alike, so the database must be the same. */
const INCARNATION = '(select incarnation from service) as incarnation';
const PRIMARY_POSITION = `select (pg_current_wal_lsn() - '0/0')::bigint as position, ${INCARNATION}`;
const REPLICA_POSITION = `
  select (pg_last_wal_replay_lsn() - '0/0')::bigint as position,
         pg_is_in_recovery() as standby, ${INCARNATION}`;

function isReplicaError(error: unknown): boolean {
  return sqlState(error) === CONFLICT || isUnavailable(error);
}

/** Whether the replica is away. A statement that took long, or writes, says nothing about it. */
function isGone(error: unknown): boolean {
  return !(error instanceof DeadlineExceeded) && !NOT_GONE.has(sqlState(error));
}

const NOT_GONE = new Set([CONFLICT, '25006', '57014']);

/**
 * Repeats on the primary a statement that the replica could not answer, or not in time. It serves one
 * request, whose other statements then stay on the primary.
 */
function withFallback(replica: Database, primary: Database, onGone: (error: unknown) => void): Database {
  let isLeft = false;
  const run = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    if (isLeft) return await work(primary);
    try {
      return await runApart(READ_TIMEOUT_MS, () => work(replica));
    } catch (error) {
      if (!isReplicaError(error)) throw error;
      isLeft = error instanceof DeadlineExceeded || isGone(error);
      if (isGone(error)) onGone(error);
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

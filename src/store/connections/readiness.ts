/**
 * Whether the database responds and accepts writes, asked on a connection of its own: those of requests may
 * all be waiting. A check commits an update, and sorts more than fits in memory: on a full disk, an update of
 * a row that has room still works, but the new pages of a temporary file do not.
 */
import type pg from 'pg';
import { settlesWithin } from '../../kernel/timeout.ts';
import type { OpenDatabase } from '../db.ts';
import { abandonConnection, destroyConnection } from './socket.ts';

/** A result is used again for this time, so that frequent checks cost the database little. */
const REUSE_MS = 250;

const CHECK = `
  set local work_mem = 64;
  update readiness set checked_at = clock_timestamp() where id = 1;
  select count(*) from (select md5(n::text) from generate_series(1, 4000) n order by 1 offset 0) spilled`;

export class Readiness {
  readonly #db: OpenDatabase;
  readonly #timeoutMs: number;
  #client: pg.Client | null = null;
  #check: Promise<boolean> | null = null;
  #last: { readonly isReady: boolean; readonly atMs: number } | null = null;

  constructor(db: OpenDatabase, timeoutMs: number) {
    this.#db = db;
    this.#timeoutMs = timeoutMs;
  }

  /** Never throws, and takes no longer than the timeout. Concurrent callers share a check. */
  async isReady(): Promise<boolean> {
    if (this.#last && performance.now() - this.#last.atMs < REUSE_MS) return this.#last.isReady;
    this.#check ??= this.#run().finally(() => {
      this.#check = null;
    });
    return await this.#check;
  }

  close(): void {
    if (this.#client) destroyConnection(this.#client);
    this.#client = null;
  }

  async #run(): Promise<boolean> {
    const checking = this.#query();
    const isAnswered = await settlesWithin(checking, this.#timeoutMs);
    if (!isAnswered && this.#client) abandonConnection(this.#client);
    const isReady =
      isAnswered &&
      (await checking.then(
        () => true,
        () => false,
      ));
    if (!isReady) this.close();
    this.#last = { isReady, atMs: performance.now() };
    return isReady;
  }

  async #query(): Promise<void> {
    const client = this.#client ?? (await this.#connect());
    await client.query(CHECK);
  }

  async #connect(): Promise<pg.Client> {
    return await this.#db.open({}, (client) => {
      this.#client = client;
      client.on('error', () => undefined);
      client.on('end', () => {
        if (this.#client === client) this.#client = null;
      });
    });
  }
}

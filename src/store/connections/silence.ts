/**
 * Sessions that accept statements and never answer: their host vanished, or a firewall or a proxy forgot the
 * connection. Nothing tells the client. What happened to one session has usually happened to all, so a failed
 * session makes the others prove that they answer, before each costs a request its time.
 */
import type pg from 'pg';
import { sendStatement } from './prepared.ts';

/** For a statement that a live server answers without any work. */
export const ANSWER_LIMIT_MS = 2_000;
/** A session that answered less than this ago has hardly died since. */
const IDLE_MS = 1_000;

export interface SilenceOptions {
  /** Behind a pooler, a session without an answer may wait for its turn. */
  readonly isPooler: boolean;
}

export class Silence {
  readonly #pool: pg.Pool;
  readonly #isPooler: boolean;
  readonly #releasedAtMs = new WeakMap<pg.ClientBase, number>();
  readonly #checks: (() => Promise<void>)[] = [];
  #sweep: Promise<void> | null = null;

  constructor(pool: pg.Pool, { isPooler }: SilenceOptions) {
    this.#pool = pool;
    this.#isPooler = isPooler;
    pool.on('release', (_error, client) => this.#releasedAtMs.set(client, performance.now()));
  }

  /** Whether the session was idle for so long that its server may be gone. */
  mayBeDead(client: pg.ClientBase): boolean {
    const atMs = this.#releasedAtMs.get(client);
    return !this.#isPooler && atMs !== undefined && performance.now() - atMs > IDLE_MS;
  }

  /** Adds the check of a session outside the pool, which must not throw. */
  addCheck(check: () => Promise<void>): void {
    this.#checks.push(check);
  }

  /** A session failed. Checks all others that are idle, and closes those that do not answer. */
  suspect(): void {
    if (this.#sweep || this.#isPooler) return;
    const idle = Array.from({ length: this.#pool.idleCount }, () => this.#checkIdle());
    const others = this.#checks.map((check) => check());
    this.#sweep = Promise.allSettled([...idle, ...others]).then(() => {
      this.#sweep = null;
    });
  }

  async #checkIdle(): Promise<void> {
    const client = await this.#pool.connect().catch(() => null);
    if (!client) return;
    client.release(await failureOf(client, ANSWER_LIMIT_MS));
  }
}

/** Returns the error of a session that does not answer in time. */
export async function failureOf(
  client: pg.ClientBase,
  limitMs: number,
  text = 'select 1',
): Promise<Error | undefined> {
  return await sendStatement(client, { text }, limitMs).then(
    () => undefined,
    (error: Error) => error,
  );
}

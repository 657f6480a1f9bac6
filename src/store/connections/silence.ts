/**
 * Sessions that accept statements and never answer: their host vanished, or a firewall or a proxy forgot the
 * connection. Nothing tells the client. What happened to one session has usually happened to all, so a failed
 * session makes the others prove that they answer, before each costs a request its time.
 */
import type pg from 'pg';
import { sendStatement } from './prepared.ts';

/** For a statement that a live server answers without any work. */
export const ANSWER_LIMIT_MS = 2_000;

export class Silence {
  readonly #pool: pg.Pool;
  readonly #used = new WeakSet<pg.ClientBase>();
  readonly #checks: (() => Promise<void>)[] = [];
  #sweep: Promise<void> | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on('release', (_error, client) => this.#used.add(client));
  }

  /** Whether the session was borrowed before, so that its server may be gone since. */
  wasUsed(client: pg.ClientBase): boolean {
    return this.#used.has(client);
  }

  /** Adds the check of a session outside the pool, which must not throw. */
  addCheck(check: () => Promise<void>): void {
    this.#checks.push(check);
  }

  /** A session failed. Checks all others that are idle, and closes those that do not answer. */
  suspect(): void {
    if (this.#sweep) return;
    const idle = Array.from({ length: this.#pool.idleCount }, () => this.#checkIdle());
    const others = this.#checks.map((check) => check());
    this.#sweep = Promise.all([...idle, ...others]).then(() => {
      this.#sweep = null;
    });
  }

  async #checkIdle(): Promise<void> {
    const client = await this.#pool.connect().catch(() => null);
    if (!client) return;
    client.release(await failureOf(client));
  }
}

/** Returns the error of a session that does not answer in time. */
export async function failureOf(client: pg.ClientBase): Promise<Error | undefined> {
  return await sendStatement(client, { text: 'select 1' }, ANSWER_LIMIT_MS).then(
    () => undefined,
    (error: Error) => error,
  );
}

/**
 * Sessions that accept statements and never answer: their host vanished, or a firewall or a proxy forgot the
 * connection. Nothing tells the client. What happened to one session has usually happened to all, so a failed
 * session makes the others prove that they answer, before each costs a request its time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { TimeLimits } from '../../kernel/faults/time-limits.ts';
import { sendStatement } from './prepared.ts';
import { destroyConnection } from './socket.ts';

/** For a statement that a live server answers without any work. */
export const ANSWER_LIMIT_MS = 2_000;
/** After such a wait, and then after each further one, the server is asked whether it still works. */
const WAIT_MS = 2_000;
/** Its answer may be on the way. */
const GRACE_MS = 1_000;
/** A session that answered less than this ago has hardly died since. */
const IDLE_MS = 1_000;

/** Without the right to see it, a session counts as busy. */
const BUSY = `select pid from pg_stat_activity where coalesce(state, 'disabled') not like 'idle%'`;

const limits = new TimeLimits();

export interface SilenceOptions {
  /** Opens a connection outside the pool. */
  readonly open: (extra: { readonly query_timeout: number }) => Promise<pg.Client>;
  /** Behind a pooler, a session without an answer may wait for its turn. */
  readonly isPooler: boolean;
}

export class Silence {
  readonly #pool: pg.Pool;
  readonly #isPooler: boolean;
  readonly #open: SilenceOptions['open'];
  readonly #releasedAtMs = new WeakMap<pg.ClientBase, number>();
  readonly #checks: (() => Promise<void>)[] = [];
  #sweep: Promise<void> | null = null;
  #busy: Promise<ReadonlySet<number>> | null = null;

  constructor(pool: pg.Pool, { isPooler, open }: SilenceOptions) {
    this.#pool = pool;
    this.#open = open;
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

  /**
   * Waits for an answer without a time limit. Closes the connection once the server does nothing for it: the
   * statement or the answer was lost.
   */
  async watch<T>(client: pg.ClientBase, answer: Promise<T>): Promise<T> {
    if (this.#isPooler) return await answer;
    let isOver = false;
    const check = async () => {
      if (await this.#isIdle(client)) {
        await pause(GRACE_MS, undefined, { ref: false });
        if (!isOver) destroyConnection(client);
      } else if (!isOver) forget = later(check);
    };
    let forget = later(check);
    try {
      return await answer;
    } finally {
      isOver = true;
      forget();
    }
  }

  /** Whether the server does nothing for this session. */
  async #isIdle(client: pg.ClientBase): Promise<boolean> {
    this.#busy ??= this.#findBusy().finally(() => {
      this.#busy = null;
    });
    // A server that cannot be asked may be back next time.
    const busy = await this.#busy.catch(() => null);
    return busy !== null && !busy.has(pidOf(client));
  }

  async #findBusy(): Promise<ReadonlySet<number>> {
    const asking = await this.#open({ query_timeout: ANSWER_LIMIT_MS });
    try {
      const { rows } = await asking.query<{ pid: number }>(BUSY);
      return new Set(rows.map(({ pid }) => Number(pid)));
    } finally {
      destroyConnection(asking);
    }
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

/** Returns how to forget it. */
function later(check: () => Promise<void>): () => void {
  const atMs = performance.now() + WAIT_MS;
  return limits.add(
    () => atMs - performance.now(),
    () => void check(),
  );
}

function pidOf(client: pg.ClientBase): number {
  return Number((client as unknown as { readonly processID: unknown }).processID);
}

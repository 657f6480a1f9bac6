/**
 * Makes every statement of a pool a step, `begin` and `commit` included, below the store: what it does about
 * deadlocks and lost answers runs as it is.
 */
import type { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { OpenDatabase } from '../../../src/store/db.ts';
import { currentTask, runOutside } from './context.ts';
import type { Fate } from './events.ts';
import type { Scheduler, Task } from './scheduler.ts';

type Callback = (error: Error | null, result?: pg.QueryResult) => void;

/** The driver's query, as the store creates it. */
interface Query {
  readonly text: string;
  callback: Callback;
}

interface Session extends pg.PoolClient {
  readonly processID: number;
}

/** Changes a statement before it is sent, for tests that break one. */
export type Rewrite = (text: string) => string;

const LABEL_CHARS = 72;
const WRITES = /\b(?:insert|update|delete|commit)\b/i;

export class Sessions {
  rewrite: Rewrite = (text) => text;
  readonly #scheduler: () => Scheduler | null;
  readonly #wrapped = new WeakSet<object>();
  readonly #inTransaction = new WeakSet<object>();

  constructor({ pool, silence }: OpenDatabase, scheduler: () => Scheduler | null) {
    this.#scheduler = scheduler;
    // It goes by real time, and a session that waits for its turn is not lost.
    silence.mayBeDead = () => false;
    silence.watch = (_client, answer) => answer;
    const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
    pool.connect = (async () => {
      const task = currentTask() as Task | null;
      const current = this.#scheduler();
      if (!task || !current) return await runOutside(connect);
      const operation = current.begin(task, 'connects');
      const client = (await runOutside(connect)) as Session;
      this.#hold(current, task, client);
      await new Promise<void>((deliver) => operation.end(deliver));
      return client;
    }) as typeof pool.connect;
  }

  /** The task has the session until it releases it, or until the task dies. */
  #hold(scheduler: Scheduler, task: Task, client: Session): void {
    const release = client.release;
    const query = this.#wrap(client);
    let isOver = false;
    const end = async () => {
      if (isOver) return;
      isOver = true;
      task.sessions.delete(session);
      await runOutside(() => query('rollback'));
      this.#inTransaction.delete(client);
      runOutside(() => release());
    };
    const session = { end };
    task.sessions.add(session);
    client.release = (error) => {
      if (isOver) return;
      if (!error) {
        isOver = true;
        task.sessions.delete(session);
        runOutside(() => release());
        return;
      }
      // The server of a lost connection rolls back. Ours was not lost, so it can be used again.
      const operation = scheduler.begin(task, 'rollback of a lost connection', client.processID);
      void end().then(() => operation.end(() => undefined));
    };
    if (task.state === 'dead') void end();
  }

  /** Returns the session's own `query`. */
  #wrap(client: Session): (text: string) => Promise<unknown> {
    const own = client as unknown as { interleaved?: (text: string) => Promise<unknown>; query: unknown };
    if (this.#wrapped.has(client) && own.interleaved) return own.interleaved;
    this.#wrapped.add(client);
    const original = client.query.bind(client) as unknown as (query: Query | string) => Promise<unknown>;
    own.interleaved = original;
    own.query = (query: Query | string) => {
      const task = currentTask() as Task | null;
      const scheduler = this.#scheduler();
      if (!task || !scheduler || typeof query === 'string') return original(query);
      void this.#step({ scheduler, task, client, query, original });
      return undefined;
    };
    return original;
  }

  async #step(statement: Statement): Promise<void> {
    const { scheduler, task, client, query, original } = statement;
    const { callback } = query;
    const text = orderTies(this.rewrite(query.text));
    // Under its name, the session has prepared the original.
    if (text !== query.text) Object.assign(query, { text, name: undefined });
    const label = shorten(text);
    const fate = await scheduler.park(task, { label, fates: this.#fates(client, text) });
    if (fate === 'fail') return callback(lostConnection());
    if (text === 'begin') this.#inTransaction.add(client);
    if (text === 'commit' || text === 'rollback') this.#inTransaction.delete(client);
    const operation = scheduler.begin(task, label, client.processID);
    query.callback = (error, result) => {
      const deliver = () => {
        if (fate === 'die') void scheduler.kill(task);
        else if (fate === 'lose' && error === null) callback(lostConnection());
        else callback(operation.isVictim ? asDeadlock(error) : error, result && sortReturned(text, result));
      };
      // The database reports an error before it releases the locks of the transaction.
      if (error === null || !('severity' in error)) operation.end(deliver);
      else connectionOf(client).once('readyForQuery', () => operation.end(deliver));
    };
    runOutside(() => original(query));
  }

  /** The answer of a commit may be lost, or that of a statement that commits on its own. */
  #fates(client: Session, text: string): readonly Fate[] {
    const commits = text === 'commit' || (!this.#inTransaction.has(client) && WRITES.test(text));
    return commits ? ['run', 'fail', 'lose', 'die'] : ['run'];
  }
}

/** Mails that are due at the same time have no order of their own: it would be that of the table's pages. */
function orderTies(text: string): string {
  return /\bfrom mails\b/.test(text)
    ? text.replaceAll('order by due_at limit', 'order by due_at, id limit')
    : text;
}

/** For the same reason, the rows that an update returns are sorted. */
function sortReturned(text: string, result: pg.QueryResult): pg.QueryResult {
  if (!/\breturning\b/.test(text)) return result;
  const keyed = result.rows.map(
    (row: object) => [JSON.stringify(Object.values(row), bigintAsText), row] as const,
  );
  const rows = keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return Object.assign(result, { rows });
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** The driver has other types for it. */
function connectionOf(client: pg.PoolClient): EventEmitter {
  return (client as unknown as { readonly connection: EventEmitter }).connection;
}

interface Statement {
  readonly scheduler: Scheduler;
  readonly task: Task;
  readonly client: Session;
  readonly query: Query;
  readonly original: (query: Query) => unknown;
}

export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LABEL_CHARS ? `${line.slice(0, LABEL_CHARS - 1)}…` : line;
}

function lostConnection(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
}

/** As the database reports that it ended a deadlock. Here, we ended it by cancelling the statement. */
function asDeadlock(error: Error | null): Error | null {
  return error && Object.assign(error, { code: '40P01', message: 'deadlock detected' });
}

/** The connection to PostgreSQL. Every distinct statement is prepared once per connection. */
import pg from 'pg';
import { DeadlineExceeded, OutcomeUnknown, remainingMs, runApart } from '../kernel/faults/deadline.ts';
import type { Database, Sql, SqlValues } from '../kernel/sql.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import { Connector } from './connections/connector.ts';
import { hasNoResponse, StatementTimeout, sqlState, WRITES } from './connections/errors.ts';
import { connectToAny } from './connections/hosts.ts';
import { listenWithReconnect } from './connections/listen.ts';
import { NoResponse, type Statement, sendStatement } from './connections/prepared.ts';
import { ANSWER_LIMIT_MS, Silence } from './connections/silence.ts';
import { type BoundStatement, bindParameters } from './parameters.ts';

export type ConnectionSettings = (
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }
) & {
  /** The URL of the server behind a pooler in transaction mode, which the other properties lead to. */
  readonly directUrl?: string;
};

export interface OpenDatabase extends Database {
  readonly pool: pg.Pool;
  /** The options of each connection. */
  readonly settings: pg.ClientConfig;
  /** Opens a connection outside the pool, which the caller closes. `prepare` adds its listeners. */
  open(extra: object, prepare: (client: pg.Client) => void): Promise<pg.Client>;
  /** Calls the listener when another host of the database accepts writes from now on. */
  onMove(listener: () => void): void;
  /** Told of sessions that failed. */
  readonly silence: Silence;
  /** Wraps one connection that the caller owns. No statement takes longer than `limitMs`. */
  withClient(client: pg.Client, limitMs?: number): Sql;
  /** Calls `onNotification` for each notification on the channel until `close`; reconnects automatically. */
  listen(
    channel: string,
    onNotification: () => void,
    onConnect?: (session: Sql) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** SQLSTATEs after which the whole transaction runs again: serialization failure and deadlock. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;
/** Give up this much later on a server that does not even report its own timeout. */
const SERVER_GRACE_MS = 5_000;

/** For the end of a transaction whose request has failed. */
const ROLLBACK_TIMEOUT_MS = 1_000;

type Query = (text: string, values?: SqlValues) => Promise<pg.QueryResult>;

function createSql(query: Query): Sql {
  return {
    rows: async <Row extends object>(text: string, values?: SqlValues) =>
      (await query(text, values)).rows as Row[],
    row: async <Row extends object>(text: string, values?: SqlValues) =>
      (await query(text, values)).rows[0] as Row | undefined,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

/**
 * Sends a statement. Outside a request it may take `limitMs`, and anywhere no longer than `capMs`. If its
 * response does not come in time, the connection still waits for it.
 */
async function send(
  client: pg.ClientBase,
  statement: Statement,
  limitMs: number,
  capMs = Number.POSITIVE_INFINITY,
): Promise<pg.QueryResult> {
  const leftMs = remainingMs();
  if (leftMs <= 0) throw new DeadlineExceeded();
  const isTimed = leftMs !== Number.POSITIVE_INFINITY;
  try {
    return await sendStatement(client, statement, Math.min(isTimed ? leftMs : limitMs, capMs));
  } catch (error) {
    // The driver made it where it read from the socket. Show who sent the statement.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw isTimed && leftMs <= capMs && error instanceof NoResponse ? new StatementTimeout() : error;
  }
}

/** The connections that statements use, and how they use them. */
interface Source {
  readonly pool: pg.Pool;
  readonly connector: Connector;
  readonly silence: Silence;
  readonly limitMs: number;
  bind(text: string, values?: SqlValues): Statement;
}

/** Another transaction may get another session, which has not prepared it. */
function bindUnnamed(text: string, values?: SqlValues): Pick<BoundStatement, 'text' | 'values'> {
  const { name: _, ...statement } = bindParameters(text, values);
  return statement;
}

export interface DatabaseOptions {
  readonly poolSize: number;
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly onError?: (error: Error) => void;
  /** Told which host, from 1, accepts writes from now on. */
  readonly onMove?: (host: number, of: number) => void;
}

export function openDatabase(connection: ConnectionSettings, options: DatabaseOptions): OpenDatabase {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, connectTimeoutMs, onMove } = options;
  const { directUrl, ...server } = connection;
  const isPooler = directUrl !== undefined;
  const connector = new Connector(server, { statementTimeoutMs, connectTimeoutMs, isPooler, onMove });
  const direct = isPooler
    ? new Connector({ connectionString: directUrl }, { statementTimeoutMs, isPooler: false })
    : connector;
  // Statements of the pool have limits of our own, which cost less (connections/prepared.ts).
  const pool = new pg.Pool({
    ...connector.options,
    Client: connector.Client,
    query_timeout: 0,
    max: options.poolSize,
    idleTimeoutMillis: 60_000,
  });
  const limitMs = statementTimeoutMs > 0 ? statementTimeoutMs + SERVER_GRACE_MS : Number.POSITIVE_INFINITY;
  const open = (extra: object) => connector.open(extra, (client) => client.on('error', () => undefined));
  const silence = new Silence(pool, { isPooler, open });
  const bind = isPooler ? bindUnnamed : bindParameters;
  const source: Source = { pool, connector, silence, limitMs, bind };
  let closing = false;
  // Connections may end with any error while we close them.
  const onError = (error: Error) => {
    if (!closing) options.onError?.(error);
  };
  pool.on('error', onError);
  // A fatal error may arrive with the message that made the connection usable, before its borrower has run.
  // Without a listener it would end the process. The borrower's next statement fails anyway.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const listeners: { stop(): Promise<void> }[] = [];
  const wrap = (client: pg.Client, ownLimitMs = limitMs) =>
    createSql((text, values) => send(client, source.bind(text, values), ownLimitMs, ownLimitMs));
  return {
    ...createSql((text, values) => runOnPool(source, text, values)),
    pool,
    get settings() {
      return connector.settings;
    },
    open: (extra, prepare) => connector.open(extra, prepare),
    onMove: (listener) => connector.hosts.onMove(listener),
    silence,
    withClient: wrap,
    transaction: (work) => withRetries(() => inTransaction(source, work)),
    listen: async (channel, onNotification, onConnect) => {
      const prepare = (client: pg.Client) => onConnect?.(wrap(client));
      const listener = { channel, onNotification, onConnect: prepare, onError };
      listeners.push(await listenWithReconnect(direct, listener));
    },
    close: async () => {
      closing = true;
      await Promise.all(listeners.map((listener) => listener.stop()));
      await pool.end();
    },
  };
}

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let remaining = ATTEMPTS - 1; ; remaining--) {
    try {
      return await attempt();
    } catch (error) {
      if (remaining <= 0 || !RETRYABLE_STATES.has(sqlState(error))) throw error;
    }
  }
}

/** Borrows a connection within the request's time. */
async function acquire({ pool, connector }: Source): Promise<pg.PoolClient> {
  const timeoutMs = remainingMs();
  if (timeoutMs <= 0) throw new DeadlineExceeded();
  const connecting = connector.hosts.count > 1 ? connectToAny(pool, connector.hosts) : pool.connect();
  if (timeoutMs === Number.POSITIVE_INFINITY) return await connecting;
  if (await settlesWithin(connecting, timeoutMs)) return await connecting;
  connecting.then((client) => client.release()).catch(() => undefined);
  throw new DeadlineExceeded();
}

/** Sends a statement on a connection of the pool. */
async function sendOnPool(
  { silence, limitMs }: Source,
  client: pg.PoolClient,
  statement: Statement,
  capMs?: number,
): Promise<pg.QueryResult> {
  const answer = send(client, statement, limitMs, capMs);
  return remainingMs() === Number.POSITIVE_INFINITY ? await silence.watch(client, answer) : await answer;
}

/** Borrows a connection. If its first statement shows that the server is gone, takes another connection. */
async function borrow(source: Source, first: 'begin' | null): Promise<pg.PoolClient> {
  for (let attempts = 1; ; attempts++) {
    const client = await acquire(source);
    const mayBeDead = attempts < ATTEMPTS && source.silence.mayBeDead(client);
    const text = first ?? (mayBeDead ? 'select 1' : null);
    if (text === null) return client;
    try {
      await sendOnPool(source, client, { text }, mayBeDead ? ANSWER_LIMIT_MS : undefined);
      return client;
    } catch (error) {
      discard(source, client, error as Error);
      if (!mayBeDead || error instanceof DeadlineExceeded || !hasNoResponse(error)) throw error;
    }
  }
}

/** Closes a connection that failed: it is never handed to another caller. Its server rolls back. */
function discard({ silence }: Source, client: pg.PoolClient, error: Error): void {
  client.release(error);
  silence.suspect();
}

/** Runs one statement, which commits on its own. */
async function runOnPool(source: Source, text: string, values?: SqlValues): Promise<pg.QueryResult> {
  const client = await borrow(source, null);
  let broken: Error | undefined;
  try {
    return await sendOnPool(source, client, source.bind(text, values));
  } catch (error) {
    if (!hasNoResponse(error)) throw error;
    broken = error;
    throw WRITES.test(text) ? new OutcomeUnknown(undefined, { cause: error }) : error;
  } finally {
    if (broken) discard(source, client, broken);
    else client.release();
  }
}

async function inTransaction<T>(source: Source, work: (tx: Sql) => Promise<T>): Promise<T> {
  const client = await borrow(source, 'begin');
  const query: Query = (text, values) => sendOnPool(source, client, source.bind(text, values));
  let broken: Error | undefined;
  let isCommitting = false;
  try {
    const result = await work(createSql(query));
    if (remainingMs() <= 0) throw new DeadlineExceeded();
    isCommitting = true;
    const { command } = await sendOnPool(source, client, { text: 'commit' });
    if (command !== 'COMMIT') throw new Error('a transaction went on after one of its statements had failed');
    return result;
  } catch (error) {
    broken = hasNoResponse(error) ? error : await rollBack(source, client);
    throw isCommitting && broken ? new OutcomeUnknown(undefined, { cause: broken }) : error;
  } finally {
    if (broken) discard(source, client, broken);
    else client.release();
  }
}

/** Returns the error if the connection cannot be used again. */
async function rollBack(source: Source, client: pg.PoolClient): Promise<Error | undefined> {
  return await runApart(ROLLBACK_TIMEOUT_MS, () => sendOnPool(source, client, { text: 'rollback' })).then(
    () => undefined,
    (error: Error) => error,
  );
}

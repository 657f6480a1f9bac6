/** The connection to PostgreSQL. Every distinct statement is prepared once per connection. */
import pg from 'pg';
import { DeadlineExceeded, OutcomeUnknown, remainingMs, runApart } from '../kernel/faults/deadline.ts';
import type { Database, Sql, SqlValues } from '../kernel/sql.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import { createColumnTypes } from './connections/column-types.ts';
import { listenWithReconnect } from './connections/listen.ts';
import { NoResponse, type Statement, sendStatement } from './connections/prepared.ts';
import { bindParameters } from './parameters.ts';

export type ConnectionSettings =
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

export interface OpenDatabase extends Database {
  readonly pool: pg.Pool;
  /** The options of each connection. */
  readonly settings: pg.ClientConfig;
  /** Wraps one connection that the caller owns. `limitMs` is for each statement outside a request. */
  withClient(client: pg.Client, limitMs?: number): Sql;
  /** Calls `onNotification` for each notification on the channel until `close`; reconnects automatically. */
  listen(
    channel: string,
    onNotification: () => void,
    onConnect?: (session: Sql) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

const TYPES = createColumnTypes();

/** SQLSTATEs after which the whole transaction runs again: serialization failure and deadlock. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;
/** For one lock; equals how long a request waits for another one with the same Idempotency-Key. */
const LOCK_TIMEOUT_MS = 30_000;

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
 * Sends a statement. Outside a request, it may take `limitMs`. If its response does not come in time, the
 * connection still waits for it.
 */
async function send(client: pg.ClientBase, statement: Statement, limitMs: number): Promise<pg.QueryResult> {
  const leftMs = remainingMs();
  if (leftMs <= 0) throw new DeadlineExceeded();
  const isTimed = leftMs !== Number.POSITIVE_INFINITY;
  try {
    return await sendStatement(client, statement, isTimed ? leftMs : limitMs);
  } catch (error) {
    // The driver made it where it read from the socket. Show who sent the statement.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw isTimed && error instanceof NoResponse ? new StatementTimeout() : error;
  }
}

/** A statement was sent, and its response did not come within the request's time. */
class StatementTimeout extends DeadlineExceeded {}

const CONNECTION_CHECK_MS = 2_000;
/** Give up this much later on a server that does not even report its own timeout. */
const SERVER_GRACE_MS = 5_000;

export function openDatabase(
  connection: ConnectionSettings,
  options: { poolSize: number; statementTimeoutMs?: number; onError?: (error: Error) => void },
): OpenDatabase {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const settings = {
    ...connection,
    types: TYPES,
    application_name: 'skerry',
    options:
      `-c timezone=UTC -c statement_timeout=${statementTimeoutMs} -c lock_timeout=${LOCK_TIMEOUT_MS} ` +
      '-c idle_in_transaction_session_timeout=60000 ' +
      // A statement ends soon after its request has given up and closed the connection.
      `-c client_connection_check_interval=${CONNECTION_CHECK_MS}`,
    connectionTimeoutMillis: 10_000,
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + SERVER_GRACE_MS } : {}),
  };
  // Statements of the pool have limits of our own, which cost less (connections/prepared.ts).
  const pool = new pg.Pool({
    ...settings,
    query_timeout: 0,
    max: options.poolSize,
    idleTimeoutMillis: 60_000,
  });
  const limitMs = statementTimeoutMs > 0 ? statementTimeoutMs + SERVER_GRACE_MS : Number.POSITIVE_INFINITY;
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
    createSql((text, values) => send(client, bindParameters(text, values), ownLimitMs));
  return {
    ...createSql((text, values) => runOnPool(pool, limitMs, text, values)),
    pool,
    settings,
    withClient: wrap,
    transaction: (work) => withRetries(() => inTransaction(pool, limitMs, work)),
    listen: async (channel, onNotification, onConnect) => {
      const connect = () => new pg.Client(settings);
      const prepare = (client: pg.Client) => onConnect?.(wrap(client));
      const listener = { channel, onNotification, prepare, onError };
      listeners.push(await listenWithReconnect(connect, listener));
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
async function acquire(pool: pg.Pool): Promise<pg.PoolClient> {
  const timeoutMs = remainingMs();
  if (timeoutMs <= 0) throw new DeadlineExceeded();
  const connecting = pool.connect();
  if (timeoutMs === Number.POSITIVE_INFINITY) return await connecting;
  if (await settlesWithin(connecting, timeoutMs)) return await connecting;
  connecting.then((client) => client.release()).catch(() => undefined);
  throw new DeadlineExceeded();
}

/** Runs one statement, which commits on its own. */
async function runOnPool(
  pool: pg.Pool,
  limitMs: number,
  text: string,
  values?: SqlValues,
): Promise<pg.QueryResult> {
  const client = await acquire(pool);
  let broken: Error | undefined;
  try {
    return await send(client, bindParameters(text, values), limitMs);
  } catch (error) {
    if (!hasNoResponse(error)) throw error;
    broken = error;
    throw WRITES.test(text) ? new OutcomeUnknown(undefined, { cause: error }) : error;
  } finally {
    client.release(broken);
  }
}

const WRITES = /\b(?:insert|update|delete|merge)\b/i;

async function inTransaction<T>(pool: pg.Pool, limitMs: number, work: (tx: Sql) => Promise<T>): Promise<T> {
  const client = await acquire(pool);
  const query: Query = (text, values) => send(client, bindParameters(text, values), limitMs);
  let broken: Error | undefined;
  let isCommitting = false;
  try {
    await send(client, { text: 'begin' }, limitMs);
    const result = await work(createSql(query));
    if (remainingMs() <= 0) throw new DeadlineExceeded();
    isCommitting = true;
    const { command } = await send(client, { text: 'commit' }, limitMs);
    if (command !== 'COMMIT') throw new Error('a transaction went on after one of its statements had failed');
    return result;
  } catch (error) {
    broken = hasNoResponse(error) ? error : await rollBack(client, limitMs);
    throw isCommitting && broken ? new OutcomeUnknown(undefined, { cause: broken }) : error;
  } finally {
    // A connection that broke or could not roll back is closed, never handed to another caller. Its server
    // rolls back.
    client.release(broken);
  }
}

/** Returns the error if the connection cannot be used again. */
async function rollBack(client: pg.PoolClient, limitMs: number): Promise<Error | undefined> {
  return await runApart(ROLLBACK_TIMEOUT_MS, () => send(client, { text: 'rollback' }, limitMs)).then(
    () => undefined,
    (error: Error) => error,
  );
}

/** Whether the connection failed before it received the response to a statement. */
function hasNoResponse(error: unknown): error is Error {
  if (error instanceof DeadlineExceeded) return error instanceof StatementTimeout;
  const { severity } = (error ?? {}) as { readonly severity?: unknown };
  if (severity === undefined) return isUnavailable(error);
  return severity === 'FATAL' || severity === 'PANIC' || /^(?:08|57P)/.test(sqlState(error));
}

/** Returns the SQLSTATE of a database error, or an empty string. */
export function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Returns the name of the constraint that the error violates, or an empty string. */
export function violatedConstraint(error: unknown): string {
  const name = (error as { constraint?: unknown } | null)?.constraint;
  return typeof name === 'string' ? name : '';
}

/**
 * Whether the database is down, full, read-only, or overloaded, so that the request may be retried later. A
 * missing or forbidden file counts only when connecting to a socket: anywhere else it is our own error.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DeadlineExceeded || error instanceof OutcomeUnknown) return true;
  const state = sqlState(error);
  if (/^(08|53|57P|58)/.test(state) || UNAVAILABLE_STATES.has(state)) return true;
  if (/^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH)/.test(state)) return true;
  if ((error as { syscall?: unknown } | null)?.syscall === 'connect') return true;
  const message = error instanceof Error ? error.message : '';
  return UNAVAILABLE_MESSAGE.test(message);
}

/** A canceled statement, a lock timeout, a database that is read-only. */
const UNAVAILABLE_STATES = new Set(['57014', '55P03', '25006']);

/** Errors of the pg client that carry no code. */
const UNAVAILABLE_MESSAGE = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error',
    'not queryable',
    'Query read timeout',
    'Received unexpected \\w+ message from backend',
  ].join('|'),
);

/**
 * The connection to PostgreSQL. Every distinct statement is prepared once per connection. 8-byte integers
 * arrive as bigint, numerics as text, times as Date.
 */
import pg from 'pg';
import type { Database, Sql, SqlValues } from '../kernel/sql.ts';
import { listenWithReconnect } from './listen.ts';
import { bindParameters } from './parameters.ts';

export type ConnectionSettings =
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

export interface OpenDatabase extends Database {
  readonly pool: pg.Pool;
  /** The options of each connection. */
  readonly settings: pg.ClientConfig;
  /** Wraps one connection that the caller owns. */
  withClient(client: pg.Client): Sql;
  /** Calls `onNotification` for each notification on the channel until `close`; reconnects automatically. */
  listen(channel: string, onNotification: () => void): Promise<void>;
  close(): Promise<void>;
}

const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
TYPES.setTypeParser(pg.types.builtins.NUMERIC, (text) => text);
TYPES.setTypeParser(pg.types.builtins.DATE, (text) => text);

/** SQLSTATEs after which the whole transaction runs again: serialization failure and deadlock. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;
/** For one lock; equals how long a request waits for another one with the same Idempotency-Key. */
const LOCK_TIMEOUT_MS = 30_000;

type Queryable = Pick<pg.ClientBase, 'query'>;

function createSql(client: Queryable): Sql {
  async function query(text: string, values?: SqlValues): Promise<pg.QueryResult> {
    return await client.query(bindParameters(text, values) as pg.QueryConfig);
  }
  return {
    rows: async <Row extends object>(text: string, values?: SqlValues) =>
      (await query(text, values)).rows as Row[],
    row: async <Row extends object>(text: string, values?: SqlValues) =>
      (await query(text, values)).rows[0] as Row | undefined,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

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
      '-c idle_in_transaction_session_timeout=60000',
    connectionTimeoutMillis: 10_000,
    // Give up a little later on a server that does not even report its own timeout.
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + 5_000 } : {}),
  };
  const pool = new pg.Pool({ ...settings, max: options.poolSize, idleTimeoutMillis: 60_000 });
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
  return {
    ...createSql(pool as unknown as Queryable),
    pool,
    settings,
    withClient: (client) => createSql(client),
    transaction: (work) => withRetries(() => inTransaction(pool, work)),
    listen: async (channel, onNotification) => {
      const connect = () => new pg.Client(settings);
      listeners.push(await listenWithReconnect(connect, channel, onNotification, onError));
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

async function inTransaction<T>(pool: pg.Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection may break between two statements. Without a listener, that error would end the process; the
  // next statement fails anyway.
  const onClientError = (error: Error) => {
    broken = error;
  };
  client.on('error', onClientError);
  try {
    await client.query('begin');
    const result = await work(createSql(client));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    // A connection that broke or could not roll back is closed, never handed to another caller.
    client.release(broken);
    client.off('error', onClientError);
  }
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
 * Whether the database is down, full or overloaded, so that the request may be retried later. A missing or
 * forbidden file counts only when connecting to a socket: anywhere else it is our own error.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (/^(08|53|57P|58)/.test(state) || state === '57014' || state === '55P03') return true;
  if (/^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH)/.test(state)) return true;
  if ((error as { syscall?: unknown } | null)?.syscall === 'connect') return true;
  const message = error instanceof Error ? error.message : '';
  return UNAVAILABLE_MESSAGE.test(message);
}

/** Errors of the pg client that carry no code. */
const UNAVAILABLE_MESSAGE = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error',
    'not queryable',
    'Received unexpected \\w+ message from backend',
  ].join('|'),
);

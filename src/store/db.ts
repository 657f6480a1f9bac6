/**
 * The connection to PostgreSQL. Every distinct statement text is prepared once per connection; integers of 8
 * bytes arrive as bigint, numerics as text, times as Date.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Database, Sql } from '../kernel/sql.ts';

export type ConnectionSettings =
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

export interface OpenDatabase extends Database {
  readonly pool: pg.Pool;
  /** What each connection is opened with. */
  readonly settings: pg.ClientConfig;
  /** Statements on one connection of the caller's own. */
  withClient(client: pg.Client): Sql;
  /** Runs `heard` for each notification on the channel until `close`; reconnects by itself. */
  listen(channel: string, onNotification: () => void): Promise<void>;
  close(): Promise<void>;
}

const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
TYPES.setTypeParser(pg.types.builtins.NUMERIC, (text) => text);
TYPES.setTypeParser(pg.types.builtins.DATE, (text) => text);

/** SQLSTATEs that say: run the whole transaction again. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;
/** Of one lock: as long as a request waits for another one with the same Idempotency-Key. */
const LOCK_TIMEOUT_MS = 30_000;

const names = new Map<string, string>();

/** A short name for a statement, so that it is prepared once. Texts are constants, so the map is bounded. */
function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `s${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
    names.set(text, name);
  }
  return name;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

function createSql(client: Queryable): Sql {
  async function query(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return await client.query({ name: statementName(text), text, values: values as unknown[] });
  }
  return {
    rows: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await query(text, values)).rows as Row[],
    row: async <Row extends object>(text: string, values?: readonly unknown[]) =>
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
    options: `-c timezone=UTC -c statement_timeout=${statementTimeoutMs} -c lock_timeout=${LOCK_TIMEOUT_MS} -c idle_in_transaction_session_timeout=60000`,
    connectionTimeoutMillis: 10_000,
    // A server that does not even say that time is up is given up a little later.
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + 5_000 } : {}),
  };
  const pool = new pg.Pool({ ...settings, max: options.poolSize, idleTimeoutMillis: 60_000 });
  let closing = false;
  // Connections that we are closing may end in any way they like.
  const onError = (error: Error) => {
    if (!closing) options.onError?.(error);
  };
  pool.on('error', onError);
  const listeners: { stop(): Promise<void> }[] = [];
  return {
    ...createSql(pool as unknown as Queryable),
    pool,
    settings,
    withClient: (client) => createSql(client),
    transaction: (work) => withRetries(() => inTransaction(pool, work)),
    listen: async (channel, heard) => {
      listeners.push(await listenWithReconnect(() => new pg.Client(settings), channel, heard, onError));
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
  // A connection may break while the work is between two statements. Unheard, that would end the process; the next
  // statement fails by itself.
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

/** The SQLSTATE of a database error, or an empty text. */
export function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** The name of the constraint that an error broke, or an empty text. */
export function violatedConstraint(error: unknown): string {
  const name = (error as { constraint?: unknown } | null)?.constraint;
  return typeof name === 'string' ? name : '';
}

/**
 * Whether the database is away, full or overloaded: worth another try later, and no fault of the request. A missing or
 * forbidden file says so only where a connection to a socket was tried: elsewhere it is a fault of ours.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (/^(08|53|57P|58)/.test(state) || state === '57014' || state === '55P03') return true;
  if (/^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH)/.test(state)) return true;
  if ((error as { syscall?: unknown } | null)?.syscall === 'connect') return true;
  const message = error instanceof Error ? error.message : '';
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/.test(
    message,
  );
}

const RECONNECT_DELAY_MS = 1_000;

/** One connection that listens, and comes back a second after it was lost. Polling is the guarantee; this is the hurry. */
async function listenWithReconnect(
  connect: () => pg.Client,
  channel: string,
  onNotification: () => void,
  onError: ((error: Error) => void) | undefined,
): Promise<{ stop(): Promise<void> }> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A failed attempt is told twice, by its promise and by the end of its connection; it is followed by one other.
  const scheduleReconnect = () => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => start().catch(scheduleReconnect), RECONNECT_DELAY_MS);
  };
  async function start(): Promise<void> {
    const next = connect();
    client = next;
    next.on('error', (error) => onError?.(error));
    next.on('end', scheduleReconnect);
    next.on('notification', onNotification);
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      // Something may have been said while nobody listened.
      onNotification();
    } catch (error) {
      await next.end().catch(() => undefined);
      throw error;
    }
  }
  async function stop(): Promise<void> {
    stopped = true;
    clearTimeout(timer);
    await client?.end().catch(() => undefined);
  }
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { stop };
}

/**
 * The hosts of a database, of which one at a time accepts writes. A server says whether it is a standby when
 * a connection opens, so that the check costs no round trip. After a failed connection, all hosts are asked
 * at once, and connections to another host than the one found are closed.
 */
import pg from 'pg';
import { parseDatabaseUrl } from '../../kernel/settings/database-url.ts';
import { destroyConnection } from './socket.ts';

/** For one host. A live one answers in a few milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;
/** A failed search is not repeated for this time, so that many requests cost one. */
const REPEAT_AFTER_MS = 250;

/** A server that accepts no writes: a standby, or one whose operator made it read-only. */
class NotWritable extends Error {
  override readonly name = 'NotWritable';
  readonly code = '25006';
}

/**
 * Whether an error says that the host is lost or accepts no writes. A primary that has no connection left, or
 * refuses the user, is still the primary.
 */
export function isHostFailure(error: Error): boolean {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return severity === undefined || /^(?:08|57P|25006$)/.test(String(code));
}

export interface HostsOptions {
  /** `host` counts from 1. */
  readonly onMove?: ((host: number, of: number) => void) | undefined;
}

/** A part of the driver without types. */
interface DriverClient {
  readonly connection: {
    on(
      event: 'parameterStatus',
      listener: (message: { parameterName: string; parameterValue: string }) => void,
    ): void;
  };
}

export class Hosts {
  readonly #servers: readonly pg.ClientConfig[];
  readonly #isWritable: boolean;
  readonly #onMove: HostsOptions['onMove'];
  readonly #clients = new Map<pg.ClientBase, number>();
  readonly #moveListeners: (() => void)[] = [];
  #current = 0;
  #isLost: boolean;
  #search: Promise<void> | null = null;
  #failure: { readonly error: unknown; readonly atMs: number } | null = null;

  constructor(connection: pg.ClientConfig, { onMove }: HostsOptions = {}) {
    const parsed = connection.connectionString ? parseDatabaseUrl(connection.connectionString) : undefined;
    this.#servers = parsed ? parsed.urls.map((connectionString) => ({ connectionString })) : [connection];
    this.#isWritable = parsed?.isWritable ?? false;
    this.#onMove = onMove;
    this.#isLost = this.#servers.length > 1;
  }

  /** How many there are. */
  get count(): number {
    return this.#servers.length;
  }

  /** Where to connect now. */
  get server(): pg.ClientConfig {
    return this.#servers[this.#current] ?? {};
  }

  /** Whether no host is known that accepts writes. Never with a single one. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Calls the listener whenever another host accepts writes. */
  onMove(listener: () => void): void {
    this.#moveListeners.push(listener);
  }

  /** Follows a new connection to the current host until it ends. */
  follow(client: pg.Client): void {
    if (this.#isWritable) watchRole(client);
    if (this.count === 1) return;
    this.#clients.set(client, this.#current);
    client.once('end', () => this.#clients.delete(client));
  }

  /** A connection failed, or turned out to accept no writes. */
  lose(client: pg.ClientBase): void {
    if (this.count > 1 && this.#clients.get(client) === this.#current) this.#isLost = true;
  }

  /** Finds the host that accepts writes. Rejects if there is none. */
  async find(): Promise<void> {
    if (this.#failure && performance.now() - this.#failure.atMs < REPEAT_AFTER_MS) throw this.#failure.error;
    this.#search ??= this.#findNow().finally(() => {
      this.#search = null;
    });
    await this.#search;
  }

  async #findNow(): Promise<void> {
    try {
      const found = await Promise.any(this.#servers.map((server, index) => probe(server).then(() => index)));
      const isMove = found !== this.#current;
      this.#current = found;
      this.#isLost = false;
      this.#failure = null;
      for (const [client, host] of this.#clients) if (host !== found) destroyConnection(client);
      if (!isMove) return;
      this.#onMove?.(found + 1, this.count);
      for (const listener of this.#moveListeners) listener();
    } catch (error) {
      const failure = searchError(error instanceof AggregateError ? error.errors : [error]);
      this.#failure = { error: failure, atMs: performance.now() };
      throw failure;
    }
  }
}

/** If all servers refuse for the same reason, for example a wrong password, that is the error. */
function searchError(errors: readonly unknown[]): unknown {
  const [first, ...others] = errors as { readonly code?: unknown; readonly severity?: unknown }[];
  const isShared = first?.severity !== undefined && others.every(({ code }) => code === first.code);
  return isShared ? first : new NotWritable('no host of the database accepts writes', { cause: first });
}

/** Resolves if the server can be reached and accepts writes. */
async function probe(server: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({
    ...server,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    application_name: 'skerry',
  });
  client.on('error', () => undefined);
  watchRole(client);
  try {
    await client.connect();
    const error = roleError(client);
    if (error) throw error;
  } finally {
    destroyConnection(client);
  }
}

const readOnly = new WeakSet<pg.ClientBase>();

/** A server reports these settings before a new connection can be used, and whenever they change. */
function watchRole(client: pg.Client): void {
  (client as unknown as DriverClient).connection.on(
    'parameterStatus',
    ({ parameterName, parameterValue }) => {
      if (!READ_ONLY_SETTINGS.has(parameterName) || parameterValue !== 'on') return;
      readOnly.add(client);
      destroyConnection(client);
    },
  );
}

const READ_ONLY_SETTINGS = new Set(['in_hot_standby', 'default_transaction_read_only']);

/**
 * Returns the error of a connection that was opened to a server that accepts no writes. The driver learns of
 * its end only after it has reported it as open.
 */
export function roleError(client: pg.ClientBase): Error | null {
  return readOnly.has(client) ? new NotWritable('the host is read-only') : null;
}

/** Borrows a connection to the host that accepts writes. Tries the other hosts if the current one fails. */
export async function connectToAny(pool: pg.Pool, hosts: Hosts): Promise<pg.PoolClient> {
  if (hosts.isLost) {
    const found = hosts.find();
    // An idle connection may still serve. The search closes it if another host accepts writes.
    if (pool.idleCount === 0) await found;
    else found.catch(() => undefined);
  }
  try {
    return await borrow(pool, hosts);
  } catch (error) {
    if (!hosts.isLost) throw error;
    await hosts.find();
    return await borrow(pool, hosts);
  }
}

async function borrow(pool: pg.Pool, hosts: Hosts): Promise<pg.PoolClient> {
  const client = await pool.connect();
  // It became read-only a moment ago, and the pool has not yet learned of its end.
  const error = roleError(client);
  if (!error) return client;
  hosts.lose(client);
  client.release(error);
  throw error;
}

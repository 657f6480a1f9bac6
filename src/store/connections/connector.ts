/**
 * Opens connections: to the host that accepts writes, with the options of a session, or through a pooler that
 * gives every transaction another session.
 */
import pg from 'pg';
import { createColumnTypes } from './column-types.ts';
import { Hosts, type HostsOptions, isHostFailure, roleError } from './hosts.ts';
import { destroyConnection } from './socket.ts';
import { watchReplication } from './unreplicated.ts';

const TYPES = createColumnTypes();
/** For one lock; equals how long a request waits for another one with the same Idempotency-Key. */
const LOCK_TIMEOUT_MS = 30_000;
const CONNECTION_CHECK_MS = 2_000;
/**
 * A transaction waits for nothing but the database. After a longer pause, its client has vanished without a
 * word, and its locks keep others waiting.
 */
const IDLE_TRANSACTION_MS = 5_000;
/** Give up this much later on a server that does not even report its own timeout. */
const SERVER_GRACE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** With other hosts to try. Not for the pool, whose limit also covers the wait for a free connection. */
const CONNECT_ONE_TIMEOUT_MS = 3_000;
const KEEP_ALIVE_MS = 10_000;

export interface ConnectorOptions extends HostsOptions {
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs?: number | undefined;
  /** A pooler in transaction mode refuses the options of a session. */
  readonly isPooler: boolean;
}

type ClientClass = new (config?: pg.ClientConfig) => pg.Client;

export class Connector {
  readonly hosts: Hosts;
  /** Without the address of the server. */
  readonly options: pg.ClientConfig;
  /** Connects to the current host. */
  readonly Client: ClientClass;

  constructor(server: pg.ClientConfig, options: ConnectorOptions) {
    const { statementTimeoutMs, connectTimeoutMs = CONNECT_TIMEOUT_MS, isPooler, onMove } = options;
    const hosts = new Hosts(server, { onMove });
    this.hosts = hosts;
    this.options = {
      types: TYPES,
      application_name: 'skerry',
      ...(isPooler ? {} : { options: sessionOptions(statementTimeoutMs) }),
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + SERVER_GRACE_MS } : {}),
    };
    this.Client = clientClass(hosts, isPooler);
  }

  /** The settings of a connection to the current host. */
  get settings(): pg.ClientConfig {
    return { ...this.hosts.server, ...this.options };
  }

  /**
   * Opens a connection outside the pool. `prepare` adds listeners before it connects. Tries the other hosts
   * if the current one fails.
   */
  async open(extra: object, prepare: (client: pg.Client) => void): Promise<pg.Client> {
    if (this.hosts.isLost) await this.hosts.find();
    try {
      return await this.#openOnce(extra, prepare);
    } catch (error) {
      if (!this.hosts.isLost) throw error;
      await this.hosts.find();
      return await this.#openOnce(extra, prepare);
    }
  }

  async #openOnce(extra: object, prepare: (client: pg.Client) => void): Promise<pg.Client> {
    const client = new this.Client({ ...this.options, ...extra });
    prepare(client);
    try {
      await client.connect();
      return client;
    } catch (error) {
      destroyConnection(client);
      throw error;
    }
  }
}

function sessionOptions(statementTimeoutMs: number): string {
  return (
    `-c timezone=UTC -c statement_timeout=${statementTimeoutMs} -c lock_timeout=${LOCK_TIMEOUT_MS} ` +
    `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_MS} ` +
    // A statement ends soon after its request has given up and closed the connection.
    `-c client_connection_check_interval=${CONNECTION_CHECK_MS}`
  );
}

/** The driver's method without types. */
interface WithStartup {
  getStartupConf(): Record<string, string>;
}

function clientClass(hosts: Hosts, isPooler: boolean): ClientClass {
  const Base = pg.Client as unknown as new (config: pg.ClientConfig) => pg.Client & WithStartup;
  return class extends Base {
    constructor(config: pg.ClientConfig = {}) {
      super({
        ...config,
        ...hosts.server,
        ...(hosts.count > 1 ? { connectionTimeoutMillis: CONNECT_ONE_TIMEOUT_MS } : {}),
      });
      hosts.follow(this);
      watchReplication(this);
      this.on('error', (error) => {
        if (isHostFailure(error)) hosts.lose(this);
      });
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error | null, client?: pg.Client) => void): void;
    override connect(
      callback?: (error: Error | null, client?: pg.Client) => void,
    ): Promise<this> | undefined {
      if (!callback) {
        return new Promise((resolve, reject) =>
          this.connect((error) => (error ? reject(error) : resolve(this))),
        );
      }
      super.connect((connectError: Error | null) => {
        const error = connectError ?? roleError(this);
        if (error && isHostFailure(error)) hosts.lose(this);
        callback(error, this);
      });
      return undefined;
    }

    /** A pooler keeps the time zone of its client, as one of few settings. */
    override getStartupConf(): Record<string, string> {
      const startup = super.getStartupConf();
      return isPooler ? { ...startup, TimeZone: 'UTC' } : startup;
    }
  };
}

/** PostgreSQL, which breaks in all ways that a server does. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionSettings } from '../../../src/store/db.ts';
import { findHome } from '../../../src/store/embedded/home.ts';
import { startEmbedded } from '../../../src/store/embedded/index.ts';
import { listServerPids, readPidFile } from '../../../src/store/embedded/process.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';

type ServerSettings = Exclude<ConnectionSettings, { connectionString: string }>;

export interface DatabaseServer {
  /** Without any proxy, for checks. */
  readonly connection: ConnectionSettings;
  /** Returns the proxies of a process of the service, and the URL through them. */
  connect(): Promise<{ readonly proxies: readonly PgProxy[]; readonly url: string }>;
  close(): Promise<void>;
}

const POLL_MS = 20;
const REPLACED_WITHIN_MS = 60_000;

/** One server, which is started again when it ends. */
export class SingleDatabase implements DatabaseServer {
  readonly connection: ServerSettings;
  readonly #dataDir: string;
  readonly #stop: () => Promise<void>;

  private constructor(dataDir: string, connection: ServerSettings, stop: () => Promise<void>) {
    this.#dataDir = dataDir;
    this.connection = connection;
    this.#stop = stop;
  }

  static async start(dataDir: string): Promise<SingleDatabase> {
    const { connection, stop } = await startEmbedded({ dataDir });
    return new SingleDatabase(dataDir, connection, stop);
  }

  async connect() {
    const proxy = await startPgProxy(this.connection);
    const { user, database } = this.connection;
    return { proxies: [proxy], url: `postgres://${user}@127.0.0.1:${proxy.port}/${database}` };
  }

  /** Of the postmaster; it is started again. Returns its id, or null while it does not run. */
  async signal(signal: NodeJS.Signals): Promise<number | null> {
    const pid = await this.#postmaster();
    return pid > 0 && signalIfRunning(pid, signal) ? pid : null;
  }

  /** Waits until another postmaster runs. */
  async untilReplaced(former: number): Promise<void> {
    for (const until = performance.now() + REPLACED_WITHIN_MS; ; await pause(POLL_MS)) {
      const pid = await this.#postmaster();
      if (pid > 0 && pid !== former) return;
      if (performance.now() > until) throw new Error(`PostgreSQL ${former} was not replaced`);
    }
  }

  /** One of the processes behind the postmaster, such as that of a connection. Returns whether it ran. */
  async killBackend(index: number): Promise<boolean> {
    const postmaster = await this.#postmaster();
    const backends = (await this.#pids()).filter((pid) => pid !== postmaster);
    const pid = backends[index % Math.max(1, backends.length)];
    return pid !== undefined && signalIfRunning(pid, 'SIGKILL');
  }

  /** Stops every process of the server, the first one first, so that none is added. Null: it does not run. */
  async freeze(): Promise<(() => void) | null> {
    const postmaster = await this.#postmaster();
    if (postmaster === 0 || !signalIfRunning(postmaster, 'SIGSTOP')) return null;
    const sessions = (await this.#pids()).filter((pid) => pid !== postmaster);
    for (const pid of sessions) signalIfRunning(pid, 'SIGSTOP');
    return () => {
      for (const pid of [...sessions, postmaster]) signalIfRunning(pid, 'SIGCONT');
    };
  }

  async close(): Promise<void> {
    await this.signal('SIGCONT');
    await pause(0);
    await this.#stop();
  }

  /** 0 while it does not run. */
  async #postmaster(): Promise<number> {
    const home = await findHome(this.#dataDir);
    return (home && (await readPidFile(home.cluster))?.pid) ?? 0;
  }

  async #pids(): Promise<number[]> {
    const home = await findHome(this.#dataDir);
    return home === null ? [] : await listServerPids(home.cluster);
  }
}

function signalIfRunning(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It has exited meanwhile.
    return false;
  }
}

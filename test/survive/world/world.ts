/**
 * The system under test: processes of the service on an external PostgreSQL, simulated hosts and chains, and
 * a receiver of webhooks. A proxy is before the database and the receiver.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SimulatorControl } from '../../../src/drivers/compute/simulator/control.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import type { PgProxy } from '../../support/pg-proxy.ts';
import { type Environment, type ProcessExit, spawnSkerryd } from '../../support/skerryd-process.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import type { FaultSet } from '../faults/names.ts';
import { Asker } from '../operations/ask.ts';
import { Chains } from './chains.ts';
import { Closing } from './closing.ts';
import { ClusterDatabase } from './cluster.ts';
import { type DatabaseServer, SingleDatabase } from './database.ts';
import { Disk } from './disks.ts';
import { type HostUnderTest, startHost } from './hosts.ts';
import { Processes, ServiceProcess } from './processes.ts';

const PROCESSES = 2;
const DATABASE_MB = 2_048;
const DATA_MB = 16;
const DONE_WITHIN_MS = 60_000;
const COMMAND_WITHIN_MS = 180_000;
const RETRY_MS = 200;
const SETTINGS = {
  SKERRY_LOG_LEVEL: 'error',
  SKERRY_SIM_BLOCK_S: '0',
  SKERRY_SIM_INSTALL_S: '0.3',
  SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
  SKERRY_ADDRESS_REST_DAYS: '0',
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '100000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '100000',
  SKERRY_QUOTAS: 'openTopups=10000,unpaidTopupsPerDay=10000,snapshots=1000,snapshotsPerServer=100',
};

type WorldParts = Pick<
  World,
  | ('folder' | 'database' | 'db' | 'processes' | 'databaseProxies' | 'receiver' | 'receiverProxy')
  | ('databaseDisk' | 'dataDisks' | 'host' | 'commandSettings')
> & { readonly closing: Closing };

export class World {
  readonly folder: string;
  readonly database: DatabaseServer;
  readonly db: OpenDatabase;
  readonly processes: Processes;
  /** Those of each process. */
  readonly databaseProxies: readonly (readonly PgProxy[])[];
  readonly receiver: WebhookReceiver;
  readonly receiverProxy: TcpProxy;
  readonly databaseDisk: Disk;
  readonly dataDisks: readonly Disk[];
  /** Of the other hosts, which are in the database of the service. */
  readonly simulator: SimulatorControl;
  readonly host: HostUnderTest;
  readonly chains: Chains;
  readonly asker: Asker;
  /** For commands of the operator, which reach the database without a proxy. */
  readonly commandSettings: Environment;
  /** The parts that a fault has now. */
  readonly broken = new Set<string>();
  readonly lostHosts = new Set<string>();

  readonly #closing: Closing;

  constructor(parts: WorldParts) {
    this.#closing = parts.closing;
    this.folder = parts.folder;
    this.database = parts.database;
    this.db = parts.db;
    this.processes = parts.processes;
    this.databaseProxies = parts.databaseProxies;
    this.receiver = parts.receiver;
    this.receiverProxy = parts.receiverProxy;
    this.databaseDisk = parts.databaseDisk;
    this.dataDisks = parts.dataDisks;
    this.host = parts.host;
    this.commandSettings = parts.commandSettings;
    this.simulator = new SimulatorControl({ db: this.db, clock: { now: () => new Date() } });
    this.chains = new Chains(this.db);
    this.asker = new Asker(this.processes);
  }

  static async start(faults: FaultSet): Promise<World> {
    const closing = new Closing();
    try {
      return await open(faults, closing);
    } catch (error) {
      await closing.close();
      throw error;
    }
  }

  /** The URL of the receiver through its proxy. */
  receiverUrl(path: string): string {
    const url = new URL(this.receiver.url(path));
    url.port = String(this.receiverProxy.port);
    return url.href;
  }

  /** Repeats what needs the database until it succeeds. */
  readonly untilDone = async <T>(work: () => Promise<T>): Promise<T> => {
    for (const until = performance.now() + DONE_WITHIN_MS; ; await pause(RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  };

  /** Runs a command of the operator. */
  async command(...args: readonly string[]): Promise<ProcessExit> {
    const { ended, stop } = spawnSkerryd(args, this.commandSettings);
    try {
      return await withTimeout(ended, `skerryd ${args.join(' ')}`, COMMAND_WITHIN_MS);
    } catch (error) {
      await stop('SIGKILL');
      throw error;
    }
  }

  /** For the explanation of a wait: which processes are ready, and the sessions of the database. */
  async describe(): Promise<string> {
    const ready = await Promise.all(this.processes.all.map((one) => one.isReady()));
    const broken = [...this.broken].join(', ');
    return `ready: ${ready.join(', ')}; broken: ${broken}; ${await describeSessions(this.db)}`;
  }

  async close(): Promise<void> {
    await this.#closing.close();
  }
}

/** Says where PostgreSQL was while a process did not start. */
async function explainStart(db: OpenDatabase, error: unknown): Promise<never> {
  throw new Error(`a process did not start: ${await describeSessions(db)}`, { cause: error });
}

async function describeSessions(db: OpenDatabase): Promise<string> {
  const sql = `select pid, state, pg_blocking_pids(pid) as blocked_by, wait_event,
       (extract(epoch from clock_timestamp() - state_change) * 1000)::int as state_ms,
       left(query, 80) as query
     from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  return JSON.stringify(await db.rows(sql).catch(String), asText);
}

const asText = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

async function open(faults: FaultSet, closing: Closing): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-survive-'));
  closing.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  // When root runs it, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const receiver = await WebhookReceiver.start();
  closing.push(() => receiver.stop());
  await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
  const receiverPort = Number(new URL(receiver.url('/')).port);
  const receiverProxy = await startTcpProxy({ host: '127.0.0.1', port: receiverPort });
  closing.push(() => receiverProxy.close());
  const databaseDisk = await Disk.create(join(folder, 'database'), DATABASE_MB, faults.disks);
  closing.push(() => databaseDisk.close());
  const database = faults.cluster
    ? await ClusterDatabase.start()
    : await SingleDatabase.start(join(databaseDisk.folder, 'data'));
  closing.push(() => database.close());
  const db = openDatabase(database.connection, { poolSize: 4, onError: () => undefined });
  closing.push(() => db.close());
  const common = {
    ...SETTINGS,
    SKERRY_SECRET_KEY: `survive:${randomBytes(32).toString('base64')}`,
    SKERRY_WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
  };
  const connect = async () => {
    const { proxies, url } = await database.connect();
    closing.push(() => Promise.all(proxies.map((proxy) => proxy.close())));
    return { proxies, url };
  };
  const dataDisks: Disk[] = [];
  const all: ServiceProcess[] = [];
  const databaseProxies: (readonly PgProxy[])[] = [];
  for (let index = 0; index < PROCESSES; index++) {
    const disk = await Disk.create(join(folder, `data-${index}`), DATA_MB, faults.disks);
    closing.push(() => disk.close());
    const { proxies, url } = await connect();
    const settings = { ...common, DATABASE_URL: url, SKERRY_DATA_DIR: disk.folder };
    const one = new ServiceProcess(settings, join(folder, `clock-${index}`));
    closing.push(() => one.close());
    all.push(one);
    dataDisks.push(disk);
    databaseProxies.push(proxies);
  }
  const dataDir = dataDisks[0]?.folder ?? folder;
  const commandSettings = { ...common, DATABASE_URL: (await connect()).url, SKERRY_DATA_DIR: dataDir };
  // The first one migrates the database.
  for (const one of all) await one.start().catch((error: unknown) => explainStart(db, error));
  const processes = new Processes(all);
  const host = await startHost(folder, { db, secretKey: common.SKERRY_SECRET_KEY }, closing);
  const parts = { folder, database, db, processes, databaseProxies, receiver, receiverProxy, host };
  return new World({ ...parts, databaseDisk, dataDisks, commandSettings, closing });
}

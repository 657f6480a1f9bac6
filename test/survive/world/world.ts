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
import type { PgProxy } from '../../support/pg-proxy.ts';
import { type Environment, killLeftovers } from '../../support/skerryd-process.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import type { FaultSet } from '../faults/names.ts';
import { Asker } from '../operations/ask.ts';
import { Chains } from './chains.ts';
import { type DatabaseServer, SingleDatabase } from './database.ts';
import { Disk } from './disks.ts';
import { Processes, ServiceProcess } from './processes.ts';

const PROCESSES = 2;
const DATABASE_MB = 2_048;
const DATA_MB = 16;
const DONE_WITHIN_MS = 60_000;
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
  | ('databaseDisk' | 'dataDisks' | 'commandSettings')
>;

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
  readonly simulator: SimulatorControl;
  readonly chains: Chains;
  readonly asker: Asker;
  /** For commands of the operator, which reach the database without a proxy. */
  readonly commandSettings: Environment;
  /** Calls that hosts and nodes refused so far, and hosts that broke. */
  readonly brokenCalls = new Set<string>();
  readonly lostHosts = new Set<string>();
  readonly frozenHosts = new Set<string>();

  private constructor(parts: WorldParts) {
    this.folder = parts.folder;
    this.database = parts.database;
    this.db = parts.db;
    this.processes = parts.processes;
    this.databaseProxies = parts.databaseProxies;
    this.receiver = parts.receiver;
    this.receiverProxy = parts.receiverProxy;
    this.databaseDisk = parts.databaseDisk;
    this.dataDisks = parts.dataDisks;
    this.commandSettings = parts.commandSettings;
    this.simulator = new SimulatorControl({ db: this.db, clock: { now: () => new Date() } });
    this.chains = new Chains(this.db);
    this.asker = new Asker(this.processes);
  }

  static async start(faults: FaultSet): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-survive-'));
    // When root runs it, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    const receiver = await WebhookReceiver.start();
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
    const receiverPort = Number(new URL(receiver.url('/')).port);
    const receiverProxy = await startTcpProxy({ host: '127.0.0.1', port: receiverPort });
    const databaseDisk = await Disk.create(join(folder, 'database'), DATABASE_MB, faults.disks);
    const database = await SingleDatabase.start(join(databaseDisk.folder, 'data'));
    const db = openDatabase(database.connection, { poolSize: 4, onError: () => undefined });
    const common = {
      ...SETTINGS,
      SKERRY_SECRET_KEY: `survive:${randomBytes(32).toString('base64')}`,
      SKERRY_WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
    };
    const dataDisks: Disk[] = [];
    const all: ServiceProcess[] = [];
    const databaseProxies: (readonly PgProxy[])[] = [];
    for (let index = 0; index < PROCESSES; index++) {
      const disk = await Disk.create(join(folder, `data-${index}`), DATA_MB, faults.disks);
      const { proxies, url } = await database.connect();
      const settings = { ...common, DATABASE_URL: url, SKERRY_DATA_DIR: disk.folder };
      all.push(new ServiceProcess(index, settings, join(folder, `clock-${index}`)));
      dataDisks.push(disk);
      databaseProxies.push(proxies);
    }
    const direct = await database.connect();
    const commandSettings = {
      ...common,
      DATABASE_URL: direct.url,
      SKERRY_DATA_DIR: dataDisks[0]?.folder ?? folder,
    };
    const processes = new Processes(all);
    const parts = { folder, database, db, receiver, receiverProxy, databaseDisk, dataDisks, commandSettings };
    const world = new World({ ...parts, databaseProxies: [...databaseProxies, direct.proxies], processes });
    // The first one migrates the database.
    for (const one of all) await one.start();
    return world;
  }

  /** The URL of the receiver through its proxy. */
  receiverUrl(path: string): string {
    const url = new URL(this.receiver.url(path));
    url.port = String(this.receiverProxy.port);
    return url.href;
  }

  /** Repeats what needs the database until it succeeds. */
  async untilDone<T>(work: () => Promise<T>): Promise<T> {
    for (const until = performance.now() + DONE_WITHIN_MS; ; await pause(RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.all.map((one) => one.close()));
    killLeftovers();
    await this.db.close().catch(() => undefined);
    await Promise.all(this.databaseProxies.flat().map((proxy) => proxy.close()));
    await this.database.close();
    await this.receiverProxy.close();
    await this.receiver.stop();
    for (const disk of [...this.dataDisks, this.databaseDisk]) await disk.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

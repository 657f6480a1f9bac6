/** Assembles the service: database, keys, clock, and the driver for each port in this mode. */

import { join } from 'node:path';
import { baseUrl, type Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { openDatabaseIdentity } from '../domain/database-identity.ts';
import { markFilePath } from '../domain/upkeep/backups/restore.ts';
import type { RemoteCompute } from '../drivers/compute/composed/link.ts';
import { MmdbGeo } from '../drivers/geo/mmdb.ts';
import type { OffsetClock } from '../kernel/clock.ts';
import { logFault } from '../kernel/faults/fault-log.ts';
import { KeyedMutex } from '../kernel/keyed-mutex.ts';
import { createLoggers, type Logger } from '../kernel/logger.ts';
import { type PasswordCost, PasswordHasher } from '../kernel/passwords.ts';
import { parseQuotas } from '../kernel/settings/lists.ts';
import { parseSender } from '../kernel/settings/smtp-url.ts';
import type { Fleet } from '../ports/backends.ts';
import { openPipelined } from '../store/connections/pipelined.ts';
import { Replica } from '../store/connections/replica.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../store/db.ts';
import { MarkFile } from '../store/service/mark-file.ts';
import { notifyWorkers } from '../store/service/service.ts';
import { withBackends } from './backends.ts';
import { createBackups } from './backups.ts';
import { followDatabaseClock } from './clock.ts';
import { validateCoinKeys } from './coins.ts';
import { identityOptions, type MigrationChoice, openMigratedDatabase } from './database.ts';
import { createBlobs, createReverseDns } from './drivers.ts';
import { createLiveParts, type LiveParts } from './live.ts';
import { createSeams, type Seams } from './seams.ts';
import { createSimulation, type Drivers, type Simulation } from './simulation.ts';

/** Connections of the simulated outside world, separate from the service's. */
const SIMULATION_POOL_SIZE = 6;
/** For reads on the hot path. */
const PIPELINED_CONNECTIONS = 2;
/** Minimum time between notifications to other processes. */
const NOTIFY_INTERVAL_MS = 50;

export interface OpenedService {
  readonly service: Service;
  readonly db: OpenDatabase;
  readonly clock: OffsetClock;
  readonly seams: Seams;
  /** Null where coins are real. */
  readonly simulation: Simulation | null;
  /** Null in a sandbox. */
  readonly live: LiveParts | null;
  readonly geo: MmdbGeo;
  readonly log: Logger;
  readonly requestLog: Logger;
  /** Registers a listener that `service.wake()` calls in this process. */
  onWake(listener: () => void): void;
  /** Sets the URL once it listens: only then a free port is known. */
  setListenUrl(url: string): void;
  close(): Promise<void>;
}

/**
 * Connections that one process may open: the pool, the simulation's, the pipelined reads', the listener's,
 * and that of readiness.
 */
export function connectionsPerProcess(config: Config): number {
  const simulated = config.SKERRY_MODE === 'live' ? 0 : SIMULATION_POOL_SIZE;
  return config.SKERRY_DB_POOL + simulated + PIPELINED_CONNECTIONS + 2;
}

interface OpenOptions extends MigrationChoice {
  /** Of new passwords. Default: that of `kernel/passwords.ts`. */
  readonly passwordCost?: PasswordCost | undefined;
}

export async function openService(
  config: Config,
  connection: ConnectionSettings,
  { passwordCost, ...migration }: OpenOptions = {},
): Promise<OpenedService> {
  validateCoinKeys(config);
  const { log, unredacted: requestLog } = createLoggers(config.SKERRY_LOG_LEVEL);
  const { onError, onMove } = databaseEvents(log);
  const db = await openMigratedDatabase(config, connection, { ...migration, onError, onMove });
  const simulationDb =
    config.SKERRY_MODE === 'live'
      ? null
      : openDatabase(connection, { poolSize: SIMULATION_POOL_SIZE, onError });
  const replica = await openReplica(config, db, onError);
  const open: { close(): unknown }[] = [simulationDb, replica].filter((part) => part != null);
  const close = async () => {
    await Promise.all(open.map((part) => part.close()));
    await db.close();
  };
  try {
    const { keys, incarnation } = await openDatabaseIdentity(db, identityOptions(config));
    const { clock, ...following } = await followDatabaseClock(db, log);
    open.push(following);
    const backups = createBackups(config, connection, incarnation);
    if (backups !== null) open.push(backups.source);
    const seams = createSeams(config.SKERRY_CRASH_AT);
    const blobs = seams.port('blobs', createBlobs(config, incarnation));
    const environment = createEnvironment(config, { db, simulationDb, clock, keys, log, blobs });
    const waker = createWaker(db);
    const baseUrlHolder = { url: baseUrl(config) };
    open.push(environment.compute);
    const reads = await openPipelined(db);
    open.push(reads);
    const service: Service = {
      db: seams.database(db),
      reads,
      replica,
      clock,
      keys,
      log,
      passwords: new PasswordHasher({ queueMax: config.SKERRY_PASSWORD_QUEUE, cost: passwordCost }),
      ...wrapDrivers(seams, environment),
      fleet: environment.fleet,
      orders: new KeyedMutex(),
      marks: new MarkFile(markFilePath(config.SKERRY_DATA_DIR, incarnation)),
      blobs,
      backups: backups?.plan,
      dns: seams.port('dns', createReverseDns(config)),
      settings: serviceSettings(config, baseUrlHolder),
      wake: waker.wake,
    };
    return {
      service,
      db,
      clock,
      seams,
      simulation: environment.simulation,
      live: environment.live,
      geo: new MmdbGeo({ file: config.SKERRY_GEO_FILE }),
      log,
      requestLog,
      onWake: waker.onWake,
      setListenUrl: (url) => {
        baseUrlHolder.url = config.SKERRY_BASE_URL ?? url;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function databaseEvents(log: Logger) {
  return {
    onError: (error: Error) => logFault(log, 'warn', 'database connection lost', { err: error }),
    onMove: (host: number, of: number) =>
      log.warn({ host, of }, 'another host of the database accepts writes'),
  };
}

async function openReplica(
  config: Config,
  db: OpenDatabase,
  onError: (error: Error) => void,
): Promise<Replica | undefined> {
  if (config.SKERRY_DB_REPLICA_URL === null) return undefined;
  const connection = { connectionString: config.SKERRY_DB_REPLICA_URL };
  const maxLagMs = config.SKERRY_DB_REPLICA_LAG_MS;
  const replica = new Replica(db, connection, { poolSize: config.SKERRY_DB_POOL, maxLagMs, onError });
  db.onMove(() => replica.forget());
  await replica.start();
  return replica;
}

function serviceSettings(config: Config, baseUrlHolder: { readonly url: string }): Service['settings'] {
  return {
    mode: config.SKERRY_MODE,
    siteName: config.SKERRY_SITE_NAME,
    get baseUrl() {
      return baseUrlHolder.url;
    },
    tokenPrefix: config.SKERRY_TOKEN_PREFIX,
    rateLockMinutes: config.SKERRY_RATE_LOCK_MINUTES,
    addressRestDays: config.SKERRY_ADDRESS_REST_DAYS,
    graceDays: config.SKERRY_GRACE_DAYS,
    negativeBalanceDays: config.SKERRY_NEGATIVE_BALANCE_DAYS,
    shutdownDeadlineS: config.SKERRY_SHUTDOWN_DEADLINE_S,
    throttleMbps: config.SKERRY_THROTTLE_MBPS,
    floods: {
      packetsPerS: { in: config.SKERRY_FLOOD_IN_PPS, out: config.SKERRY_FLOOD_OUT_PPS },
      samples: config.SKERRY_FLOOD_SAMPLES,
      isAutomatic: config.SKERRY_FLOOD_BLACKHOLE,
      blackholeMinutes: config.SKERRY_FLOOD_BLACKHOLE_MINUTES,
    },
    copySnapshots: config.SKERRY_S3_SNAPSHOTS,
    mailingsPerMinute: config.SKERRY_MAILINGS_PER_MINUTE,
    webhookAllowLoopback: config.SKERRY_WEBHOOK_ALLOW_LOOPBACK,
    auditHeadsFile: join(config.SKERRY_DATA_DIR, 'audit-heads.log'),
    ...ticketMailSettings(config),
    quotas: parseQuotas(config.SKERRY_QUOTAS),
  };
}

function ticketMailSettings(config: Config): Pick<Service['settings'], 'ticketMail'> {
  const { SKERRY_TICKET_ADDRESS: address, SKERRY_TICKET_AUTHSERV: authServer } = config;
  if (address === null || authServer === null) return {};
  const sender = parseSender(config.SKERRY_MAIL_FROM ?? '')?.address ?? null;
  return { ticketMail: { address, authServer, sender } };
}

interface Environment {
  readonly drivers: Omit<Drivers, 'compute'>;
  /** With the hosts on other machines. */
  readonly compute: RemoteCompute;
  readonly fleet: Fleet;
  readonly simulation: Simulation | null;
  readonly live: LiveParts | null;
}

/**
 * Creates the drivers of one mode only: a sandbox has no real coins, and a live service nothing simulated.
 */
function createEnvironment(
  config: Config,
  parts: Pick<Service, 'db' | 'keys' | 'log' | 'blobs'> & {
    readonly clock: OffsetClock;
    readonly simulationDb: OpenDatabase | null;
  },
): Environment {
  const { simulationDb, ...common } = parts;
  if (simulationDb === null) {
    const { drivers, live } = createLiveParts(config, common);
    return { drivers, ...withBackends(drivers.compute, common), simulation: null, live };
  }
  const { drivers, controls } = createSimulation(config, { ...common, db: simulationDb });
  return { drivers, ...withBackends(drivers.compute, common), simulation: controls, live: null };
}

function wrapDrivers(seams: Seams, { compute, drivers }: Environment): Drivers {
  const { chains, rates, mailer } = drivers;
  return {
    compute: seams.port('compute', compute),
    chains: new Map([...chains].map(([coin, chain]) => [coin, seams.port(coin, chain)])),
    rates: seams.port('rates', rates),
    mailer: seams.port('mailer', mailer),
  };
}

/** Wakes this process immediately, and the others with one notification for many wakes. */
function createWaker(db: OpenDatabase): { wake(): void; onWake(listener: () => void): void } {
  let listener: () => void = () => undefined;
  let notifyPending = false;
  return {
    onWake: (next) => {
      listener = next;
    },
    wake: () => {
      listener();
      if (notifyPending) return;
      notifyPending = true;
      setTimeout(() => {
        notifyPending = false;
        // A lost notification costs the others one poll interval.
        notifyWorkers(db).catch(() => undefined);
      }, NOTIFY_INTERVAL_MS).unref();
    },
  };
}

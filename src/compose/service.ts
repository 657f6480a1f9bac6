/** Puts the service together: database, keys, clock, and behind each port the driver that the mode calls for. */
import { join } from 'node:path';
import { baseUrl, type Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { openStamp } from '../domain/stamp/open.ts';
import { DiskBlobs } from '../drivers/blobs/disk.ts';
import { MmdbGeo } from '../drivers/geo/mmdb.ts';
import { OffsetClock } from '../kernel/clock.ts';
import { armCrashPoint } from '../kernel/crash.ts';
import { createLoggers, type Logger } from '../kernel/logger.ts';
import { PasswordHasher } from '../kernel/passwords.ts';
import { parseQuotas } from '../kernel/quotas.ts';
import { notifyWorkers } from '../store/clock.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../store/db.ts';
import { openPipelined, type PipelinedReads } from '../store/pipelined.ts';
import { requireKeys } from './coins.ts';
import { openMigrated } from './database.ts';
import { reverseDns } from './dns.ts';
import { openReality, type Reality } from './reality.ts';
import { type Drivers, type Simulation, simulate } from './simulation.ts';

/** Connections of the simulated outside world: they are its own, never the service's. */
const SIMULATED_POOL = 6;
/** For the hot path's reads. */
const PIPELINED = 2;
/** At most one notification to other processes in this time. */
const NOTIFY_EVERY_MS = 50;

export interface Opened {
  readonly service: Service;
  readonly db: OpenDatabase;
  readonly clock: OffsetClock;
  /** Null where coins are real. */
  readonly simulation: Simulation | null;
  /** Null in a sandbox. */
  readonly reality: Reality | null;
  readonly geo: MmdbGeo;
  readonly log: Logger;
  readonly requestLog: Logger;
  /** Whom `service.wake()` wakes in this process. */
  onWake(rise: () => void): void;
  /** Where it listens, which a free port tells only then. */
  listensAt(url: string): void;
  close(): Promise<void>;
}

/** Connections that one process may open: the service's, the simulated world's, those for single reads, and one that listens. */
export function connectionsOf(config: Config): number {
  const simulated = config.SKERRY_MODE === 'live' ? 0 : SIMULATED_POOL;
  return config.SKERRY_DB_POOL + simulated + PIPELINED + 1;
}

export async function openService(
  config: Config,
  connection: ConnectionSettings,
  { mayMigrate = false }: { mayMigrate?: boolean } = {},
): Promise<Opened> {
  armCrashPoint(config.SKERRY_CRASH_AT ?? undefined);
  requireKeys(config);
  const { log, plain: requestLog } = createLoggers(config.SKERRY_LOG_LEVEL);
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const db = await openMigrated(config, connection, { poolSize: config.SKERRY_DB_POOL, mayMigrate, onError });
  const outside =
    config.SKERRY_MODE === 'live' ? null : openDatabase(connection, { poolSize: SIMULATED_POOL, onError });
  let reads: PipelinedReads | null = null;
  const close = async () => {
    await Promise.all([reads?.close(), outside?.close()]);
    await db.close();
  };
  try {
    const { keys, clockOffsetMs } = await openStamp(db, {
      mode: config.SKERRY_MODE,
      secretKey: config.SKERRY_SECRET_KEY,
      dataDir: config.SKERRY_DATA_DIR,
      worthless: config.SKERRY_WORTHLESS_COINS,
    });
    const clock = new OffsetClock(clockOffsetMs);
    const world = openWorld(config, { db, outside, clock, keys, log });
    const wakes = waking(db);
    const place = { url: baseUrl(config) };
    reads = await openPipelined(db);
    const service: Service = {
      db,
      reads,
      clock,
      keys,
      log,
      passwords: new PasswordHasher({ queueMax: config.SKERRY_PASSWORD_QUEUE }),
      ...world.drivers,
      blobs: new DiskBlobs({ folder: join(config.SKERRY_DATA_DIR, 'images') }),
      dns: reverseDns(config),
      settings: settingsOf(config, place),
      wake: wakes.wake,
    };
    return {
      service,
      db,
      clock,
      simulation: world.simulation,
      reality: world.reality,
      geo: new MmdbGeo({ file: config.SKERRY_GEO_FILE }),
      log,
      requestLog,
      onWake: wakes.onWake,
      listensAt: (url) => {
        place.url = config.SKERRY_BASE_URL ?? url;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function settingsOf(config: Config, place: { readonly url: string }): Service['settings'] {
  return {
    mode: config.SKERRY_MODE,
    siteName: config.SKERRY_SITE_NAME,
    get baseUrl() {
      return place.url;
    },
    tokenPrefix: config.SKERRY_TOKEN_PREFIX,
    rateLockMinutes: config.SKERRY_RATE_LOCK_MINUTES,
    addressRestDays: config.SKERRY_ADDRESS_REST_DAYS,
    graceDays: config.SKERRY_GRACE_DAYS,
    shutdownDeadlineS: config.SKERRY_SHUTDOWN_DEADLINE_S,
    throttleMbps: config.SKERRY_THROTTLE_MBPS,
    webhookAllowLoopback: config.SKERRY_WEBHOOK_ALLOW_LOOPBACK,
    quotas: parseQuotas(config.SKERRY_QUOTAS),
  };
}

interface World {
  readonly drivers: Drivers;
  readonly simulation: Simulation | null;
  readonly reality: Reality | null;
}

/** A sandbox has no real coins, and a live service no simulated ones: the other's drivers are not even made. */
function openWorld(
  config: Config,
  parts: Pick<Service, 'db' | 'keys' | 'log'> & {
    readonly clock: OffsetClock;
    readonly outside: OpenDatabase | null;
  },
): World {
  const { outside, ...ours } = parts;
  if (outside === null) return { ...openReality(config, ours), simulation: null };
  const { drivers, controls } = simulate(config, { ...ours, db: outside });
  return { drivers, simulation: controls, reality: null };
}

/** Wakes this process at once and the others by one notification for many wakes. */
function waking(db: OpenDatabase): { wake(): void; onWake(rise: () => void): void } {
  let rise: () => void = () => undefined;
  let announced = false;
  return {
    onWake: (next) => {
      rise = next;
    },
    wake: () => {
      rise();
      if (announced) return;
      announced = true;
      setTimeout(() => {
        announced = false;
        // Losing it costs the others one poll interval.
        notifyWorkers(db).catch(() => undefined);
      }, NOTIFY_EVERY_MS).unref();
    },
  };
}

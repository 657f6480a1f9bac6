/** Puts the service together: database, keys, clock, and behind each port the driver that the mode calls for. */
import { join } from 'node:path';
import { baseUrl, type Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { openStamp } from '../domain/stamp/open.ts';
import { DiskBlobs } from '../drivers/blobs/disk.ts';
import { SimnetControl } from '../drivers/chain/simnet/control.ts';
import { Simnet } from '../drivers/chain/simnet/driver.ts';
import { SimulatorControl } from '../drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../drivers/faults.ts';
import { MmdbGeo } from '../drivers/geo/mmdb.ts';
import { MailOutbox } from '../drivers/mail/outbox.ts';
import { SmtpMailer } from '../drivers/mail/smtp.ts';
import { FixedRates } from '../drivers/rates/fixed.ts';
import { OffsetClock } from '../kernel/clock.ts';
import { armCrashPoint } from '../kernel/crash.ts';
import { createLoggers, type Logger } from '../kernel/logger.ts';
import { PasswordHasher } from '../kernel/passwords.ts';
import { parseQuotas } from '../kernel/quotas.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { KeyRing } from '../kernel/secrets.ts';
import { parseSender, parseSmtpUrl } from '../kernel/smtp-url.ts';
import type { Mailer } from '../ports/mail.ts';
import { COIN_CODES } from '../spec/coins.ts';
import { notifyWorkers } from '../store/clock.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../store/db.ts';
import { openPipelined, type PipelinedReads } from '../store/pipelined.ts';
import { openMigrated } from './database.ts';

/** Connections of the simulated outside world: they are its own, never the service's. */
const SIMULATED_POOL = 6;
/** For the hot path's reads. */
const PIPELINED = 2;
/** At most one notification to other processes in this time. */
const NOTIFY_EVERY_MS = 50;

/** The simulated world behind a sandbox's ports. */
export interface Simulation {
  readonly chains: SimnetControl;
  readonly compute: SimulatorControl;
  readonly rates: FixedRates;
  readonly faults: SqlFaults;
  readonly mails: MailOutbox;
}

export interface Opened {
  readonly service: Service;
  readonly db: OpenDatabase;
  readonly clock: OffsetClock;
  readonly simulation: Simulation;
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
  return config.SKERRY_DB_POOL + SIMULATED_POOL + PIPELINED + 1;
}

export async function openService(
  config: Config,
  connection: ConnectionSettings,
  { mayMigrate = false }: { mayMigrate?: boolean } = {},
): Promise<Opened> {
  if (config.SKERRY_MODE === 'live') {
    throw new Refusal(
      'SKERRY_MODE: this version has simulated coins and machines only, and never serves them as live',
    );
  }
  armCrashPoint(config.SKERRY_CRASH_AT ?? undefined);
  const { log, plain: requestLog } = createLoggers(config.SKERRY_LOG_LEVEL);
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const db = await openMigrated(config, connection, { poolSize: config.SKERRY_DB_POOL, mayMigrate, onError });
  const outside = openDatabase(connection, { poolSize: SIMULATED_POOL, onError });
  let reads: PipelinedReads | null = null;
  const close = async () => {
    await Promise.all([reads?.close(), outside.close()]);
    await db.close();
  };
  try {
    const { keys, clockOffsetMs } = await openStamp(db, {
      mode: config.SKERRY_MODE,
      secretKey: config.SKERRY_SECRET_KEY,
      dataDir: config.SKERRY_DATA_DIR,
    });
    const clock = new OffsetClock(clockOffsetMs);
    const simulation = simulate(config, outside, clock, keys);
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
      ...simulation.drivers,
      blobs: new DiskBlobs({ folder: join(config.SKERRY_DATA_DIR, 'images') }),
      settings: {
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
        webhookAllowLoopback: config.SKERRY_WEBHOOK_ALLOW_LOOPBACK,
        quotas: parseQuotas(config.SKERRY_QUOTAS),
      },
      wake: wakes.wake,
    };
    return {
      service,
      db,
      clock,
      simulation: simulation.controls,
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

function simulate(
  config: Config,
  db: OpenDatabase,
  clock: OffsetClock,
  keys: KeyRing,
): { drivers: Pick<Service, 'compute' | 'chains' | 'rates' | 'mailer'>; controls: Simulation } {
  const faults = new SqlFaults(db);
  const blockS = config.SKERRY_SIM_BLOCK_S;
  const rates = new FixedRates({ db, faults });
  const chains = COIN_CODES.map((coin) => [coin, new Simnet({ coin, db, clock, faults, blockS })] as const);
  const compute = new SimulatedCompute({ db, clock, faults, installS: config.SKERRY_SIM_INSTALL_S });
  const mails = new MailOutbox({ db, keys, faults, server: mailServer(config) });
  return {
    drivers: { compute, chains: new Map(chains), rates, mailer: mails },
    controls: {
      chains: new SimnetControl({ db, clock, blockS }),
      compute: new SimulatorControl({ db, clock }),
      rates,
      faults,
      mails,
    },
  };
}

/** Null without settings for one. Both were checked when they were read. */
function mailServer(config: Config): Mailer | null {
  const server = parseSmtpUrl(config.SKERRY_SMTP_URL ?? '');
  const from = parseSender(config.SKERRY_MAIL_FROM ?? '');
  return server && from ? new SmtpMailer({ server, from }) : null;
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

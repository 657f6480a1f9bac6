/** `skerryd serve`: one process, or a parent that holds the database and keeps N children running. */
import { once } from 'node:events';
import type { Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { abandonUploads } from '../domain/images/remove.ts';
import { openLastRound } from '../domain/upkeep/wal/archive.ts';
import type { PeerListener } from '../drivers/compute/host/peer-listener.ts';
import { createLogger } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { EMBEDDED_CONNECTIONS } from '../store/embedded/server.ts';
import { listHosts } from '../store/inventory/hosts.ts';
import { releaseAllLeases } from '../store/leases.ts';
import { checkCoins } from './check-coins.ts';
import { serveWithChildren } from './child-processes.ts';
import { acquireDatabase } from './database.ts';
import { ENDINGS, movesConnections, waitForDrainMessage } from './draining.ts';
import { requireLiveSafety } from './live-safety.ts';
import { listenForHosts } from './peers.ts';
import { prepareSandbox } from './seed.ts';
import { type ServeOptions, startService } from './serve.ts';
import { connectionsPerProcess, openService } from './service.ts';
import { Hangups, notifyReady, waitForStopSignal } from './signals.ts';
import { formatReadyLines, formatWarnings } from './startup-messages.ts';

/**
 * Stopping may take 10 s, and `SKERRY_STOP_DELAY_S`. Work that hangs longer is abandoned: it is claimed
 * again, and every step may rerun.
 */
const STOP_TIMEOUT_MS = 9_500;
/** The same for a process that shares its port: another one serves meanwhile. */
const LEAVE_TIMEOUT_MS = ENDINGS.left.requestsMs + 5_000;
const RESETS_CONNECTIONS =
  'skerryd: net.ipv4.tcp_migrate_req is not 1, so the kernel may reset a connection that a stopping ' +
  'process has not accepted; see deploy/sysctl.conf';
const NOTHING_TO_RESTART =
  'skerryd: SIGHUP restarts processes of `serve --processes N` only; nothing was done';
/** Kept free for operator commands and for PostgreSQL itself. */
const RESERVED_CONNECTIONS = 15;

/** Serves until SIGTERM or SIGINT, then stops cleanly and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const stopRequested = waitForStopSignal();
  stopRequested.then(() => forceExitAfterTimeout(config, options));
  const hangups = new Hangups();
  // A hangup is for the parent.
  if (options.child) return await serveAsChild(config, options, stopRequested);
  checkConnectionBudget(config, options.processes);
  checkSharedPort(config, options);
  if (options.sharedPort) warnAboutResets(options);
  requireLiveSafety(config);
  const database = await acquireDatabase(config, 'own', options.warn);
  let peers: PeerListener | null = null;
  let storeLastSegments: (() => Promise<void>) | null = null;
  try {
    const opened = await openService(config, database.connection, {
      mayMigrate: true,
      whileRunning: options.sharedPort,
      tellMigration: options.warn,
    });
    const coins = opened.live?.coins ?? [];
    const announce = (url: string | null) => {
      formatReadyLines(config, { url, coins }).forEach(options.print);
      notifyReady(options.warn);
    };
    try {
      formatWarnings(config, coins).forEach(options.warn);
      // A stop request does not wait for nodes.
      await Promise.race([checkCoins(coins, options.warn), stopRequested]);
      await prepareSandbox(opened);
      await warnAboutUnknownHosts(opened.service, options.warn);
      const wal = opened.service.backups?.wal;
      if (wal !== undefined) storeLastSegments = await openLastRound(opened.service, wal);
      // The lock on the folder makes this process the only one: release the leases of a killed process now.
      if (config.DATABASE_URL === null) {
        await releaseAllLeases(opened.db);
        await abandonUploads(opened.service);
      }
    } finally {
      await opened.close();
    }
    peers = await listenForOtherHosts(config, options);
    if (options.processes > 1) {
      const onRestartRequested = (restart: () => void) =>
        hangups.listen(() => {
          warnAboutResets(options);
          restart();
        });
      await serveWithChildren(config, options, { stopRequested, onRestartRequested }, announce);
    } else {
      const { roles, sharedPort } = options;
      const running = await startService(config, database.connection, { roles, sharedPort });
      announce(running.url);
      hangups.listen(() => options.warn(NOTHING_TO_RESTART));
      if (running.consoleUrl !== null) options.print(`Console: ${running.consoleUrl}`);
      await stopRequested;
      await running.stop(options.sharedPort ? ENDINGS.left : ENDINGS.stopped);
    }
  } finally {
    await peers?.close();
    await database.stop();
    await storeLastSegments?.().catch((error: Error) => options.warn(`skerryd: ${error.message}`));
  }
}

async function serveAsChild(
  config: Config,
  options: ServeOptions,
  stopRequested: Promise<void>,
): Promise<void> {
  // A parent that died took the database with it.
  const orphaned = once(process, 'disconnect').then(() => ENDINGS.abandoned);
  const database = await acquireDatabase(config, 'join', options.warn);
  const { roles } = options;
  const running = await startService(config, database.connection, { roles, sharedPort: true });
  process.send?.({ url: running.url });
  const replaced = waitForDrainMessage().then(() => ENDINGS.replaced);
  const stopped = stopRequested.then(() => ENDINGS.stopped);
  await running.stop(await Promise.race([replaced, stopped, orphaned]));
  await database.stop();
  // An open channel to the parent would keep this process alive.
  if (process.connected) process.disconnect();
}

/**
 * Warns about hosts of an earlier simulation that the real driver does not have: servers sold there never
 * start.
 */
async function warnAboutUnknownHosts({ db, compute }: Service, warn: (line: string) => void): Promise<void> {
  const unknownHosts = (await listHosts(db)).filter(
    ({ name, backend }) => backend === null && compute.hosts && !compute.hosts.includes(name),
  );
  if (unknownHosts.length === 0) return;
  const names = unknownHosts.map(({ name }) => name).join(', ');
  warn(
    `skerryd: the inventory has hosts that SKERRY_QEMU_HOSTS does not name: ${names}; ` +
      'drain them, or use a new data folder',
  );
}

/** Of services that share a port, one at a time listens for other hosts. */
async function listenForOtherHosts(
  config: Config,
  { sharedPort, warn }: ServeOptions,
): Promise<PeerListener | null> {
  try {
    return await listenForHosts(config, createLogger(config.SKERRY_LOG_LEVEL));
  } catch (error) {
    if (!sharedPort || !(error instanceof OperatorError)) throw error;
    warn(`skerryd: ${error.message}; another service on this machine may do it`);
    return null;
  }
}

function checkSharedPort(config: Config, { sharedPort, processes }: ServeOptions): void {
  if (!sharedPort) return;
  if (processes > 1)
    throw new OperatorError('--shared-port: leave out --processes, whose processes share it already');
  if (config.DATABASE_URL === null)
    throw new OperatorError('--shared-port: services on one port need one database; set DATABASE_URL');
}

/** Operator commands need connections of the embedded database, too. */
function checkConnectionBudget(config: Config, processes: number): void {
  if (config.DATABASE_URL !== null) return;
  // A restart runs one more.
  const needed = (processes > 1 ? processes + 1 : 1) * connectionsPerProcess(config);
  const available = EMBEDDED_CONNECTIONS - RESERVED_CONNECTIONS;
  if (needed <= available) return;
  throw new OperatorError(
    `SKERRY_DB_POOL: ${processes} processes would use ${needed} connections during a restart, but the ` +
      `embedded database has ${available}; lower it, start fewer processes, or set DATABASE_URL to your ` +
      'own PostgreSQL',
  );
}

function warnAboutResets({ roles, warn }: ServeOptions): void {
  if (roles.has('api') && !movesConnections()) warn(RESETS_CONNECTIONS);
}

function forceExitAfterTimeout(config: Config, { sharedPort, warn }: ServeOptions): void {
  const stopTimeoutMs = STOP_TIMEOUT_MS + config.SKERRY_STOP_DELAY_S * SECOND_MS;
  const timeoutMs = sharedPort ? LEAVE_TIMEOUT_MS : stopTimeoutMs;
  setTimeout(() => {
    warn(`skerryd: could not stop everything within ${timeoutMs / 1_000} s; exiting anyway`);
    process.exit(1);
  }, timeoutMs).unref();
}

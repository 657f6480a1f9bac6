/** `skerryd serve`: one process, or a parent that holds the database and keeps N children alive. */
import type { Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { abandonUploads } from '../domain/images/abandon-uploads.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { EMBEDDED_CONNECTIONS } from '../store/embedded/settings.ts';
import { listHosts } from '../store/hosts.ts';
import { releaseAllLeases } from '../store/operations.ts';
import { checkCoins } from './check-coins.ts';
import { serveWithChildren } from './child-processes.ts';
import { acquireDatabase } from './database.ts';
import { prepareSandbox } from './seed.ts';
import { type ServeOptions, startService } from './serve.ts';
import { connectionsPerProcess, openService } from './service.ts';
import { formatReadyLines, formatWarnings } from './startup-messages.ts';

/** Stopping has 10 s in all. Work that hangs longer is left: it is claimed again, and every step may run twice. */
const STOP_TIMEOUT_MS = 9_500;
/** Kept free for operator's commands beside the service, and for PostgreSQL's own. */
const RESERVED_CONNECTIONS = 15;

/** Serves until SIGTERM or SIGINT, then stops cleanly and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const stopRequested = waitForStopSignal();
  stopRequested.then(() => forceExitAfterTimeout(options));
  if (options.child) return await serveAsChild(config, options, stopRequested);
  checkConnectionBudget(config, options.processes);
  const database = await acquireDatabase(config, 'own', options.warn);
  try {
    const opened = await openService(config, database.connection, { mayMigrate: true });
    const coins = opened.live?.coins ?? [];
    const announce = (url: string | null) => formatReadyLines(config, { url, coins }).forEach(options.print);
    try {
      formatWarnings(config, coins).forEach(options.warn);
      // Whoever asks it to end meanwhile need not wait for nodes.
      await Promise.race([checkCoins(coins, options.warn), stopRequested]);
      await prepareSandbox(opened);
      await warnAboutUnknownHosts(opened.service, options.warn);
      // Whoever holds the folder's lock is alone: leases of a process that was killed need not run out.
      if (config.DATABASE_URL === null) {
        await releaseAllLeases(opened.db);
        await abandonUploads(opened.service);
      }
    } finally {
      await opened.close();
    }
    if (options.processes > 1) {
      await serveWithChildren(config, options, stopRequested, announce);
    } else {
      const running = await startService(config, database.connection, { roles: options.roles });
      announce(running.url);
      await stopRequested;
      await running.stop();
    }
  } finally {
    await database.stop();
  }
}

async function serveAsChild(
  config: Config,
  options: ServeOptions,
  stopRequested: Promise<void>,
): Promise<void> {
  // A parent that died takes the database with it: nothing is left to serve.
  const orphaned = new Promise<void>((resolve) => process.once('disconnect', resolve));
  const database = await acquireDatabase(config, 'join', options.warn);
  const { roles } = options;
  const running = await startService(config, database.connection, { roles, sharedPort: true });
  process.send?.({ url: running.url });
  await Promise.race([stopRequested, orphaned]);
  await running.stop();
  await database.stop();
  // The channel to the parent would keep this process alive.
  if (process.connected) process.disconnect();
}

/** A sandbox that was made with simulated machines has hosts that a real driver does not: what is sold there is never made. */
async function warnAboutUnknownHosts({ db, compute }: Service, warn: (line: string) => void): Promise<void> {
  const unknownHosts = (await listHosts(db)).filter(
    ({ name }) => compute.hosts && !compute.hosts.includes(name),
  );
  if (unknownHosts.length === 0) return;
  const names = unknownHosts.map(({ name }) => name).join(', ');
  warn(
    `skerryd: the inventory has hosts that SKERRY_QEMU_HOSTS does not name: ${names}; drain them, or take a fresh folder`,
  );
}

/** The embedded database has so many connections, and operator's commands want some too. */
function checkConnectionBudget(config: Config, processes: number): void {
  if (config.DATABASE_URL !== null) return;
  const needed = processes * connectionsPerProcess(config);
  const available = EMBEDDED_CONNECTIONS - RESERVED_CONNECTIONS;
  if (needed <= available) return;
  throw new OperatorError(
    `SKERRY_DB_POOL: ${processes} processes would use ${needed} connections and the embedded database has ${available}; ` +
      'lower it, start fewer processes, or give a PostgreSQL of your own by DATABASE_URL',
  );
}

function forceExitAfterTimeout(options: ServeOptions): void {
  setTimeout(() => {
    options.warn(`skerryd: not everything stopped within ${STOP_TIMEOUT_MS / 1_000} s; leaving it`);
    process.exit(1);
  }, STOP_TIMEOUT_MS).unref();
}

/** Resolves at the first SIGTERM or SIGINT. */
function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

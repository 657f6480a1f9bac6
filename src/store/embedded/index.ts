/**
 * The embedded database: a real PostgreSQL that starts and stops with the service, for the sandbox and the
 * tests. What makes that safe, in the order in which it happens:
 *
 * 1. home: where the cluster may live and as whom PostgreSQL runs, for it refuses root.
 * 2. lock: one flock per home. PostgreSQL and all its helpers hold it with us, so whoever takes it knows
 *    that nothing of an earlier run lives. What such a run left behind may then be removed without asking.
 * 3. cluster: made aside, synced, and renamed into place, so a kill leaves a whole one or none.
 * 4. watch: started before the database. When this process dies, by whatever signal, the watch stops the
 *    database cleanly; the lock is free only when both are gone. PostgreSQL's own log makes every
 *    committed row survive even if the watch is killed as well.
 * 5. server and keeper: PostgreSQL in a session of its own, reached by a socket in a private folder. If it
 *    dies while we live, it is started again on the same socket, once all its processes are gone.
 *
 * Stopping goes the other way round. Any step may be cut short by a kill; the next start mends it.
 */
import { resolve } from 'node:path';
import { findBinaries } from './binaries.ts';
import { DATABASE, prepareCluster } from './cluster.ts';
import { exists } from './files.ts';
import { findHome, openHome } from './home.ts';
import { acquireLock, findLockOwner } from './lock.ts';
import { readPidFile } from './pidfile.ts';
import { servesCluster } from './process.ts';
import { launch } from './server.ts';
import { createSocketFolder, PORT, removeSocketFolder, removeStaleFiles } from './socket.ts';
import { supervise } from './supervisor.ts';
import { startWatchdog } from './watchdog.ts';

export { FolderInUseError as FolderInUse } from './lock.ts';

export interface EmbeddedDatabase {
  /** Connection settings for `pg`: `host` is the folder of the socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** Stops the database cleanly and releases the folder, within 10 s. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the database of a data folder, and makes both when they are missing. Every error is one line that
 * says what is wrong and what to do. `log` gets a line when the database crashed and when it runs again;
 * `onRestart` is called after the latter: all connections were lost.
 */
export async function startEmbedded(options: {
  dataDir: string;
  log?: (line: string) => void;
  onRestart?: () => void;
}): Promise<EmbeddedDatabase> {
  const { log = () => {}, onRestart = () => {} } = options;
  const cleanups: (() => Promise<void>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (const step of cleanups.splice(0).reverse()) await step().catch((error: Error) => log(error.message));
  };
  try {
    const home = await openHome(options.dataDir);
    const lock = await acquireLock(home);
    cleanups.push(lock.release);
    const binaries = await findBinaries(home);
    await prepareCluster(home, binaries, lock);
    await removeStaleFiles(home, null);
    const socket = await createSocketFolder(home);
    cleanups.push(() => removeSocketFolder(socket));
    const watchdog = await startWatchdog(home, binaries, lock, socket);
    cleanups.push(watchdog.dismiss);
    const launchClean = async () => {
      await removeStaleFiles(home, socket);
      return await launch(home, binaries, lock, socket);
    };
    const supervisor = await supervise(launchClean, { log, onRestart });
    cleanups.push(supervisor.stop);
    let stopping: Promise<void> | null = null;
    const stop = (): Promise<void> => {
      stopping ??= stopAll();
      return stopping;
    };
    return { connection: { host: socket.folder, port: PORT, ...DATABASE }, stop };
  } catch (error) {
    await stopAll();
    throw explainSystemError(error, options.dataDir);
  }
}

/**
 * How to connect to the database that another process of ours runs on this folder (an operator's command
 * beside a running service), or null when none runs. Throws one line when the folder may not be read.
 */
export async function findEmbedded(options: {
  dataDir: string;
}): Promise<EmbeddedDatabase['connection'] | null> {
  try {
    const home = await findHome(options.dataDir);
    if (home === null || (await findLockOwner(home)) === null) return null;
    const server = await readPidFile(home.cluster);
    if (!server?.ready || !(await servesCluster(server.pid, home.cluster))) return null;
    return { host: server.socketFolder, port: server.port, ...DATABASE };
  } catch (error) {
    throw explainSystemError(error, options.dataDir);
  }
}

/** Whether a data folder has a database, running or not. */
export async function embeddedExists(options: { dataDir: string }): Promise<boolean> {
  const home = await findHome(options.dataDir);
  return home !== null && (await exists(home.cluster));
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'a folder above it is not there and cannot be made',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a part of the path is not a folder',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'a symbolic link is in the way',
};

/** Turns what a system call said into one line with a cure; other errors are in plain words already. */
function explainSystemError(error: unknown, dataDir: string): unknown {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  if (reason === undefined) return error;
  const where = path === undefined ? '' : ` at ${path}`;
  return new Error(
    `cannot use the data folder ${resolve(dataDir)} as user ${process.geteuid?.()}: ${reason}${where}; ` +
      'mend that, or set SKERRY_DATA_DIR to a folder that this user may write',
    { cause: error },
  );
}

/**
 * The embedded database: a real PostgreSQL that starts and stops with the service, for the sandbox and the
 * tests. Its safety rests on these parts, in startup order:
 *
 * 1. home: the location of the cluster, and the user that PostgreSQL runs as, because it refuses root.
 * 2. lock: one flock per home. PostgreSQL and all its helpers share it with us, so taking it proves that no
 *    process of an earlier run is alive. Any files of such a run may then be removed.
 * 3. cluster: created under a temporary name, synced, and renamed, so that a kill leaves a complete one or
 *    none.
 * 4. watchdog: started before the database. If this process dies, by any signal, the watchdog stops the
 *    database cleanly; the lock is free only when both have exited. If the watchdog is killed as well,
 *    PostgreSQL's write-ahead log preserves every committed row.
 * 5. server and supervisor: PostgreSQL in its own session, on a socket in a private directory. If it crashes
 *    while we run, it is restarted on the same socket, after all its processes have exited.
 *
 * Stopping runs in the reverse order. A kill may interrupt any step; the next start recovers.
 */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HOUR_MS } from '../../kernel/time.ts';
import { archiveSettings, prepareSpool } from './archiving.ts';
import { findBinaries } from './binaries.ts';
import { DATABASE, prepareCluster } from './cluster.ts';
import { exists, isUnlocked } from './files.ts';
import { findHome, openHome } from './home.ts';
import { acquireLock, findLockOwner } from './lock.ts';
import { readPidFile, servesCluster } from './process.ts';
import { replaySettings, requireWhole } from './replay.ts';
import { launch, READY_TIMEOUT_MS } from './server.ts';
import { createSocketFolder, PORT, removeSocketFolder, removeStaleFiles } from './socket.ts';
import { supervise } from './supervisor.ts';
import { startWatchdog } from './watchdog.ts';

export { FolderInUseError as FolderInUse } from './lock.ts';

/** The log of days takes hours. */
const REPLAY_TIMEOUT_MS = 24 * HOUR_MS;

export interface EmbeddedDatabase {
  /** Connection settings for `pg`: `host` is the directory of the socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** Stops the database cleanly and releases the directory, within 10 s. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the database of a data directory, creating both if needed. Every error is one line with the problem
 * and a remedy. `log` receives a line when the database crashed and when it is running again; `onRestart` is
 * called after the latter: all connections were lost.
 */
export async function startEmbedded(options: {
  dataDir: string;
  /** Whether each finished segment of the write-ahead log is copied to the spool. */
  isArchiving?: boolean;
  /** For a base that a restore placed: replays the log up to this time, or as far as there is one. */
  replay?: { readonly until: Date | null };
  /** Ends a start that takes long, with an error. */
  signal?: AbortSignal | undefined;
  log?: (line: string) => void;
  onRestart?: () => void;
}): Promise<EmbeddedDatabase> {
  const { log = () => {}, onRestart = () => {}, isArchiving = false, replay, signal } = options;
  const cleanups: (() => Promise<void>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (const step of cleanups.splice(0).reverse()) await step().catch((error: Error) => log(error.message));
  };
  try {
    const home = await openHome(options.dataDir);
    const lock = await acquireLock(home);
    cleanups.push(lock.release);
    if (replay === undefined) await requireWhole(home);
    const binaries = await findBinaries(home);
    await prepareCluster(home, binaries, lock);
    await prepareSpool(home, isArchiving);
    await removeStaleFiles(home, null);
    const socket = await createSocketFolder(home);
    cleanups.push(() => removeSocketFolder(socket));
    const watchdog = await startWatchdog(home, binaries, lock, socket);
    cleanups.push(watchdog.dismiss);
    const settings =
      replay === undefined ? archiveSettings(home, isArchiving) : replaySettings(home, replay.until);
    const readyTimeoutMs = replay === undefined ? READY_TIMEOUT_MS : REPLAY_TIMEOUT_MS;
    const launchClean = async () => {
      await removeStaleFiles(home, socket);
      return await launch(home, binaries, lock, { socket, settings, readyTimeoutMs, signal });
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
 * Returns how to connect to the database that another process runs in this directory (for an operator command
 * while the service is running), or null when none is running. Throws a one-line error when the directory is
 * not readable.
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

/** Deletes a data directory with its database, which is stopped. */
export async function removeEmbedded(options: { dataDir: string }): Promise<void> {
  const home = await findHome(options.dataDir);
  if (home !== null) await rm(home.folder, { recursive: true, force: true });
  await rm(options.dataDir, { recursive: true, force: true });
}

/** Deletes a data directory unless a process still runs its database. Returns whether it did. */
export async function removeAbandoned(options: { dataDir: string }): Promise<boolean> {
  const home = await findHome(options.dataDir);
  if (home !== null && !(await isUnlocked(home.lock))) return false;
  await removeEmbedded(options);
  return true;
}

/** Whether a data directory has a database, running or not. */
export async function embeddedExists(options: { dataDir: string }): Promise<boolean> {
  const home = await findHome(options.dataDir);
  return home !== null && (await exists(home.cluster));
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'a parent directory does not exist and cannot be created',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'a part of the path is not a directory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  ELOOP: 'the path has too many symbolic links',
};

/** Turns a system call error into one line with a remedy. Other errors already have one. */
function explainSystemError(error: unknown, dataDir: string): unknown {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  if (reason === undefined) return error;
  const where = path === undefined ? '' : ` at ${path}`;
  return new Error(
    `cannot use the data directory ${resolve(dataDir)} as user ${process.geteuid?.()}: ${reason}${where}; ` +
      'fix that, or set SKERRY_DATA_DIR to a directory that this user can write to',
    { cause: error },
  );
}

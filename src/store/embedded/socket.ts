/** The directory of the database's socket: private and short, because a socket path has at most 107 bytes. */
import { chmod, chown, lstat, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { canEnter } from './child.ts';
import { chownToDatabaseUser, type Home } from './home.ts';
import { FolderInUseError } from './lock.ts';
import { pidFilePath, readPidFile, servesCluster } from './process.ts';

/** Part of the socket's file name; no TCP port is opened. */
export const PORT = 5432;

const SOCKET_FILE = `.s.PGSQL.${PORT}`;
const LONGEST_PATH_BYTES = 107;
const TEMPORARY_PREFIX = 'skerry-';

export interface Socket {
  readonly folder: string;
  /** Whether the directory is temporary and is removed when the database has stopped. */
  readonly temporary: boolean;
}

/** Creates this run's socket directory: in the home, or for a short path in the temporary directory. */
export async function createSocketFolder(home: Home): Promise<Socket> {
  if (fitsSocketPath(home.run)) {
    await chownToDatabaseUser(home, home.run);
    return { folder: home.run, temporary: false };
  }
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    if (!fitsSocketPath(join(parent, `${TEMPORARY_PREFIX}XXXXXX`))) continue;
    if (home.user !== null && !(await canEnter(home.user, parent))) continue;
    const folder = await mkdtemp(join(parent, TEMPORARY_PREFIX));
    if (home.user !== null) await chown(folder, home.user.uid, home.user.gid);
    await chmod(folder, 0o700);
    return { folder, temporary: true };
  }
  throw new Error(`the path ${home.run} is too long for a socket; set SKERRY_DATA_DIR to a shorter path`);
}

export async function removeSocketFolder(socket: Socket): Promise<void> {
  if (!socket.temporary) return;
  for (const file of socketFiles(socket.folder)) await rm(file, { force: true });
  await rmdir(socket.folder).catch(() => {});
}

/**
 * Removes the files of a database that did not stop cleanly: `postmaster.pid` (its pid may belong to another
 * process by now, which would make PostgreSQL refuse to start), its socket and the socket's lock file. Only
 * for the holder of the lock, which proves that none of our databases is running. A server that someone else
 * started on the cluster does not hold our lock: it is recognized by its program and working directory, and
 * refused. `current` is the socket of this run, if it already exists: its directory stays.
 */
export async function removeStaleFiles(home: Home, current: Socket | null): Promise<void> {
  const stalePidFile = await readPidFile(home.cluster);
  if (stalePidFile !== null && (await servesCluster(stalePidFile.pid, home.cluster))) {
    throw new FolderInUseError(
      `the data directory ${home.dataDir} is in use by a PostgreSQL server that Skerry did not start, ` +
        `process ${stalePidFile.pid}; stop it first`,
    );
  }
  for (const file of socketFiles(current?.folder ?? home.run)) await rm(file, { force: true });
  if (stalePidFile !== null && stalePidFile.socketFolder !== current?.folder)
    await removeStaleFolder(home, stalePidFile.socketFolder);
  await rm(pidFilePath(home.cluster), { force: true });
}

async function removeStaleFolder(home: Home, folder: string): Promise<void> {
  if (!basename(folder).startsWith(TEMPORARY_PREFIX)) return;
  const stats = await lstat(folder).catch(() => null);
  if (stats?.isDirectory() && stats.uid === (home.user?.uid ?? process.geteuid?.())) {
    await removeSocketFolder({ folder, temporary: true });
  }
}

function socketFiles(folder: string): string[] {
  return [join(folder, SOCKET_FILE), join(folder, `${SOCKET_FILE}.lock`)];
}

function fitsSocketPath(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_FILE)) <= LONGEST_PATH_BYTES;
}

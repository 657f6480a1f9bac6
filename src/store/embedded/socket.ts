/** The folder of the database's socket: private, and short enough, for a socket's path has 107 bytes at most. */
import { chmod, chown, lstat, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { chownToDatabaseUser, type Home } from './home.ts';
import { FolderInUseError } from './lock.ts';
import { pidFilePath, readPidFile } from './pidfile.ts';
import { servesCluster } from './process.ts';
import { canEnter } from './user.ts';

/** Names the socket's file; no TCP port is opened. */
export const PORT = 5432;

const SOCKET_FILE = `.s.PGSQL.${PORT}`;
const LONGEST_PATH_BYTES = 107;
const TEMPORARY_PREFIX = 'skerry-';

export interface Socket {
  readonly folder: string;
  /** Whether the folder is a temporary one, to be removed when the database has stopped. */
  readonly temporary: boolean;
}

/** The socket folder of this run: in the home, or where that is too long a fresh one in the temporary folder. */
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
  throw new Error(`the path of ${home.run} is too long for a socket; set SKERRY_DATA_DIR to a shorter one`);
}

export async function removeSocketFolder(socket: Socket): Promise<void> {
  if (!socket.temporary) return;
  for (const file of socketFiles(socket.folder)) await rm(file, { force: true });
  await rmdir(socket.folder).catch(() => {});
}

/**
 * Removes what a database that did not stop cleanly left: `postmaster.pid` (whose pid may by now be a
 * stranger's, at which PostgreSQL would refuse to start), its socket and the socket's lock file. Only for
 * the holder of the lock, who knows that none of ours lives. A server that someone else started on the
 * cluster does not hold our lock: it is recognised by its program and working folder and refused. `current` is the
 * socket of this run, if it has one already: its folder stays.
 */
export async function removeStaleFiles(home: Home, current: Socket | null): Promise<void> {
  const stalePidFile = await readPidFile(home.cluster);
  if (stalePidFile !== null && (await servesCluster(stalePidFile.pid, home.cluster))) {
    throw new FolderInUseError(
      `the data folder ${home.dataDir} is in use by a PostgreSQL that Skerry did not start, process ${stalePidFile.pid}; stop it first`,
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

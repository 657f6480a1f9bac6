/**
 * The home of a data directory's database. Usually it is `pg` in the data directory. When root runs the
 * service in a tree that the database's user cannot enter (such as a clone in a 0700 home directory), it is
 * in /var/lib/skerry, and the data directory's file `location` names it: the same data directory finds it
 * again, and deleting the data directory means a new database.
 *
 * A home contains `lock` and `log`, which belong to the service, and `cluster` and `run` (the socket), which
 * belong to the database's user. The service owns the home itself, so that root never opens a file which that
 * user could replace.
 */
import { chmod, chown, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncPath } from '../../kernel/files.ts';
import { canEnter, databaseUser, run, type SystemUser } from './child.ts';
import { exists, ignoreExisting } from './files.ts';
import { claimHome, createExternalHome, readRememberedHome } from './location.ts';

export interface Home {
  /** The data directory, absolute and with symbolic links resolved. */
  readonly dataDir: string;
  readonly folder: string;
  /** The user that PostgreSQL runs as; null: our own. */
  readonly user: SystemUser | null;
  readonly lock: string;
  readonly log: string;
  readonly cluster: string;
  readonly run: string;
}

/** Finds the existing home of a data directory, or null. Changes nothing. */
export async function findHome(dataDir: string): Promise<Home | null> {
  const found = await realpath(dataDir).catch(() => null);
  if (found === null) return null;
  const folder = (await readRememberedHome(found)) ?? join(found, 'pg');
  return (await exists(folder)) ? homePaths(found, await realpath(folder), null) : null;
}

/** Opens the home of a data directory, creating it if needed, with the correct owners and modes. */
export async function openHome(dataDir: string): Promise<Home> {
  const user = await databaseUser();
  const wanted = resolve(dataDir);
  await mkdir(dirname(wanted), { recursive: true });
  await mkdir(wanted, { mode: 0o700 }).catch(ignoreExisting);
  const found = await realpath(wanted);
  const folder = await chooseFolder(found, user);
  await mkdir(folder).catch(ignoreExisting);
  await syncPath(found);
  const { uid } = await stat(folder);
  if (user !== null && uid !== 0) await chown(folder, 0, 0);
  if (user !== null || uid === process.geteuid?.()) await chmod(folder, user === null ? 0o700 : 0o711);
  return homePaths(found, await realpath(folder), user);
}

/** Makes `folder` and its content private to the database's user. It may come from another machine. */
export async function chownToDatabaseUser(home: Home, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
  if (home.user === null) return;
  const { uid, gid } = await lstat(folder);
  if (uid === home.user.uid && gid === home.user.gid) return;
  // chown changes a directory after its content: interrupted, it starts over next time. -h: do not follow
  // links.
  const { code, output } = await run('chown', ['-R', '-h', `${home.user.uid}:${home.user.gid}`, folder]);
  if (code !== 0) throw new Error(`cannot change the owner of ${folder} to ${home.user.name}: ${output}`);
}

function homePaths(dataDir: string, folder: string, user: SystemUser | null): Home {
  return {
    dataDir,
    folder,
    user,
    lock: join(folder, 'lock'),
    log: join(folder, 'log'),
    cluster: join(folder, 'cluster'),
    run: join(folder, 'run'),
  };
}

async function chooseFolder(dataDir: string, user: SystemUser | null): Promise<string> {
  const inside = join(dataDir, 'pg');
  const remembered = await readRememberedHome(dataDir);
  if (remembered !== null) {
    await claimHome(dataDir, remembered);
    return remembered;
  }
  if (user === null || (await grantAccess(user, dataDir))) return inside;
  if (await exists(join(inside, 'cluster'))) {
    throw new Error(
      `the user ${user.name}, who runs the embedded database for root, cannot access ${inside}; ` +
        'start Skerry as the user who created the database, or move the data directory to a path that ' +
        'other users can enter',
    );
  }
  const externalHome = await createExternalHome(dataDir);
  await claimHome(dataDir, externalHome);
  return externalHome;
}

/**
 * Whether the database's user can enter the data directory. Grants that user's group access to a private one,
 * to enter only; its parent directories are never changed.
 */
async function grantAccess(user: SystemUser, dataDir: string): Promise<boolean> {
  if (await canEnter(user, dataDir)) return true;
  const { uid, mode } = await stat(dataDir);
  const isPrivate = [0o700, 0o710].includes(mode & 0o777);
  if (!isPrivate || !(await canEnter(user, dirname(dataDir)))) return false;
  await chown(dataDir, uid, user.gid);
  await chmod(dataDir, 0o710);
  return await canEnter(user, dataDir);
}

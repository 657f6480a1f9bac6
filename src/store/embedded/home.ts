/**
 * Where a data folder's database lives. Usually that is `pg` in the data folder. When root runs the service
 * in a tree that the database's user cannot pass (a clone under a 0700 home, say), it lives under
 * /var/lib/skerry and the data folder's file `location` names it: the same data folder finds it again, and
 * deleting the data folder means a fresh database.
 *
 * A home holds `lock` and `log`, which are ours, and `cluster` and `run` (the socket), which are the
 * database user's. The home itself is ours, so that root never opens a file which that user could replace.
 */
import { chmod, chown, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { run, type SystemUser } from './child.ts';
import { exists, ignoreExisting, syncPath } from './files.ts';
import { claimHome, createExternalHome, readRememberedHome } from './location.ts';
import { canEnter, databaseUser } from './user.ts';

export interface Home {
  /** The data folder, absolute and without links. */
  readonly dataDir: string;
  readonly folder: string;
  /** As whom PostgreSQL runs here; null: as ourselves. */
  readonly user: SystemUser | null;
  readonly lock: string;
  readonly log: string;
  readonly cluster: string;
  readonly run: string;
}

/** The home of a data folder as it is now, or null when it has none yet. Changes nothing. */
export async function findHome(dataDir: string): Promise<Home | null> {
  const found = await realpath(dataDir).catch(() => null);
  if (found === null) return null;
  const folder = (await readRememberedHome(found)) ?? join(found, 'pg');
  return (await exists(folder)) ? homePaths(found, await realpath(folder), null) : null;
}

/** The home of a data folder, made when it is missing, with owners and modes put right. */
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

/** Makes `folder` private to the database's user, with all it holds (it may come from another machine). */
export async function chownToDatabaseUser(home: Home, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
  if (home.user === null) return;
  const { uid, gid } = await lstat(folder);
  if (uid === home.user.uid && gid === home.user.gid) return;
  // chown changes a folder after what is in it: interrupted, it starts again next time. -h: no links followed.
  const { code, output } = await run('chown', ['-R', '-h', `${home.user.uid}:${home.user.gid}`, folder]);
  if (code !== 0) throw new Error(`cannot give ${folder} to the user ${home.user.name}: ${output}`);
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
      `the user ${user.name}, as whom root runs the embedded database, cannot reach the one in ${inside}: ` +
        'start Skerry as the user who made it, or move the data folder to a place that others may pass',
    );
  }
  const externalHome = await createExternalHome(dataDir);
  await claimHome(dataDir, externalHome);
  return externalHome;
}

/**
 * Whether the database's user can pass through the data folder. A private one is opened to that user's
 * group, for passing only; the folders above it are not ours to change.
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

/**
 * Homes outside the data directory, for root: created in /var/lib/skerry and named by the file `location`.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { syncPath, undefinedIfMissing } from '../../kernel/files.ts';
import { createSystemFolder, exists, isUnlocked } from './files.ts';

const SYSTEM_FOLDER = '/var/lib/skerry';

/** Returns the home that `location` names; null without that file. Throws if the home is unusable. */
export async function readRememberedHome(dataDir: string): Promise<string | null> {
  const file = join(dataDir, 'location');
  const folder = await readPath(file);
  if (folder === null) return null;
  if (dirname(folder) !== SYSTEM_FOLDER) {
    throw new Error(
      `${file} must name a directory in ${SYSTEM_FOLDER}; fix it, or delete it for a new database`,
    );
  }
  if ((await stat(folder).catch(() => null)) === null) {
    throw new Error(
      `${file} names ${folder}, which does not exist; restore it, or delete ${file} for a new database`,
    );
  }
  return folder;
}

/**
 * Records the owner in the home. Throws when another data directory still names this home: a copied data
 * directory must not write to the database of the original.
 */
export async function claimHome(dataDir: string, folder: string): Promise<void> {
  const ownerFile = join(folder, 'data-folder');
  const other = await readPath(ownerFile);
  if (other === dataDir) return;
  if (other !== null && (await readPath(join(other, 'location'))) === folder) {
    throw new Error(
      `${dataDir} is a copy of ${other}, and both name the database in ${folder}; ` +
        `delete ${join(dataDir, 'location')} to start with a new one here`,
    );
  }
  await writeFile(ownerFile, `${dataDir}\n`);
}

/** Creates a home in /var/lib/skerry and names it in the data directory. Of concurrent calls, one wins. */
export async function createExternalHome(dataDir: string): Promise<string> {
  await createSystemFolder(SYSTEM_FOLDER);
  await removeOrphanedHomes();
  const folder = join(SYSTEM_FOLDER, randomBytes(8).toString('hex'));
  await mkdir(folder);
  const draft = join(dataDir, `location.${process.pid}`);
  try {
    await writeFile(draft, `${folder}\n`, { flush: true });
    await link(draft, join(dataDir, 'location'));
    await syncPath(dataDir);
    return folder;
  } catch (error) {
    await rmdir(folder);
    const winner = await readRememberedHome(dataDir);
    if (winner === null) throw error;
    return winner;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readPath(file: string): Promise<string | null> {
  return (await readFile(file, 'utf8').catch(undefinedIfMissing))?.trim() ?? null;
}

/**
 * Homes outside a data directory are not deleted with it. Removes those not in use whose data directory was
 * in the temporary directory and no longer exists (mostly from tests). Others are kept: their data directory
 * may be on a disk that is not mounted, or may have been moved.
 */
async function removeOrphanedHomes(): Promise<void> {
  for (const name of await readdir(SYSTEM_FOLDER)) {
    const folder = join(SYSTEM_FOLDER, name);
    const dataDir = (await readFile(join(folder, 'data-folder'), 'utf8').catch(() => '')).trim();
    if (!dataDir.startsWith('/tmp/') && !dataDir.startsWith(`${tmpdir()}/`)) continue;
    if ((await exists(dataDir)) || !(await isUnlocked(join(folder, 'lock')))) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

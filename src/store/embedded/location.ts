/** Homes away from the data folder, for root: made under /var/lib/skerry, named by the file `location`. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSystemFolder, syncPath } from './files.ts';
import { removeOrphanedHomes } from './sweep.ts';

const SYSTEM_FOLDER = '/var/lib/skerry';

/** The home that the data folder's `location` names, or null without that file. Throws when it is not usable. */
export async function readRememberedHome(dataDir: string): Promise<string | null> {
  const file = join(dataDir, 'location');
  const folder = await readNote(file);
  if (folder === null) return null;
  if (dirname(folder) !== SYSTEM_FOLDER) {
    throw new Error(
      `${file} must name a folder in ${SYSTEM_FOLDER}; mend it, or delete it for a fresh database`,
    );
  }
  if ((await stat(folder).catch(() => null)) === null) {
    throw new Error(
      `${file} names ${folder}, which is gone; bring it back, or delete ${file} for a fresh database`,
    );
  }
  return folder;
}

/**
 * Notes in the home whose it is. Throws when another data folder still names it: a copied data folder must
 * not write into the database of the first.
 */
export async function claimHome(dataDir: string, folder: string): Promise<void> {
  const note = join(folder, 'data-folder');
  const other = await readNote(note);
  if (other === dataDir) return;
  if (other !== null && (await readNote(join(other, 'location'))) === folder) {
    throw new Error(
      `${dataDir} is a copy of ${other}, and both name the database in ${folder}; ` +
        `delete ${join(dataDir, 'location')} to begin a fresh one here`,
    );
  }
  await writeFile(note, `${dataDir}\n`);
}

/** Makes a home under /var/lib/skerry and lets the data folder name it. When two do so at once, one wins. */
export async function createExternalHome(dataDir: string): Promise<string> {
  await createSystemFolder(SYSTEM_FOLDER);
  await removeOrphanedHomes(SYSTEM_FOLDER);
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

async function readNote(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

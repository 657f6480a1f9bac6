/**
 * Homes away from a data folder outlive it: deleting the data folder does not delete them. Those whose data
 * folder lay in the temporary folder and is gone (tests, mostly) are removed here. Others are kept: their
 * data folder may be on a disk that is not mounted just now, or may have moved.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exists } from './files.ts';
import { isUnlocked } from './flock.ts';

/** Removes the homes in `systemFolder` whose data folder was temporary and is gone, unless they are in use. */
export async function removeOrphanedHomes(systemFolder: string): Promise<void> {
  for (const name of await readdir(systemFolder)) {
    const folder = join(systemFolder, name);
    const dataDir = (await readFile(join(folder, 'data-folder'), 'utf8').catch(() => '')).trim();
    if (!dataDir.startsWith('/tmp/') && !dataDir.startsWith(`${tmpdir()}/`)) continue;
    if ((await exists(dataDir)) || !(await isUnlocked(join(folder, 'lock')))) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

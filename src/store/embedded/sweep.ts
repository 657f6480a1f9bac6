/**
 * Homes outside a data directory are not deleted with it. This removes homes whose data directory was in the
 * temporary directory and no longer exists (mostly from tests). Others are kept: their data directory may be
 * on a disk that is not mounted, or may have been moved.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exists } from './files.ts';
import { isUnlocked } from './flock.ts';

/**
 * Removes the homes in `systemFolder` whose temporary data directory no longer exists, unless they are in
 * use.
 */
export async function removeOrphanedHomes(systemFolder: string): Promise<void> {
  for (const name of await readdir(systemFolder)) {
    const folder = join(systemFolder, name);
    const dataDir = (await readFile(join(folder, 'data-folder'), 'utf8').catch(() => '')).trim();
    if (!dataDir.startsWith('/tmp/') && !dataDir.startsWith(`${tmpdir()}/`)) continue;
    if ((await exists(dataDir)) || !(await isUnlocked(join(folder, 'lock')))) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

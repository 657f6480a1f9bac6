/** Where test runs put their scratch folders: in memory if there is room, else on the disk. */
import { access, constants as FILE, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const RAM_DISK = '/dev/shm';
const MEMORY_NEEDED_BYTES = 4 * 1024 ** 3;

/** Prefers memory: every test creates its own database, which is about a thousand small files. */
export async function scratchParent(): Promise<string> {
  const { bavail, bsize } = await statfs(RAM_DISK).catch(() => ({ bavail: 0, bsize: 0 }));
  const isWritable = await access(RAM_DISK, FILE.W_OK).then(
    () => true,
    () => false,
  );
  return isWritable && bavail * bsize >= MEMORY_NEEDED_BYTES ? RAM_DISK : tmpdir();
}

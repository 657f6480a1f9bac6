/** Small JSON files, replaced atomically: written to a temporary file, flushed, then renamed. */
import { open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ComputeError } from '../../../ports/compute.ts';

/** The disk with the driver's files is full. */
export class DiskFullError extends ComputeError {
  constructor() {
    super('host', 'the disk of the host is full');
  }
}

/** Returns undefined if the file does not exist. Throws a `host` error if it is not valid JSON. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) throw damagedRecord(path);
    throw error;
  }
}

/** Reads a record and checks that it belongs to its file name. A mismatch counts as damage. */
export async function readRecordFile<T extends object>(
  path: string,
  isOwn: (record: Partial<T>) => boolean,
): Promise<T | undefined> {
  const parsed = await readJson<T | null>(path);
  if (parsed === undefined) return undefined;
  if (parsed === null || !isOwn(parsed)) throw damagedRecord(path);
  return parsed;
}

/** The message omits the file's content. */
function damagedRecord(path: string): ComputeError {
  const name = join(basename(dirname(path)), basename(path));
  return new ComputeError('host', `the record ${name} is damaged: restore or delete the file`);
}

/** Writes a file that only root can read. Throws `DiskFullError` if there is no space. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  try {
    await writeAtomically(path, JSON.stringify(value));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new DiskFullError() : error;
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const tempPath = `${path}.new`;
  const file = await open(tempPath, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(tempPath, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Small files of JSON that are whole whatever happens: written beside, flushed, then put in place. */
import { open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ComputeError } from '../../../ports/compute.ts';

/** Nothing more can be written where this driver keeps things. */
export class DiskFull extends ComputeError {
  constructor() {
    super('host', 'the disk of the host is full');
  }
}

/** Undefined when there is no such file. Fails as `host` when it holds something else. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) throw unreadable(path);
    throw error;
  }
}

/** The same of a record, which says whose it is: one under another's name, or without one, is no record. */
export async function readOwn<T extends object>(
  path: string,
  isOwn: (record: Partial<T>) => boolean,
): Promise<T | undefined> {
  const read = await readJson<T | null>(path);
  if (read === undefined) return undefined;
  if (read === null || !isOwn(read)) throw unreadable(path);
  return read;
}

/** What it holds is not repeated. */
function unreadable(path: string): ComputeError {
  const name = join(basename(dirname(path)), basename(path));
  return new ComputeError('host', `the record ${name} is damaged: restore the file, or remove it`);
}

/** Readable by root alone: what it holds is nobody else's. Fails as `DiskFull` where that is why. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  try {
    await write(path, JSON.stringify(value));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new DiskFull() : error;
  }
}

async function write(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

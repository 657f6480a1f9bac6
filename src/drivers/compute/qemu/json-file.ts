/** Small files of JSON that are whole whatever happens: written beside, flushed, then put in place. */
import { open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ComputeError } from '../../../ports/compute.ts';

/** Nothing more can be written where this driver keeps things. */
export class DiskFullError extends ComputeError {
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
    if (error instanceof SyntaxError) throw damagedRecord(path);
    throw error;
  }
}

/** The same of a record, which says whose it is: one under another's name, or without one, is no record. */
export async function readRecordFile<T extends object>(
  path: string,
  isOwn: (record: Partial<T>) => boolean,
): Promise<T | undefined> {
  const parsed = await readJson<T | null>(path);
  if (parsed === undefined) return undefined;
  if (parsed === null || !isOwn(parsed)) throw damagedRecord(path);
  return parsed;
}

/** What it holds is not repeated. */
function damagedRecord(path: string): ComputeError {
  const name = join(basename(dirname(path)), basename(path));
  return new ComputeError('host', `the record ${name} is damaged: restore the file, or remove it`);
}

/** Readable by root alone: what it holds is nobody else's. Fails as `DiskFull` where that is why. */
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

/** Files of the driver. A record is a small JSON file. A file gets its final name when it is complete. */
import { access, open, readdir, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncPath, undefinedIfMissing } from '../../../kernel/files.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { QemuHost } from './host.ts';
import { isId } from './layout.ts';

/** The disk with the driver's files is full. */
export class DiskFullError extends ComputeError {
  constructor() {
    super('host', 'the disk of the host is full');
  }
}

/** Returns undefined if the file does not exist. Throws a `host` error if it is not valid JSON. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    throw damagedRecord(path);
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

/** Reads every record in a folder and skips damaged ones. */
export async function readAllRecords<T>(
  host: QemuHost,
  folder: string,
  read: (id: string) => Promise<T | undefined>,
): Promise<T[]> {
  const names = (await readdir(folder).catch(undefinedIfMissing)) ?? [];
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => basename(name, '.json'));
  const records = await Promise.all(
    ids.filter(isId).map((id) =>
      read(id).catch((err) => {
        host.log.error({ err }, 'skipping an unreadable record');
        return undefined;
      }),
    ),
  );
  return records.filter((record) => record !== undefined);
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
  } finally {
    await file.close();
  }
  await commitFile(tempPath, path);
  await syncPath(dirname(path));
}

/** Flushes the file and renames it, so that it is complete or absent even after a power failure. */
export async function commitFile(tempPath: string, path: string): Promise<void> {
  await syncPath(tempPath);
  await rename(tempPath, path);
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

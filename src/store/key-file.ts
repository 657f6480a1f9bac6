/** The file that holds the service's secret keys when no setting does: `secret.key` in the data folder. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../kernel/operator-error.ts';

export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/** The key list in the file, or undefined when there is no file. Refuses a file that others may read. */
export function readKeyFile(dataDir: string): string | undefined {
  const path = keyFilePath(dataDir);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if ((found.mode & 0o077) !== 0) {
    throw new OperatorError(`other users may read the key file ${path}: run chmod 600 on it`);
  }
  return readFileSync(path, 'utf8').trim();
}

/**
 * Writes a new key file, mode 0600, and returns what the file holds: another process may have been first. The
 * file appears whole or not at all, and is on disk before a database is sealed with it.
 */
export function createKeyFile(dataDir: string, keyList: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = keyFilePath(dataDir);
  const temporaryPath = `${path}.${process.pid}`;
  rmSync(temporaryPath, { force: true });
  const file = openSync(temporaryPath, 'wx', 0o600);
  try {
    writeSync(file, `${keyList}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(temporaryPath, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporaryPath, { force: true });
  }
  syncFolder(dataDir);
  return readKeyFile(dataDir) ?? keyList;
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

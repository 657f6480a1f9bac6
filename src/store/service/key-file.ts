/** The file that holds the service's secret keys when no setting does: `secret.key` in the data directory. */
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
import { OperatorError } from '../../kernel/operator-error.ts';

export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * Returns the key list in the file, or undefined when there is no file. Refuses a file that others can read.
 */
export function readKeyFile(dataDir: string): string | undefined {
  const path = keyFilePath(dataDir);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if ((found.mode & 0o077) !== 0) {
    throw new OperatorError(`the key file ${path} is readable by other users; run: chmod 600 ${path}`);
  }
  return readFileSync(path, 'utf8').trim();
}

/**
 * Writes a new key file, mode 0600. Returns the content of the file, because another process may have been
 * first. The file appears atomically, and is synced to disk before a database is sealed with its keys.
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

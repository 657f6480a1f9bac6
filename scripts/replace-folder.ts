/** Brings a folder to what another one holds, file by file, while others read it or do the same. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What is being written stands beside its place under the writer's process id. */
const TEMPORARY_NAME = /\.\d+$/;
/** Nobody writes a file for so long: whoever began it is no more. */
const STALE_AFTER_MS = 10 * 60_000;

/** A file is replaced as a whole and only when it changed; what `made` does not hold is removed. */
export function replaceFolder(source: string, folder: string): void {
  const files = listFiles(source);
  for (const file of files) {
    const to = join(folder, file);
    const text = readFileSync(join(source, file));
    if (readIfExists(to)?.equals(text)) continue;
    mkdirSync(dirname(to), { recursive: true });
    const temporary = `${to}.${process.pid}`;
    writeFileSync(temporary, text);
    renameSync(temporary, to);
  }
  const current = new Set(files);
  for (const file of listFiles(folder)) {
    if (!current.has(file) && !isBeingWritten(join(folder, file)))
      rmSync(join(folder, file), { force: true });
  }
}

/** Another one that runs now writes it: it is on its way to its place. */
function isBeingWritten(path: string): boolean {
  if (!TEMPORARY_NAME.test(path)) return false;
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return writtenMs === undefined || Date.now() - writtenMs < STALE_AFTER_MS;
}

/** Undefined: it is not there, or was removed this moment. */
function readIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

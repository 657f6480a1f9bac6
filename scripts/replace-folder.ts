/** Makes a folder equal to another, file by file, while other processes may read it or do the same. */
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

/** Temporary files are next to their target and end in the writer's process id. */
const TEMPORARY_NAME = /\.\d+$/;
/** No write takes this long, so an older temporary file belongs to a process that died. */
const STALE_AFTER_MS = 10 * 60_000;

/** Replaces changed files atomically and removes files that `source` does not have. */
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

/** Whether the file is a temporary file of another process that is still writing. */
function isBeingWritten(path: string): boolean {
  if (!TEMPORARY_NAME.test(path)) return false;
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return writtenMs === undefined || Date.now() - writtenMs < STALE_AFTER_MS;
}

/** Returns undefined if the file does not exist or was just removed. */
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

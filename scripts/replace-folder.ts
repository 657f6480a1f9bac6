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
const BEING_WRITTEN = /\.\d+$/;
/** Nobody writes a file for so long: whoever began it is no more. */
const LEFT_AFTER_MS = 10 * 60_000;

/** A file is replaced as a whole and only when it changed; what `made` does not hold is removed. */
export function replaceFolder(made: string, folder: string): void {
  const files = filesOf(made);
  for (const file of files) {
    const to = join(folder, file);
    const text = readFileSync(join(made, file));
    if (contentOf(to)?.equals(text)) continue;
    mkdirSync(dirname(to), { recursive: true });
    const beside = `${to}.${process.pid}`;
    writeFileSync(beside, text);
    renameSync(beside, to);
  }
  const current = new Set(files);
  for (const file of filesOf(folder)) {
    if (!current.has(file) && !isOfAnother(join(folder, file))) rmSync(join(folder, file), { force: true });
  }
}

/** Another one that runs now writes it: it is on its way to its place. */
function isOfAnother(path: string): boolean {
  if (!BEING_WRITTEN.test(path)) return false;
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return writtenMs === undefined || Date.now() - writtenMs < LEFT_AFTER_MS;
}

/** Undefined: it is not there, or was removed this moment. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

export function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/**
 * Whether anybody still reads stdout. A write to a pipe that nobody reads fails, but who follows something may write nothing for
 * hours: `skerry events | head -1` would hang until the next event. Node has no way to ask the pipe itself, and Linux opens it anew
 * whether it has a reader or not. So the reader is looked up among the processes when it begins, and then watched. One that is not to be
 * seen, because it is outside of a container or somebody else's, is never taken for gone: then the next write tells.
 */
import { fstatSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

const STDOUT = 1;
const LOOK_EVERY_MS = 500;
const OWNER_READS = 0o400;
/** Where it stands behind the name in parentheses. */
const STATE_AT = 0;
const SESSION_AT = 3;

/** Calls `gone` once, unless the function that it gives is called before. */
export function whenReaderGone(gone: () => void): () => void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return () => {};
  const pipe = orNull(() => readlinkSync(`/proc/self/fd/${STDOUT}`));
  if (pipe === null) return () => {};
  // Those who are typed behind one another are in one session; a host has many more.
  const session = statOf('self', SESSION_AT);
  let readers = readersOf(pipe, (pid) => statOf(pid, SESSION_AT) === session);
  if (readers.length === 0) return () => {};
  const timer = setInterval(() => {
    readers = readers.filter((reader) => isHeld(reader, pipe));
    // It may have been handed on.
    if (readers.length === 0) readers = readersOf(pipe, () => true);
    if (readers.length > 0) return;
    clearInterval(timer);
    gone();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The open files, `/proc/12/fd/0`, by which others read the pipe, as far as they are to be seen. */
function readersOf(pipe: string, isAsked: (pid: string) => boolean): readonly string[] {
  const others = (orNull(() => readdirSync('/proc')) ?? []).filter(
    (pid) => /^\d+$/.test(pid) && pid !== String(process.pid),
  );
  return others.filter(isAsked).flatMap((pid) => {
    const files = (orNull(() => readdirSync(`/proc/${pid}/fd`)) ?? []).map((fd) => `/proc/${pid}/fd/${fd}`);
    return files.filter((file) => orNull(() => isReading(file, pipe)) === true);
  });
}

/** The link to an open file has the rights that it was opened with. */
function isReading(file: string, pipe: string): boolean {
  return readlinkSync(file) === pipe && (lstatSync(file).mode & OWNER_READS) !== 0;
}

/** A program that has become another user's by now may hold it all the same; one that has ended holds nothing. */
function isHeld(file: string, pipe: string): boolean {
  try {
    return readlinkSync(file) === pipe;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    return !['Z', 'X', null].includes(statOf(file.split('/')[2] ?? '', STATE_AT));
  }
}

function statOf(pid: string, at: number): string | null {
  const stat = orNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[at] ?? null;
}

/** Processes end while one looks at them. */
function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/**
 * Whether anybody still reads stdout. A write to a pipe that nobody reads fails, but who follows something may write nothing for
 * hours: `skerry events | head -1` would hang until the next event. Node has no way to ask the pipe itself, and Linux opens it anew
 * whether it has a reader or not. So the reader is looked up among the processes when it begins, and then watched. One that is not to be
 * seen, because it is outside of a container or somebody else's, is never taken for gone: then the next write tells.
 */
import { fstatSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

const STDOUT = 1;
const POLL_MS = 500;
const OWNER_READS = 0o400;
/** Where it stands behind the name in parentheses. */
const STATE_FIELD = 0;
const SESSION_FIELD = 3;

/** Calls `gone` once, unless the function that it gives is called before. */
export function onReaderGone(callback: () => void): () => void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return () => {};
  const pipe = tryOrNull(() => readlinkSync(`/proc/self/fd/${STDOUT}`));
  if (pipe === null) return () => {};
  // Those who are typed behind one another are in one session; a host has many more.
  const session = readProcStat('self', SESSION_FIELD);
  let readers = findReaders(pipe, (pid) => readProcStat(pid, SESSION_FIELD) === session);
  if (readers.length === 0) return () => {};
  const timer = setInterval(() => {
    readers = readers.filter((reader) => isStillOpen(reader, pipe));
    // It may have been handed on.
    if (readers.length === 0) readers = findReaders(pipe, () => true);
    if (readers.length > 0) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The open files, `/proc/12/fd/0`, by which others read the pipe, as far as they are to be seen. */
function findReaders(pipe: string, isCandidate: (pid: string) => boolean): readonly string[] {
  const others = (tryOrNull(() => readdirSync('/proc')) ?? []).filter(
    (pid) => /^\d+$/.test(pid) && pid !== String(process.pid),
  );
  return others.filter(isCandidate).flatMap((pid) => {
    const files = (tryOrNull(() => readdirSync(`/proc/${pid}/fd`)) ?? []).map(
      (fd) => `/proc/${pid}/fd/${fd}`,
    );
    return files.filter((file) => tryOrNull(() => isReadEnd(file, pipe)) === true);
  });
}

/** The link to an open file has the rights that it was opened with. */
function isReadEnd(file: string, pipe: string): boolean {
  return readlinkSync(file) === pipe && (lstatSync(file).mode & OWNER_READS) !== 0;
}

/** A program that has become another user's by now may hold it all the same; one that has ended holds nothing. */
function isStillOpen(file: string, pipe: string): boolean {
  try {
    return readlinkSync(file) === pipe;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    return !['Z', 'X', null].includes(readProcStat(file.split('/')[2] ?? '', STATE_FIELD));
  }
}

function readProcStat(pid: string, at: number): string | null {
  const stat = tryOrNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[at] ?? null;
}

/** Processes end while one looks at them. */
function tryOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

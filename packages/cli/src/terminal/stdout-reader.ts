/**
 * Detects that no process reads stdout. Writing to a pipe without a reader fails, but a command that follows
 * events may write nothing for hours: `skerry events | head -1` would hang until the next event. Node cannot
 * ask the pipe, and Linux lets us reopen it with or without a reader. So we find the reading processes at the
 * start and poll them. A reader that we cannot see, outside of a container or of another user, never counts
 * as gone; then the next write fails instead.
 */
import { fstatSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

const STDOUT = 1;
const POLL_MS = 500;
const OWNER_READS = 0o400;
/** Positions after the process name in parentheses. */
const STATE_FIELD = 0;
const SESSION_FIELD = 3;

/** Calls `callback` once, unless the returned function is called first. */
export function onReaderGone(callback: () => void): () => void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return () => {};
  const pipe = tryOrNull(() => readlinkSync(`/proc/self/fd/${STDOUT}`));
  if (pipe === null) return () => {};
  // Processes of one pipeline share a session; the whole host has many more processes.
  const session = readProcStat('self', SESSION_FIELD);
  let readers = findReaders(pipe, (pid) => readProcStat(pid, SESSION_FIELD) === session);
  if (readers.length === 0) return () => {};
  const timer = setInterval(() => {
    readers = readers.filter((reader) => isStillOpen(reader, pipe));
    // The pipe may have been passed to another process.
    if (readers.length === 0) readers = findReaders(pipe, () => true);
    if (readers.length > 0) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Returns the file descriptors, such as `/proc/12/fd/0`, through which other visible processes read the pipe.
 */
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

/** The link to a file descriptor has the permissions that it was opened with. */
function isReadEnd(file: string, pipe: string): boolean {
  return readlinkSync(file) === pipe && (lstatSync(file).mode & OWNER_READS) !== 0;
}

/** A process that changed its user may still hold the pipe; a process that exited does not. */
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

/** Processes may exit while we inspect them. */
function tryOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

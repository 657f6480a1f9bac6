/** Running processes, read from /proc, and `postmaster.pid`, which PostgreSQL writes to its cluster. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { undefinedIfMissing } from '../../kernel/files.ts';

/**
 * Returns when process `pid` started, in clock ticks since boot, or null when it has exited. A zombie has
 * exited. Pids are reused: pid and start time together identify a process.
 */
export async function readStartTicks(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The command name may contain spaces and parentheses, so count the fields from the last ')'.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return fields[19] ?? null;
}

/**
 * Whether `pid` is a running PostgreSQL process of `cluster` (an absolute path without links): its working
 * directory is the cluster. An unrelated process with a reused pid, or a shell in that directory, is not.
 */
export async function servesCluster(pid: number, cluster: string): Promise<boolean> {
  if ((await readlink(`/proc/${pid}/cwd`).catch(() => null)) !== cluster) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  // The kernel appends " (deleted)" when an update replaced the program.
  return basename(program).split(' ')[0] === 'postgres';
}

/** Lists the pids of all running PostgreSQL processes of `cluster`. */
export async function listServerPids(cluster: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const serving = await Promise.all(pids.map((pid) => servesCluster(pid, cluster)));
  return pids.filter((_, index) => serving[index]);
}

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** The directory of its socket. */
  readonly socketFolder: string;
  /** Whether it accepts connections. */
  readonly ready: boolean;
  readonly stopping: boolean;
}

export function pidFilePath(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}

/** Reads a cluster's `postmaster.pid`; null when there is none or it is not fully written. */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  const text = await readFile(pidFilePath(cluster), 'utf8').catch(undefinedIfMissing);
  if (text === undefined) return null;
  const [pid, , , port, socketFolder, , , status] = text.split('\n').map((line) => line.trim());
  if (!Number(pid)) return null;
  const state = { ready: status === 'ready', stopping: status === 'stopping' };
  return { pid: Number(pid), port: Number(port), socketFolder: socketFolder ?? '', ...state };
}

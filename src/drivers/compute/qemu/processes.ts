/**
 * Processes of this host. The QEMU of a socket is found by its command line, which works after lost files and
 * reused pids.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface QemuProcess {
  readonly pid: number;
  /** The machine and disk that it was started for. */
  readonly name: string;
}

/** The command line argument that names a QMP socket. */
export function qmpSocketArg(path: string): string {
  return `unix:${path},server=on,wait=off`;
}

export async function findProcesses(socket: string): Promise<QemuProcess[]> {
  return (await listQemuProcesses())
    .filter(({ args }) => args.includes(qmpSocketArg(socket)))
    .map(({ pid, args }) => ({ pid, name: args[args.indexOf('-name') + 1] ?? '' }));
}

/** Returns a check for any number of sockets, from a single scan of all processes. */
export async function createSocketCheck(): Promise<(socket: string) => boolean> {
  const args = new Set((await listQemuProcesses()).flatMap((each) => each.args));
  return (socket) => args.has(qmpSocketArg(socket));
}

/** Returns the effective user of a process, or undefined if it has exited. */
export async function readProcessUid(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, uid] = /^Uid:\t\d+\t(\d+)/m.exec(status) ?? [];
  return uid === undefined ? undefined : Number(uid);
}

/** Kills a process, or a whole process group if the id is negative. */
export function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** Returns folders whose name contains the id of a process that no longer runs. */
export async function findStaleFolders(dir: string, prefix: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  const stale = names.filter((name) => {
    const pid = name.startsWith(prefix) ? /^[1-9]\d*(?=-)/.exec(name.slice(prefix.length))?.[0] : undefined;
    return pid !== undefined && !isAlive(Number(pid));
  });
  return stale.map((name) => join(dir, name));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface ProcessArgs {
  readonly pid: number;
  readonly args: readonly string[];
}

async function listQemuProcesses(): Promise<ProcessArgs[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const readOne = async (pid: number): Promise<ProcessArgs> => {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return { pid, args: commandLine.split('\0') };
  };
  const processes = await Promise.all(pids.map(readOne));
  return processes.filter(({ args }) => args.some((word) => word.endsWith(',server=on,wait=off')));
}

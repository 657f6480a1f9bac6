/** Which QEMU has a socket, by its command line: neither a file that was lost nor a number that was used again misleads. */
import { readdir, readFile } from 'node:fs/promises';

export interface QemuProcess {
  readonly pid: number;
  /** What it was started for. */
  readonly name: string;
}

/** The word of the command line that names a socket for QMP. */
export function socketWord(path: string): string {
  return `unix:${path},server=on,wait=off`;
}

export async function processesOf(socket: string): Promise<QemuProcess[]> {
  return (await qemuProcesses()).filter(({ words }) => words.includes(socketWord(socket))).map(shown);
}

/** The sockets of all that run, from one look. */
export async function seeSockets(): Promise<(socket: string) => boolean> {
  const words = new Set((await qemuProcesses()).flatMap((each) => each.words));
  return (socket) => words.has(socketWord(socket));
}

interface Seen {
  readonly pid: number;
  readonly words: readonly string[];
}

function shown({ pid, words }: Seen): QemuProcess {
  return { pid, name: words[words.indexOf('-name') + 1] ?? '' };
}

async function qemuProcesses(): Promise<Seen[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const seen = await Promise.all(pids.map(async (pid) => ({ pid, words: await wordsOf(pid) })));
  return seen.filter(({ words }) => words.some((word) => word.endsWith(',server=on,wait=off')));
}

async function wordsOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
}

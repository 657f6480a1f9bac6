/** QEMU as a process of the host. It belongs to nobody: it goes on when the service ends, however that ends. */
import { spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { BARE_ENV } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { findProcesses } from '../processes.ts';
import { Qmp } from '../qmp.ts';

const START_MAX_MS = 15_000;
/** How long it may take to hear that it is to end, and then to do so. */
const QUIT_MAX_MS = 5_000;
const KILL_MAX_MS = 5_000;
const POLL_INTERVAL_MS = 20;
const LOG_LINE_MAX_CHARS = 200;

/**
 * It stays root, because files are handed to it by their paths while it runs, wherever the operator keeps them; and it has
 * nothing of what root may do but to open files. What it may ask of the kernel its sandbox says.
 */
const UNPRIVILEGED = [
  'setpriv',
  '--bounding-set=-all,+dac_override',
  '--inh-caps=-all',
  '--no-new-privs',
  '--',
] as const;
const PROGRAM = 'qemu-system-x86_64';

/** Starts it, and waits until it can be spoken to. Its guest does not run yet. */
export async function launch(host: QemuHost, id: string, args: readonly string[]): Promise<Qmp> {
  const logPath = host.layout.machine(id, 'qemu.log');
  const [first, ...setprivArgs] = UNPRIVILEGED;
  const [program = first, ...words] = host.inNet(first, [...setprivArgs, PROGRAM, ...args]);
  // Appended to, so that the log can be cut while it is written.
  await rm(logPath, { force: true });
  const log = await open(logPath, 'a', 0o600);
  const child = spawn(program, words, {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    cwd: '/',
    env: BARE_ENV,
  });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  child.unref();
  await log.close();
  const deadline = Date.now() + START_MAX_MS;
  try {
    while (!ended && Date.now() < deadline) {
      const qmp = await Qmp.tryConnect(host.layout.runtimeFile(id, 'qmp'));
      if (qmp) return qmp;
      await sleep(POLL_INTERVAL_MS);
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  if (!ended) child.kill('SIGKILL');
  throw new ComputeError('transient', `QEMU does not start: ${await readFirstLogLine(logPath)}`);
}

async function readFirstLogLine(path: string): Promise<string> {
  const line = (await readFile(path, 'utf8').catch(() => '')).trim().split('\n')[0] ?? '';
  return line === '' ? 'it says nothing' : line.slice(0, LOG_LINE_MAX_CHARS);
}

/** Ends the machine's QEMU, if any, in whatever state it is, and waits until it is gone. Its disks are flushed if it can. */
export async function endProcess(host: QemuHost, id: string): Promise<void> {
  const socket = host.layout.runtimeFile(id, 'qmp');
  if ((await findProcesses(socket)).length > 0) {
    const hasQuit = await quit(socket);
    if (!hasQuit || !(await waitUntilGone(socket, QUIT_MAX_MS))) {
      for (const { pid } of await findProcesses(socket)) killIfAlive(pid);
      if (!(await waitUntilGone(socket, KILL_MAX_MS)))
        throw new ComputeError('transient', 'QEMU does not end');
    }
  }
  await rm(dirname(socket), { recursive: true, force: true });
}

/** False: it does not listen, and is killed. */
async function quit(socket: string): Promise<boolean> {
  try {
    const qmp = await Qmp.tryConnect(socket, QUIT_MAX_MS);
    await qmp?.execute('quit');
    qmp?.close();
    return qmp !== undefined;
  } catch {
    return false;
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

async function waitUntilGone(socket: string, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while ((await findProcesses(socket)).length > 0) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}

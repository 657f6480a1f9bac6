/** QEMU as a detached process of the host: it keeps running when the service ends. */
import { spawn } from 'node:child_process';
import { chown, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { BARE_ENV } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { findProcesses, killIfAlive } from '../processes.ts';
import { Qmp } from '../qmp.ts';
import { buildCommandLine, type CommandLine } from './command-line.ts';
import { isolate } from './isolation.ts';

const START_MAX_MS = 15_000;
/** How long QEMU may take to accept the quit command, and then to exit. */
const QUIT_MAX_MS = 5_000;
const KILL_MAX_MS = 5_000;
const POLL_INTERVAL_MS = 20;
const LOG_LINE_MAX_CHARS = 200;

const PROGRAM = 'qemu-system-x86_64';

/**
 * Starts QEMU in its own namespace and waits until QMP answers. The guest does not run yet. With
 * `isIncoming`, QEMU then waits for a guest that is moved to it.
 */
export async function launch(
  host: QemuHost,
  id: string,
  line: CommandLine,
  isIncoming = false,
): Promise<Qmp> {
  const logPath = host.layout.machine(id, 'qemu.log');
  const [first = '', ...isolation] = await isolate(host, id, line);
  const [program = first, ...words] = host.inNet(first, [
    ...isolation,
    PROGRAM,
    ...buildCommandLine(line),
    ...(isIncoming ? ['-incoming', 'defer'] : []),
  ]);
  // Open for appending, so that the log can be truncated while QEMU writes it.
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
  const deadline = performance.now() + START_MAX_MS;
  try {
    while (!ended && performance.now() < deadline) {
      const qmp = await Qmp.tryConnect(host.layout.runtimeFile(id, 'qmp'));
      if (qmp) return await withClosedFolder(host, id, qmp);
      await sleep(POLL_INTERVAL_MS);
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  if (!ended) child.kill('SIGKILL');
  throw new ComputeError('transient', `QEMU did not start: ${await readFirstLogLine(logPath)}`);
}

/**
 * From here on, QEMU cannot replace its sockets. We connect to them as root, so a guest that took over its
 * QEMU could lead us to another socket of this host.
 */
async function withClosedFolder(host: QemuHost, id: string, qmp: Qmp): Promise<Qmp> {
  await chown(dirname(host.layout.runtimeFile(id, 'qmp')), 0, 0);
  return qmp;
}

async function readFirstLogLine(path: string): Promise<string> {
  const line = (await readFile(path, 'utf8').catch(() => '')).trim().split('\n')[0] ?? '';
  return line === '' ? 'no output' : line.slice(0, LOG_LINE_MAX_CHARS);
}

/**
 * Ends the machine's QEMU in any state and waits until it has exited. Flushes its disks if possible.
 */
export async function endProcess(host: QemuHost, id: string): Promise<void> {
  const socket = host.layout.runtimeFile(id, 'qmp');
  if ((await findProcesses(socket)).length > 0) {
    const hasQuit = await quit(socket);
    if (!hasQuit || !(await waitUntilGone(socket, QUIT_MAX_MS))) {
      for (const { pid } of await findProcesses(socket)) killIfAlive(pid);
      if (!(await waitUntilGone(socket, KILL_MAX_MS)))
        throw new ComputeError('transient', 'QEMU cannot be killed');
    }
  }
  await rm(dirname(socket), { recursive: true, force: true });
}

/** Returns false if QEMU does not accept the command; the caller then kills it. */
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

async function waitUntilGone(socket: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while ((await findProcesses(socket)).length > 0) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}

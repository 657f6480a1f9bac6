/** One run of the postgres program, from its start until all its processes have exited. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { childOptions, findErrorLine } from './child.ts';
import type { Home } from './home.ts';
import type { Lock } from './lock.ts';
import { openLog } from './log.ts';
import { readPidFile } from './pidfile.ts';
import { listServerPids } from './process.ts';
import { settingsFor } from './settings.ts';
import type { Socket } from './socket.ts';

export interface Server {
  /** Resolves when it accepts connections. Throws a one-line error when it exits or hangs before that. */
  ready(): Promise<void>;
  /** Resolves with the reason when all its processes have exited. */
  readonly exited: Promise<string>;
  /** Stops it: a fast shutdown (sessions end, data is written), after 8 s an immediate one, then SIGKILL. */
  stop(): Promise<void>;
}

const READY_POLL_MS = 4;
/** Crash recovery may have to replay a large log. */
const READY_TIMEOUT_MS = 300_000;
const FAST_STOP_MS = 8_000;
const IMMEDIATE_STOP_MS = 1_000;
/** Sessions exit when the postmaster is killed, but one in a long computation notices late. */
const LEFTOVER_KILL_INTERVAL_MS = 2_000;

/** Starts postgres on a prepared cluster without files of an earlier run. */
export async function launch(home: Home, binaries: Binaries, lock: Lock, socket: Socket): Promise<Server> {
  const log = await openLog(home.log);
  const child = spawn(binaries.postgres, ['-D', home.cluster, ...settingsFor(socket)], {
    ...childOptions(home.user),
    // Its own session: Ctrl-C in the terminal is for the service, which stops the database last.
    detached: true,
    // Nothing is written to the pipe. All processes of the server hold it, so it closes when the last one
    // exits.
    stdio: ['ignore', 'pipe', log.descriptor, lock.descriptor],
  });
  child.stdout?.resume();
  let errorLine = '';
  const exited = waitUntilExited(child, home).finally(async () => {
    errorLine = findErrorLine(await log.read());
    await log.close();
  });
  return {
    exited,
    ready: async () => {
      if (await waitUntilReady(child, home)) return;
      await exited;
      throw new Error(`the database did not start: ${errorLine} (see ${home.log})`);
    },
    stop: () => stop(child, exited, home),
  };
}

/** Returns whether it accepted connections before it exited. Throws on a timeout. */
async function waitUntilReady(child: ChildProcess, home: Home): Promise<boolean> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const file = await readPidFile(home.cluster);
    if (file?.pid === child.pid && file.ready) return true;
    if (performance.now() > deadlineMs) throw new Error(`timed out starting the database; see ${home.log}`);
    await pause(READY_POLL_MS);
  }
  return false;
}

async function waitUntilExited(child: ChildProcess, home: Home): Promise<string> {
  let reason = 'it could not be started';
  let reaper: NodeJS.Timeout | undefined;
  child.once('error', (error) => {
    reason = error.message;
  });
  child.once('exit', (code, signal) => {
    reason = signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`;
    reaper = setInterval(() => void killLeftovers(home), LEFTOVER_KILL_INTERVAL_MS);
  });
  // `close`, not `exit`: it comes only when the pipe has closed, too.
  await new Promise((resolve) => child.once('close', resolve));
  clearInterval(reaper);
  return reason;
}

async function stop(child: ChildProcess, exited: Promise<string>, home: Home): Promise<void> {
  const exitsWithin = async (ms: number): Promise<boolean> => {
    const timer = new AbortController();
    const timeout = pause(ms, false, { signal: timer.signal }).catch(() => false);
    const hasExited = await Promise.race([exited.then(() => true), timeout]);
    timer.abort();
    return hasExited;
  };
  child.kill('SIGINT');
  if (await exitsWithin(FAST_STOP_MS)) return;
  child.kill('SIGQUIT');
  if (await exitsWithin(IMMEDIATE_STOP_MS)) return;
  child.kill('SIGKILL');
  await killLeftovers(home);
  await exited;
}

async function killLeftovers(home: Home): Promise<void> {
  for (const pid of await listServerPids(home.cluster)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has exited meanwhile.
    }
  }
}

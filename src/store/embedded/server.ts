/** One run of the postgres program, from its start until nothing of it lives. */
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
  /** Resolves when it accepts connections; throws one line when it ends or hangs before that. */
  ready(): Promise<void>;
  /** Resolves with how it ended, once nothing of it lives any more. */
  readonly exited: Promise<string>;
  /** Ends it: fast (sessions are cut, all is written), after 8 s at once, then by force. */
  stop(): Promise<void>;
}

const READY_POLL_MS = 4;
/** Recovery after a crash may have much to replay. */
const READY_TIMEOUT_MS = 300_000;
const FAST_STOP_MS = 8_000;
const IMMEDIATE_STOP_MS = 1_000;
/** Sessions end by themselves when the postmaster is killed, but one deep in a calculation notices late. */
const LEFTOVER_KILL_INTERVAL_MS = 2_000;

/** Starts postgres on a prepared cluster without traces of an earlier run. */
export async function launch(home: Home, binaries: Binaries, lock: Lock, socket: Socket): Promise<Server> {
  const log = await openLog(home.log);
  const child = spawn(binaries.postgres, ['-D', home.cluster, ...settingsFor(socket)], {
    ...childOptions(home.user),
    // A session of its own: Ctrl-C in our terminal is for us, and we stop the database last.
    detached: true,
    // Nothing is written to the pipe. All its processes hold it, so its end says that the last has gone.
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

/** Whether it accepted connections before it ended. Throws when it does neither. */
async function waitUntilReady(child: ChildProcess, home: Home): Promise<boolean> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const file = await readPidFile(home.cluster);
    if (file?.pid === child.pid && file.ready) return true;
    if (performance.now() > deadlineMs) throw new Error(`the database does not get ready; see ${home.log}`);
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
    reason = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
    reaper = setInterval(() => void killLeftovers(home), LEFTOVER_KILL_INTERVAL_MS);
  });
  // Not `exit`: `close` comes when the pipe has ended too.
  await new Promise((resolve) => child.once('close', resolve));
  clearInterval(reaper);
  return reason;
}

async function stop(child: ChildProcess, gone: Promise<string>, home: Home): Promise<void> {
  const exitsWithin = async (ms: number): Promise<boolean> => {
    const timer = new AbortController();
    const late = pause(ms, false, { signal: timer.signal }).catch(() => false);
    const isGone = await Promise.race([gone.then(() => true), late]);
    timer.abort();
    return isGone;
  };
  child.kill('SIGINT');
  if (await exitsWithin(FAST_STOP_MS)) return;
  child.kill('SIGQUIT');
  if (await exitsWithin(IMMEDIATE_STOP_MS)) return;
  child.kill('SIGKILL');
  await killLeftovers(home);
  await gone;
}

async function killLeftovers(home: Home): Promise<void> {
  for (const pid of await listServerPids(home.cluster)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

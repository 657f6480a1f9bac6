/** One run of the postgres program, with its settings and log, until all its processes have exited. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { settlesWithin } from '../../kernel/timeout.ts';
import type { Binaries } from './binaries.ts';
import { childOptions, findErrorLine } from './child.ts';
import type { Home } from './home.ts';
import type { Lock } from './lock.ts';
import { listServerPids, readPidFile } from './process.ts';
import { PORT, type Socket } from './socket.ts';

export interface Server {
  /** Resolves when it accepts connections. Throws a one-line error when it exits or hangs before that. */
  ready(): Promise<void>;
  /** Resolves with the reason when all its processes have exited. */
  readonly exited: Promise<string>;
  /** Stops it: a fast shutdown (sessions end, data is written), after 8 s an immediate one, then SIGKILL. */
  stop(): Promise<void>;
}

/** By name. */
export type PostgresSettings = Readonly<Record<string, string | number>>;

const READY_POLL_MS = 4;
/** Crash recovery may have to replay a large log. */
export const READY_TIMEOUT_MS = 300_000;
const FAST_STOP_MS = 8_000;
const IMMEDIATE_STOP_MS = 1_000;
const STUCK_POLL_MS = 1_000;
/** Sessions exit when the postmaster is killed, but one in a long computation notices late. */
const LEFTOVER_KILL_INTERVAL_MS = 2_000;

interface LaunchOptions {
  readonly socket: Socket;
  readonly settings: PostgresSettings;
  readonly readyTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Starts postgres on a prepared cluster without files of an earlier run. */
export async function launch(
  home: Home,
  binaries: Binaries,
  lock: Lock,
  { socket, settings, readyTimeoutMs, signal }: LaunchOptions,
): Promise<Server> {
  const log = await openLog(home.log);
  const child = spawn(
    binaries.postgres,
    ['-D', home.cluster, ...settingsFor({ ...SETTINGS, ...settings }, socket)],
    {
      ...childOptions(home.user),
      // Its own session: Ctrl-C in the terminal is for the service, which stops the database last.
      detached: true,
      // Nothing is written to the pipe. All processes of the server hold it, so it closes when the last one
      // exits.
      stdio: ['ignore', 'pipe', log.descriptor, lock.descriptor],
    },
  );
  child.stdout?.resume();
  let errorLine = '';
  const watch = endStuckStop(child, home);
  const exited = waitUntilExited(child, home).finally(async () => {
    clearInterval(watch);
    errorLine = findErrorLine(await log.read());
    await log.close();
  });
  return {
    exited,
    ready: async () => {
      if (await waitUntilReady(child, home, { timeoutMs: readyTimeoutMs, signal })) return;
      await exited;
      throw new Error(`the database did not start: ${errorLine} (see ${home.log})`);
    },
    stop: () => stop(child, exited, home),
  };
}

/** Returns whether it accepted connections before it exited. Throws on a timeout. */
async function waitUntilReady(
  child: ChildProcess,
  home: Home,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const file = await readPidFile(home.cluster);
    if (file?.pid === child.pid && file.ready) return true;
    if (signal?.aborted) child.kill('SIGQUIT');
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
  child.kill('SIGINT');
  if (await settlesWithin(exited, FAST_STOP_MS)) return;
  child.kill('SIGQUIT');
  if (await settlesWithin(exited, IMMEDIATE_STOP_MS)) return;
  child.kill('SIGKILL');
  await killLeftovers(home);
  await exited;
}

/**
 * Anyone may send a signal that stops PostgreSQL, and one of its processes that hangs would then keep it from
 * both ending and answering. After the time of our own fast stop, the stop becomes an immediate one, and then
 * a kill.
 */
function endStuckStop(child: ChildProcess, home: Home): NodeJS.Timeout {
  let sinceMs: number | null = null;
  const check = async () => {
    const file = await readPidFile(home.cluster).catch(() => null);
    if (file?.pid !== child.pid || !file?.stopping) {
      sinceMs = null;
      return;
    }
    sinceMs ??= performance.now();
    const forMs = performance.now() - sinceMs;
    if (forMs > 2 * FAST_STOP_MS) child.kill('SIGKILL');
    else if (forMs > FAST_STOP_MS) child.kill('SIGQUIT');
  };
  return setInterval(check, STUCK_POLL_MS).unref();
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

// ---- settings: on the command line, they take precedence over files in the cluster

/** The maximum number of connections to the embedded server. */
export const EMBEDDED_CONNECTIONS = 200;

/**
 * Durable, without TCP, and without client data in the log: no statements, no parameters, and no statement
 * errors (their messages quote data, and the client receives them anyway).
 */
const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  max_connections: EMBEDDED_CONNECTIONS,
  shared_buffers: '128MB',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_statement: 'none',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_min_duration_statement: -1,
  log_error_verbosity: 'terse',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_checkpoints: 'off',
};

/** Returns the settings as arguments of the postgres program. */
function settingsFor(values: PostgresSettings, socket: Socket): string[] {
  // The value is a list of directories, so the path is quoted: it may contain a comma.
  const sockets = `unix_socket_directories="${socket.folder.replaceAll('"', '""')}"`;
  const settings = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return [...settings, sockets].flatMap((setting) => ['-c', setting]);
}

// ---- the log: `log` in the home, truncated when it is too large

interface ServerLog {
  /** The descriptor for the standard error of postgres. */
  readonly descriptor: number;
  /** Reads the beginning and the end of the output since it was opened. */
  read(): Promise<string>;
  close(): Promise<void>;
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;
const READ_MAX_BYTES = 20_000;

async function openLog(path: string): Promise<ServerLog> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  const trim = async (): Promise<void> => {
    if ((await file.stat()).size > MAX_LOG_BYTES) await file.truncate();
  };
  await trim();
  const start = (await file.stat()).size;
  const timer = setInterval(() => void trim().catch(() => {}), CHECK_INTERVAL_MS).unref();
  return {
    descriptor: file.fd,
    read: async () => {
      const readFrom = async (position: number) => {
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(READ_MAX_BYTES),
          0,
          READ_MAX_BYTES,
          position,
        );
        return buffer.toString('utf8', 0, bytesRead);
      };
      const lastStart = (await file.stat()).size - READ_MAX_BYTES;
      return (await readFrom(start)) + (lastStart > start ? `\n${await readFrom(lastStart)}` : '');
    },
    close: async () => {
      clearInterval(timer);
      await file.close();
    },
  };
}

/**
 * Shared helpers for tests of the embedded database: scratch directories, service processes, and inspection.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { after, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbedded } from '../../../src/store/embedded/index.ts';

export type Connection = EmbeddedDatabase['connection'];

export const isRoot = process.geteuid?.() === 0;

/** The files that a service process is started from: node, the script, and the module of the database. */
export interface Installation {
  readonly node: string;
  readonly script: string;
  readonly module: string;
}

export const CHECKOUT: Installation = {
  node: process.execPath,
  script: fileURLToPath(new URL('./service.ts', import.meta.url)),
  module: fileURLToPath(new URL('../../../src/store/embedded/index.ts', import.meta.url)),
};

interface ServiceOptions {
  readonly from?: Installation;
  readonly uid?: number;
  readonly gid?: number;
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Runs `work` after the test, in reverse order of registration: a database stops before its directory is
 * removed.
 */
export function cleanUpAfter(t: TestContext, work: () => unknown): void {
  const works = cleanups.get(t) ?? [];
  if (works.length === 0) {
    cleanups.set(t, works);
    t.after(async () => {
      for (const step of works.reverse()) await step();
    });
  }
  works.push(work);
}

/** Creates a directory that everyone can enter, removed after the test. */
export async function scratchFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp('/tmp/skerry-test-'));
  await chmod(folder, 0o755);
  // The database of a killed service keeps shutting down, and writing, for a moment.
  cleanUpAfter(t, () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }));
  return folder;
}

let used: Promise<string> | undefined;
after(async () => {
  if (used !== undefined) await rm(dirname(await used), { recursive: true });
});

/**
 * Returns a data directory whose database was started and stopped before, so that it starts fast. All tests
 * of a file share it, so each drops the tables it creates. Its name has characters that could break a command
 * line or a setting.
 */
export function preparedDataFolder(): Promise<string> {
  used ??= mkdtemp('/tmp/skerry-test-').then(async (folder) => {
    await chmod(folder, 0o755);
    const dataDir = join(folder, `a, "b" 'c'`);
    await (await startEmbedded({ dataDir })).stop();
    return dataDir;
  });
  return used;
}

/** Returns the home of a data directory's database. */
export async function findHome(dataDir: string): Promise<string> {
  const location = await readFile(join(dataDir, 'location'), 'utf8').catch(() => null);
  return location === null ? join(dataDir, 'pg') : location.trim();
}

export async function readPostmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(await findHome(dataDir), 'cluster/postmaster.pid'), 'utf8'), 10);
}

export async function query(connection: Connection, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until `condition` holds, and fails after `withinMs`. */
export async function waitUntil(
  description: string,
  condition: () => Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    assert.ok(performance.now() < deadlineMs, `not within ${withinMs} ms: ${description}`);
    await pause(5);
  }
}

export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/\) [ZX] /.test(stat);
}

export interface Service {
  readonly process: ChildProcess;
  /** Its first output: how to connect, or why it could not start. */
  readonly connection?: Connection;
  readonly error?: string;
  /** Stops it regularly. */
  end(): Promise<void>;
  /** Kills it with SIGKILL. Resolves when it has exited. */
  kill(): Promise<void>;
}

/** Starts a service process and waits for its first line of output. */
export async function startService(
  t: TestContext,
  dataDir: string,
  options: ServiceOptions = {},
): Promise<Service> {
  const { service: child, firstLine } = spawnService(t, dataDir, options);
  const firstOutput = JSON.parse(await firstLine) as { connection?: Connection; error?: string };
  const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve([]);
  return {
    ...firstOutput,
    process: child,
    end: async () => {
      child.stdin?.end();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a service process without waiting for its output. */
export function spawnService(
  t: TestContext,
  dataDir: string,
  options: ServiceOptions = {},
): { service: ChildProcess; firstLine: Promise<string> } {
  const { from = CHECKOUT, ...user } = options;
  const child = spawn(from.node, [from.script, from.module, dataDir], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUpAfter(t, () => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  const firstLine = once(lines, 'line', { signal: abortOnClose(lines) }).then(([line]) => line as string);
  firstLine.catch(() => {}); // A caller that kills the process may not wait for its output.
  return { service: child, firstLine };
}

/** Ends the wait for a line of a process that exits without one. */
function abortOnClose(lines: Interface): AbortSignal {
  const controller = new AbortController();
  lines.once('close', () => controller.abort(new Error('the service printed nothing')));
  return controller.signal;
}

/** What the tests of the embedded database share: scratch folders, services as processes, and looking closely. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/index.ts';

export type Connection = EmbeddedDatabase['connection'];

export const isRoot = process.geteuid?.() === 0;

/** What a service process is started from: a node, the script, and the supervisor's module. */
export interface Installation {
  readonly node: string;
  readonly script: string;
  readonly module: string;
}

export const CHECKOUT: Installation = {
  node: process.execPath,
  script: fileURLToPath(new URL('./embedded-service.ts', import.meta.url)),
  module: fileURLToPath(new URL('../../src/store/embedded/index.ts', import.meta.url)),
};

interface ServiceOptions {
  readonly from?: Installation;
  readonly uid?: number;
  readonly gid?: number;
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs `work` when the test is over, the last registered first: a database stops before its folder goes. */
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

/** A folder that everyone may pass, removed after the test. */
export async function scratchFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp('/tmp/skerry-test-'));
  await chmod(folder, 0o755);
  // The database of a killed service is still shutting down, and writing, for a moment.
  cleanUpAfter(t, () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }));
  return folder;
}

let used: Promise<string> | undefined;
after(async () => {
  if (used !== undefined) await rm(dirname(await used), { recursive: true });
});

/**
 * A data folder whose database was started and stopped before: starting it is quick. One for all tests of a
 * file, so each drops the tables it makes. Its name has what could trip a command line or a setting.
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

/** Where the database of a data folder is. */
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

/** Waits until `isSo`, and fails after `withinMs`. */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadlineMs, `not within ${withinMs} ms: ${what}`);
    await pause(5);
  }
}

export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/\) [ZX] /.test(stat);
}

export interface Service {
  readonly process: ChildProcess;
  /** What it said first: how to connect, or why it could not start. */
  readonly connection?: Connection;
  readonly error?: string;
  /** Ends it in the ordinary way. */
  end(): Promise<void>;
  /** Ends it with SIGKILL; resolves when it is dead. */
  kill(): Promise<void>;
}

/** Starts a service process and waits for its first line. */
export async function startService(
  t: TestContext,
  dataDir: string,
  options: ServiceOptions = {},
): Promise<Service> {
  const { service: child, firstLine } = spawnService(t, dataDir, options);
  const said = JSON.parse(await firstLine) as { connection?: Connection; error?: string };
  const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve([]);
  return {
    ...said,
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

/** Starts a service process without waiting for it. */
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
  return { service: child, firstLine: once(lines, 'line').then(([line]) => line as string) };
}

/** `skerryd serve`: one process, or a parent that holds the database and keeps N children alive. */
import cluster, { type Worker } from 'node:cluster';
import type { Config } from '../config.ts';
import { provideDatabase } from './database.ts';
import { prepareSandbox } from './seed.ts';
import { type Role, startService } from './serve.ts';
import { openService } from './service.ts';

export interface ServeOptions {
  readonly processes: number;
  readonly roles: ReadonlySet<Role>;
  /** Standard output. */
  readonly say: (line: string) => void;
  readonly warn: (line: string) => void;
}

/** A child that dies is replaced, but not faster than this. */
const REPLACE_AFTER_MS = 1_000;

/** Serves until SIGTERM or SIGINT, then stops cleanly and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const asked = signalled();
  if (cluster.isWorker) return await serveAsChild(config, options, asked);
  const database = await provideDatabase(config, 'own', options.warn);
  try {
    const opened = await openService(config, database.connection);
    try {
      await prepareSandbox(opened);
    } finally {
      await opened.close();
    }
    if (options.processes > 1) await serveWithChildren(options, asked);
    else {
      const running = await startService(config, database.connection, options.roles);
      announce(options, running.url);
      await asked;
      await running.stop();
    }
  } finally {
    await database.stop();
  }
}

async function serveAsChild(config: Config, options: ServeOptions, asked: Promise<void>): Promise<void> {
  const database = await provideDatabase(config, 'join', options.warn);
  const running = await startService(config, database.connection, options.roles);
  process.send?.({ url: running.url });
  // A parent that died takes the database with it: nothing is left to serve.
  await Promise.race([asked, new Promise((resolve) => process.once('disconnect', resolve))]);
  await running.stop();
  await database.stop();
}

async function serveWithChildren(options: ServeOptions, asked: Promise<void>): Promise<void> {
  let stopping = false;
  const children = new Set<Worker>();
  const start = (): Promise<string | null> => {
    const child = cluster.fork();
    children.add(child);
    child.once('exit', (code, signal) => {
      children.delete(child);
      if (stopping) return;
      options.warn(`skerry: a process ended (${signal ?? code}) and is replaced`);
      setTimeout(() => !stopping && void start().catch(() => undefined), REPLACE_AFTER_MS);
    });
    return new Promise((resolve, reject) => {
      child.once('message', (message: { url: string | null }) => resolve(message.url));
      child.once('exit', () => reject(new Error('a process ended before it was ready; its reason is above')));
    });
  };
  const stop = async () => {
    stopping = true;
    await Promise.all(
      [...children].map((child) => {
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.process.kill('SIGTERM');
        return gone;
      }),
    );
  };
  try {
    const [url = null] = await Promise.all(Array.from({ length: options.processes }, start));
    announce(options, url);
    await asked;
  } finally {
    await stop();
  }
}

function announce(options: ServeOptions, url: string | null): void {
  if (url === null) {
    options.say('skerry workers ready');
    return;
  }
  options.say(`skerry ready on ${url}`);
  options.say('A sandbox: simulated coins and machines, no real money. Open the address above for the first step.');
}

/** Resolves at the first SIGTERM or SIGINT. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

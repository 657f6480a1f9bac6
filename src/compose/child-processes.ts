/**
 * `serve --processes N`: N children listen on one port, and the kernel distributes the connections
 * (SO_REUSEPORT). A child that dies does not break the connections of the others, and is replaced.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import type { ServeOptions } from './serve.ts';
import { toListenError } from './startup-messages.ts';

/** Delay before a dead child is replaced. */
const RESTART_DELAY_MS = 1_000;
/** A child that does not stop in this time is killed: the parent has 10 s in total. */
const STOP_TIMEOUT_MS = 8_500;

export async function serveWithChildren(
  config: Config,
  options: ServeOptions,
  stopRequested: Promise<void>,
  onReady: (url: string | null) => void,
): Promise<void> {
  const port = options.roles.has('api') ? await resolveFreePort(config) : config.SKERRY_PORT;
  const children = new Set<ChildProcess>();
  let stopping = false;
  const start = (): Promise<string | null> => {
    const child = forkChild(options, port);
    children.add(child);
    child.once('exit', (code, signal) => {
      children.delete(child);
      if (stopping) return;
      options.warn(`skerryd: a process exited (${signal ?? code}); starting another`);
      setTimeout(() => {
        if (!stopping) start().catch(() => undefined);
      }, RESTART_DELAY_MS).unref();
    });
    return new Promise((resolve, reject) => {
      child.once('message', (message: { url: string | null }) => resolve(message.url));
      child.once('exit', () =>
        reject(new Error('a process exited before it was ready; see its error above')),
      );
    });
  };
  try {
    const [url = null] = await Promise.all(Array.from({ length: options.processes }, start));
    onReady(url);
    await stopRequested;
  } finally {
    stopping = true;
    await Promise.all([...children].map(stopChild));
  }
}

function forkChild(options: ServeOptions, port: number): ChildProcess {
  const args = ['serve', '--child', '--role', [...options.roles].join(',')];
  return fork(process.argv[1] ?? '', args, { env: { ...process.env, SKERRY_PORT: String(port) } });
}

async function stopChild(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(killTimer);
}

/**
 * Returns the port for all children. Listens on it exclusively first: a shared port never reports a conflict.
 */
async function resolveFreePort(config: Config): Promise<number> {
  const probe = createServer();
  return await new Promise((resolve, reject) => {
    probe.once('error', (error) => reject(toListenError(config, error)));
    probe.listen({ host: config.SKERRY_HOST, port: config.SKERRY_PORT }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : config.SKERRY_PORT;
      probe.close(() => resolve(port));
    });
  });
}

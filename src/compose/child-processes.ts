/**
 * `serve --processes N`: N children listen on one port, and the kernel distributes the connections
 * (SO_REUSEPORT). A child that dies does not break the connections of the others, and is replaced. A restart
 * replaces them one after another: the next one listens before the previous one stops.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { DRAIN_MESSAGE, ENDINGS } from './draining.ts';
import type { ServeOptions } from './serve.ts';
import { toListenError } from './startup-messages.ts';

/** Delay before a dead child is replaced. */
const RESTART_DELAY_MS = 1_000;
/** A child that is not ready by then is killed. */
const START_TIMEOUT_MS = 120_000;
/** A child that does not stop in this time is killed: the parent has 10 s in total. */
const STOP_TIMEOUT_MS = 8_500;
/** The same for a child that was replaced: it also closes the database. */
const DRAIN_TIMEOUT_MS = ENDINGS.replaced.requestsMs + 10_000;

interface Signals {
  readonly stopRequested: Promise<void>;
  /** Calls back on each request to restart the children. */
  readonly onRestartRequested: (restart: () => void) => void;
}

export async function serveWithChildren(
  config: Config,
  options: ServeOptions,
  { stopRequested, onRestartRequested }: Signals,
  onReady: (url: string | null) => void,
): Promise<void> {
  const port = options.roles.has('api') ? await resolveFreePort(config) : config.SKERRY_PORT;
  const stopTimeoutMs = STOP_TIMEOUT_MS + config.SKERRY_STOP_DELAY_S * SECOND_MS;
  const children = new ChildProcesses(options, { port, stopTimeoutMs });
  try {
    const [url = null] = await Promise.all(Array.from({ length: options.processes }, () => children.start()));
    onReady(url);
    onRestartRequested(() => void children.restart());
    await stopRequested;
  } finally {
    await children.stop();
  }
}

class ChildProcesses {
  readonly #options: ServeOptions;
  readonly #port: number;
  readonly #stopTimeoutMs: number;
  readonly #running = new Set<ChildProcess>();
  /** Not replaced when they exit: a restart does it. */
  readonly #leaving = new Set<ChildProcess>();
  #stopping = false;
  #isRestarting = false;
  #isRestartWanted = false;

  constructor(
    options: ServeOptions,
    { port, stopTimeoutMs }: { readonly port: number; readonly stopTimeoutMs: number },
  ) {
    this.#options = options;
    this.#port = port;
    this.#stopTimeoutMs = stopTimeoutMs;
  }

  /** Starts a child, and returns the URL that it listens on. It is replaced if it dies later. */
  async start(): Promise<string | null> {
    const child = forkChild(this.#options, this.#port);
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    // A process that could not be created does not exit.
    child.on('error', () => child.pid === undefined && this.#running.delete(child));
    const url = await untilReady(child);
    child.once('exit', (code, signal) => {
      if (!this.#leaving.delete(child)) void this.#replace(signal ?? code);
    });
    return url;
  }

  /** Replaces the children one after another. A request meanwhile replaces them again. */
  async restart(): Promise<void> {
    this.#isRestartWanted = true;
    if (this.#isRestarting) return;
    this.#isRestarting = true;
    while (this.#isRestartWanted && !this.#stopping) {
      this.#isRestartWanted = false;
      await this.#replaceAll();
    }
    this.#isRestarting = false;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#running].map((child) => end(child, 'stop', this.#stopTimeoutMs)));
  }

  /** The previous children go on if a new one fails. */
  async #replaceAll(): Promise<void> {
    const { warn } = this.#options;
    const previous = [...this.#running];
    warn(`skerryd: restarting ${previous.length} processes, one after another`);
    try {
      for (const child of previous) {
        if (this.#stopping) return;
        // It died meanwhile, and was replaced.
        if (this.#running.has(child)) await this.#replaceRunning(child);
      }
      warn('skerryd: all processes restarted');
    } catch {
      if (this.#stopping) return;
      warn('skerryd: a new process did not start, see its error above; the previous ones keep running');
    }
  }

  async #replaceRunning(child: ChildProcess): Promise<void> {
    this.#leaving.add(child);
    try {
      await this.start();
    } catch (error) {
      // It goes on, or it died and is replaced like any other.
      if (!this.#leaving.delete(child)) void this.#replace('during a restart');
      throw error;
    }
    if (this.#running.has(child)) await end(child, 'drain', DRAIN_TIMEOUT_MS);
  }

  async #replace(why: string | number | null): Promise<void> {
    let reason = why;
    while (!this.#stopping) {
      this.#options.warn(`skerryd: a process exited (${reason}); starting another`);
      await sleep(RESTART_DELAY_MS, undefined, { ref: false });
      if (this.#stopping) return;
      try {
        await this.start();
        return;
      } catch {
        reason = 'before it was ready';
      }
    }
  }
}

function forkChild(options: ServeOptions, port: number): ChildProcess {
  const args = ['serve', '--child', '--role', [...options.roles].join(',')];
  return fork(process.argv[1] ?? '', args, { env: { ...process.env, SKERRY_PORT: String(port) } });
}

async function untilReady(child: ChildProcess): Promise<string | null> {
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  return await new Promise<string | null>((resolve, reject) => {
    child.once('message', (message: { url: string | null }) => resolve(message.url));
    child.once('error', reject);
    child.once('exit', () => reject(new Error('a process exited before it was ready; see its error above')));
  }).finally(() => clearTimeout(timer));
}

async function end(child: ChildProcess, how: 'stop' | 'drain', timeoutMs: number): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (how === 'stop' || !child.connected) child.kill('SIGTERM');
  else child.send(DRAIN_MESSAGE, (error) => error && child.kill('SIGTERM'));
  const killTimer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
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

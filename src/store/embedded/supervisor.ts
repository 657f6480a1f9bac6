/** Keeps a server running until it is stopped: after a crash, it is restarted on the same socket. */

import { setTimeout as pause } from 'node:timers/promises';
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import type { Server } from './server.ts';

export interface Supervisor {
  /** Stops the server, or the attempts to restart it. */
  stop(): Promise<void>;
}

/** A server that ran this long had started properly: its crash counts as a first one. */
const STABLE_AFTER_MS = 10_000;

/** Starts a server and supervises it. Resolves when it is ready. `launch` is called for each start. */
export async function supervise(
  launch: () => Promise<Server>,
  hooks: { log: (line: string) => void; onRestart: () => void },
): Promise<Supervisor> {
  const stopping = new AbortController();
  let server = await launch();
  try {
    await server.ready();
  } catch (error) {
    await server.stop();
    throw error;
  }

  async function restart(attempt: number): Promise<boolean> {
    try {
      await pause(backoffMs(BACKOFF.databaseStart, attempt + 1), null, { signal: stopping.signal });
      server = await launch();
      if (stopping.signal.aborted) void server.stop();
      await server.ready();
      return true;
    } catch (error) {
      if (!stopping.signal.aborted) hooks.log((error as Error).message);
      await server.stop();
      return false;
    }
  }

  async function superviseLoop(): Promise<void> {
    for (let attempt = 0; ; ) {
      const startedMs = performance.now();
      const reason = await server.exited;
      if (performance.now() - startedMs > STABLE_AFTER_MS) attempt = 0;
      if (!stopping.signal.aborted) hooks.log(`the database stopped (${reason}); restarting it`);
      while (!stopping.signal.aborted && !(await restart(attempt))) attempt += 1;
      if (stopping.signal.aborted) return await server.stop();
      attempt += 1;
      hooks.log('the database is running again');
      hooks.onRestart();
    }
  }

  const supervising = superviseLoop();
  return {
    stop: async () => {
      stopping.abort();
      await server.stop();
      await supervising;
    },
  };
}

/** Keeps a server running until it is told to stop: one that ends by itself is started again on the same socket. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from './server.ts';

export interface Keeper {
  /** Stops the server, or the attempts to start it again. */
  stop(): Promise<void>;
}

/** Waits before the first, second … attempt in a row; the last one repeats. */
const BACK_OFF_MS = [0, 200, 1_000, 5_000];
/** A server that lived this long had started well: the next crash counts as a first one. */
const WELL_MS = 10_000;

/** Starts a server and keeps it; resolves when it is ready. `launch` is called for each start. */
export async function keep(
  launch: () => Promise<Server>,
  hooks: { log: (line: string) => void; onRestart: () => void },
): Promise<Keeper> {
  const stopping = new AbortController();
  let server = await launch();
  try {
    await server.ready();
  } catch (error) {
    await server.stop();
    throw error;
  }

  async function startAgain(attempt: number): Promise<boolean> {
    try {
      await pause(BACK_OFF_MS[Math.min(attempt, BACK_OFF_MS.length - 1)], null, { signal: stopping.signal });
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

  async function watchOver(): Promise<void> {
    for (let attempt = 0; ; ) {
      const startedMs = performance.now();
      const how = await server.gone;
      if (performance.now() - startedMs > WELL_MS) attempt = 0;
      if (!stopping.signal.aborted) hooks.log(`the database stopped (${how}); starting it again`);
      while (!stopping.signal.aborted && !(await startAgain(attempt))) attempt += 1;
      if (stopping.signal.aborted) return await server.stop();
      attempt += 1;
      hooks.log('the database runs again');
      hooks.onRestart();
    }
  }

  const watching = watchOver();
  return {
    stop: async () => {
      stopping.abort();
      await server.stop();
      await watching;
    },
  };
}

/** Servers that are stopped before they are destroyed: each once, however many volumes are taken from it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError, type Server } from '@skerry/sdk';
import { waitForServer } from '../../commands/server/wait-for-server.ts';
import { Failure } from '../../exit-codes.ts';
import type { RunContext } from './state.ts';

const POLL_MS = 2_000;

/** It goes on by itself, and nobody was to wait for it. */
export class StillPendingError extends Error {}

export class ServerStopper {
  readonly #run: RunContext;
  /** As `Date.now()` counts. */
  readonly #deadlineMs: number;
  /** By server. */
  readonly #started = new Map<string, Promise<void>>();

  constructor(run: RunContext, deadlineMs: number) {
    this.#run = run;
    this.#deadlineMs = deadlineMs;
  }

  stop(id: string): Promise<void> {
    const stop = this.#started.get(id) ?? this.#stop(id);
    this.#started.set(id, stop);
    return stop;
  }

  async #stop(id: string): Promise<void> {
    const { signal, noWait } = this.#run;
    for (;;) {
      const server = await this.#find(id);
      if (server?.status !== 'running') return;
      const begun = await this.#requestStop(id);
      if (noWait)
        throw new StillPendingError(`server ${server.name} is being stopped: the next run does the rest`);
      if (begun) return await this.#wait(begun);
      if (Date.now() > this.#deadlineMs) {
        throw new Failure('timeout', `server ${server.name} still does something else, and was not stopped`);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Null: it is gone. */
  async #find(id: string): Promise<Server | null> {
    const { skerry, signal } = this.#run;
    try {
      return await skerry.servers.get(id, { signal });
    } catch (error) {
      if (isApiError(error, 'not_found')) return null;
      throw error;
    }
  }

  /** Null: something is being done to it. It may be the stop that a former run has begun. */
  async #requestStop(id: string): Promise<Server | null> {
    const { skerry, signal } = this.#run;
    try {
      return await skerry.servers.stop(id, { signal });
    } catch (error) {
      if (isApiError(error, 'conflict_state')) return null;
      throw error;
    }
  }

  async #wait(begun: Server): Promise<void> {
    const { skerry, signal, terminal } = this.#run;
    const isDone = (seen: Server | null) => seen?.status === 'stopped';
    const onLook = () => terminal.progress(`waiting until ${begun.name} has stopped …`);
    const timeoutMs = Math.max(0, this.#deadlineMs - Date.now());
    await waitForServer(skerry, begun, { isDone, operation: 'stop' }, { signal, timeoutMs, onLook });
  }
}

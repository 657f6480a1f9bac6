/** Stops servers before they are deleted: each once, however many of its volumes are detached. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { nullIf } from '../../find.ts';
import type { RunContext } from './state.ts';

const POLL_MS = 2_000;

/** The operation continues, and the run does not wait for it. */
export class StillPendingError extends Error {}

export class ServerStopper {
  readonly #run: RunContext;
  /** In milliseconds, as `Date.now()`. */
  readonly #deadlineMs: number;
  /** By server ID. */
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

  /** Waits for a resize that has begun. */
  async waitForResize(begun: Server): Promise<void> {
    if (this.#run.noWait) {
      throw new StillPendingError(`server ${begun.name} is being resized; run the command again to continue`);
    }
    await this.#wait(begun, `waiting for ${begun.name} to be resized …`);
  }

  async #stop(id: string): Promise<void> {
    const { skerry, signal, noWait } = this.#run;
    for (;;) {
      const server = await nullIf('not_found', skerry.servers.get(id, { signal }));
      if (server?.status !== 'running') return;
      // Null: another operation is running, which may be the stop of an earlier run.
      const begun = await nullIf('conflict_state', skerry.servers.stop(id, { signal }));
      if (noWait) {
        throw new StillPendingError(
          `server ${server.name} is shutting down; run the command again to continue`,
        );
      }
      if (begun) return await this.#wait(begun, `waiting for ${begun.name} to stop …`);
      if (Date.now() > this.#deadlineMs) {
        throw new Failure(
          'timeout',
          `server ${server.name} is busy with another operation and was not stopped`,
        );
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async #wait(begun: Server, progress: string): Promise<void> {
    const { skerry, signal, terminal } = this.#run;
    const timeoutMs = Math.max(0, this.#deadlineMs - Date.now());
    terminal.progress(progress);
    try {
      const { action } = begun as Partial<Server>;
      if (action) await skerry.waitForAction(action, { signal, timeoutMs });
      // A service before 1.7 has no actions, and no resize.
      if (action === undefined) await skerry.waitFor(begun, 'stopped', { signal, timeoutMs });
    } catch (error) {
      // A server that was deleted meanwhile needs nothing.
      if ((await nullIf('not_found', skerry.servers.get(begun.id, { signal }))) !== null) throw error;
    }
  }
}

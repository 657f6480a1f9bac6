import { setTimeout as pause } from 'node:timers/promises';

export interface GroupCommitOptions<T> {
  /** How long to wait for more to write. */
  readonly delayMs: () => number;
  /** Returns everything that waits to be written. */
  readonly collect: () => readonly T[];
  readonly write: (waiting: readonly T[]) => Promise<void>;
  /** Resolves when it may be tried again. */
  readonly onFailure: (error: unknown) => Promise<void>;
}

/** Writes what many produce, all that waits at a time: one transaction costs as much as the other. */
export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>;
  #writing: Promise<void> | undefined;

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options;
  }

  /** Starts writing, unless a write is in progress: the next transaction picks up new results then. */
  schedule(): void {
    this.#writing ??= this.#writeAll();
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { delayMs, collect, write, onFailure } = this.#options;
    for (;;) {
      await pause(delayMs());
      const waiting = collect();
      if (waiting.length === 0) {
        // Reset it synchronously with the check, so that a result that arrives later starts a new write.
        this.#writing = undefined;
        return;
      }
      await write(waiting).catch(onFailure);
    }
  }
}

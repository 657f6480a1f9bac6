/**
 * Runs the work on events, at the start, and at intervals, never concurrently. A wake-up during a run causes
 * one more run, and a failure causes a retry. Many events cost no memory: only one flag is kept.
 */
export interface WorkerOptions {
  readonly work: () => Promise<unknown>;
  readonly retryMs: number;
  readonly checkMs: number;
  readonly onError: (error: unknown) => void;
}

export class Worker {
  readonly #options: WorkerOptions;
  #isPending = false;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#isPending = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    clearTimeout(this.#timer);
    void this.#run().then((waitMs) => {
      this.#isRunning = false;
      // The receiver keeps the process alive, not this timer.
      this.#timer = setTimeout(() => this.wake(), waitMs).unref();
    });
  }

  /** Returns the wait until the next run. */
  async #run(): Promise<number> {
    const { work, retryMs, checkMs, onError } = this.#options;
    while (this.#isPending) {
      this.#isPending = false;
      try {
        await work();
      } catch (error) {
        onError(error);
        return retryMs;
      }
    }
    return checkMs;
  }
}

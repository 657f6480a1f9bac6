/**
 * Runs the work one at a time, whatever wakes it: an event, the start, the time. Who is woken during a run runs once more after
 * it; what failed is tried again. However many events come, it remembers one thing: whether to look again.
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
      // It is the receiver that keeps the program running.
      this.#timer = setTimeout(() => this.wake(), waitMs).unref();
    });
  }

  /** Gives how long to wait until the next look. */
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

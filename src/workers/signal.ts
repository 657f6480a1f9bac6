/** Wakes one waiter. A signal that came before the wait counts, until it is cleared. */
export class Signal {
  #isRaised = false;
  #wake: () => void = () => undefined;

  raise(): void {
    this.#isRaised = true;
    this.#wake();
  }

  clear(): void {
    this.#isRaised = false;
  }

  /** Resolves when the signal is raised, or after the timeout. */
  async wait(timeoutMs: number): Promise<void> {
    if (this.#isRaised) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

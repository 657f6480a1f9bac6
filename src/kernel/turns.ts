/** One after another, per key: whoever comes later waits until those before him have ended, well or not. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const ended = mine.catch(() => undefined);
    this.#last.set(key, ended);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}

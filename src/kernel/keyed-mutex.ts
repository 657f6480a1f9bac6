/** A mutex per key: each call waits until all earlier calls for its key have ended, successfully or not. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(key) ?? Promise.resolve();
    const result = previous.then(work);
    const settled = result.catch(() => undefined);
    this.#tails.set(key, settled);
    try {
      return await result;
    } finally {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    }
  }
}

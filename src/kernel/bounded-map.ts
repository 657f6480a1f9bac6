/** A map that forgets its oldest entry when it is full. Setting a key again does not make it newer. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max && oldest !== undefined) this.delete(oldest);
    return this;
  }

  /** Returns the value of a key, which is first set to `initial()` if it is missing. */
  ensure(key: Key, initial: () => Value): Value {
    const value = this.get(key) ?? initial();
    this.set(key, value);
    return value;
  }
}

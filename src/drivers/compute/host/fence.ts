/**
 * Refuses late calls. The control plane numbers its calls from one sequence, so of two calls for a resource
 * the higher number was issued later. A call that arrives after a later one was delayed on its way, perhaps
 * in a process that has lost its lease meanwhile, and must not be carried out.
 *
 * Nothing is stored: calls issued before this process was first greeted are below its floor. Numbers of
 * resources that were not used for long are forgotten by raising the floor to them.
 */

const RESOURCES_MAX = 100_000;

export class Fence {
  /** Calls below it are late; null until the first greeting. */
  #floor: number | null = null;
  /** The highest number of each resource, the least recently used first. */
  readonly #highest = new Map<string, number>();
  readonly #max: number;

  constructor(max = RESOURCES_MAX) {
    this.#max = max;
  }

  /** The first greeting sets the floor. */
  greet(call: number): void {
    this.#floor ??= call;
  }

  /** Whether the call may be carried out. Records its number if so. */
  admit(call: number, resources: readonly string[]): boolean {
    if (this.#floor === null || call < this.#floor) return false;
    if (resources.some((id) => call < (this.#highest.get(id) ?? 0))) return false;
    for (const id of resources) {
      this.#highest.delete(id);
      this.#highest.set(id, call);
    }
    while (this.#highest.size > this.#max) this.#forgetOldest();
    return true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#highest;
    if (oldest === undefined) return;
    this.#highest.delete(oldest[0]);
    this.#floor = Math.max(this.#floor ?? 0, oldest[1]);
  }
}

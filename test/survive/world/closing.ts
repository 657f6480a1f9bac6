/** The open parts of a world. They close in reverse order, and a part that hangs keeps no other open. */
import { withTimeout } from '../../cli/support/with-timeout.ts';

type Close = () => Promise<unknown>;

/** Longer than a process of the service takes to start, since we wait for a process that starts. */
const CLOSES_WITHIN_MS = 90_000;
/** After a second signal. */
const ENDS_WITHIN_MS = 12_000;

const open = new Set<Closing>();

export class Closing {
  readonly #stack: Close[] = [];

  constructor() {
    open.add(this);
  }

  push(close: Close): void {
    this.#stack.push(close);
  }

  /** May be called again meanwhile: then both take what is left. */
  async close(withinMs = CLOSES_WITHIN_MS): Promise<void> {
    for (let close = this.#stack.pop(); close !== undefined; close = this.#stack.pop())
      await withTimeout(close(), 'a part of the world does not close', withinMs).catch(() => undefined);
    open.delete(this);
  }
}

/** Closes every world that is open, without waiting for what hangs. */
export async function closeEverything(): Promise<void> {
  await Promise.all([...open].map((each) => each.close(ENDS_WITHIN_MS)));
}

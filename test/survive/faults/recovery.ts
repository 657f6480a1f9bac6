/**
 * The time until the service answers again once nothing is broken: from the end of the last fault, by its own
 * timer or by the repair of everything. A fault that begins meanwhile ends the measurement.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { breaksService, type FaultName } from './names.ts';

const POLL_MS = 50;
const GIVES_UP_AFTER_MS = 120_000;
/** A recovery that takes longer is explained: above the limit of the table on any machine. */
const SLOW_MS = 8_000;

export class Recovery {
  /** The longest one after each kind of fault. */
  readonly longestMs = new Map<FaultName, number>();
  measured = 0;
  /** The state of the world during each slow one. */
  readonly slow: string[] = [];
  readonly #isReady: () => Promise<boolean>;
  readonly #describe: () => Promise<string>;
  #broken = 0;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(isReady: () => Promise<boolean>, describe: () => Promise<string>) {
    this.#isReady = isReady;
    this.#describe = describe;
  }

  begin(name: FaultName): void {
    if (!breaksService(name)) return;
    this.#broken += 1;
    this.stop();
  }

  end(name: FaultName): void {
    if (!breaksService(name)) return;
    this.#broken -= 1;
    if (this.#broken > 0) return;
    this.#stop = new AbortController();
    this.#running = this.#measure(name, this.#stop.signal);
  }

  /** Ends the measurement. */
  stop(): void {
    this.#stop.abort();
  }

  /** Waits for the measurement. */
  async finish(): Promise<void> {
    await this.#running;
  }

  async #measure(name: FaultName, signal: AbortSignal): Promise<void> {
    const startedMs = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedMs);
    let isExplained = false;
    while (!(await this.#isReady()) && elapsedMs() < GIVES_UP_AFTER_MS && !signal.aborted) {
      if (elapsedMs() > SLOW_MS && !isExplained) {
        isExplained = true;
        this.slow.push(`${name}: not ready after ${elapsedMs()} ms: ${await this.#describe()}`);
      }
      await pause(POLL_MS);
    }
    if (signal.aborted) return;
    this.measured += 1;
    this.longestMs.set(name, Math.max(elapsedMs(), this.longestMs.get(name) ?? 0));
  }
}

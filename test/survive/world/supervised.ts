/** A process that is started again when it ends, as by an init system. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessExit, StartedProcess } from '../../support/skerryd-process.ts';

const RESTART_MS = 300;
/** A busy machine may take longer than a start has. */
const FIRST_STARTS_MAX = 3;
const POLL_MS = 20;

type Running = Omit<StartedProcess, 'found'>;

export class Supervised<Started extends Running = StartedProcess> {
  /** Faults after which it may end on its own. */
  mayDie = 0;
  /** How it ended on its own. */
  readonly deaths: ProcessExit[] = [];
  starts = 0;
  firstStartMs = 0;
  protected serving: Started | null = null;
  readonly #launch: () => Promise<Started>;
  /** Whether a fault ended it. */
  #isEnded = false;
  #isClosing = false;
  #isHeld = false;
  #running: Promise<void> = Promise.resolve();

  constructor(launch: () => Promise<Started>) {
    this.#launch = launch;
  }

  get pid(): number | null {
    return this.serving?.pid ?? null;
  }

  /** Starts it for the first time. Then it runs until `close`. */
  async start(): Promise<void> {
    for (let attempt = 1; this.serving === null; attempt++) {
      await this.#start().catch((error: unknown) => {
        if (attempt >= FIRST_STARTS_MAX) throw error;
      });
    }
    this.#running = this.#keepRunning();
  }

  /** Ends it with a signal. It starts again, once `release` is called if it is held. */
  async end(signal: NodeJS.Signals, options: { readonly hold?: boolean } = {}): Promise<void> {
    const { serving } = this;
    if (serving === null) return;
    // Another fault may hold it.
    if (options.hold) this.#isHeld = true;
    this.#isEnded = true;
    await serving.stop(signal);
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Returns whether it ran. */
  signal(signal: NodeJS.Signals): boolean {
    const { pid } = this;
    try {
      return pid !== null && process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isHeld = false;
    await this.serving?.stop('SIGKILL');
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isClosing) {
      const { serving } = this;
      if (serving === null) {
        // A start may fail while something it needs is broken.
        await this.#start().catch(async () => await pause(RESTART_MS));
        continue;
      }
      const exit = await serving.ended;
      this.serving = null;
      if (!this.#isEnded && !this.#isClosing && this.mayDie === 0) this.deaths.push(exit);
      this.#isEnded = false;
      while (this.#isHeld && !this.#isClosing) await pause(POLL_MS);
    }
  }

  async #start(): Promise<void> {
    this.starts += 1;
    const startedMs = performance.now();
    const serving = await this.#launch();
    this.firstStartMs ||= Math.round(performance.now() - startedMs);
    if (this.#isClosing) return void (await serving.stop('SIGKILL'));
    this.serving = serving;
  }
}

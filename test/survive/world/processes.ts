/** The processes of the service. A process that ends is started again, as by an init system. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Environment,
  type ProcessExit,
  type SkerrydProcess,
  startSkerryd,
} from '../../support/skerryd-process.ts';

const PRELOAD = fileURLToPath(new URL('./shifted-clock.ts', import.meta.url));
const RESTART_MS = 300;
const POLL_MS = 20;

/** Why the test ended a process; null: it ended on its own. */
type Reason = string | null;

export interface Death {
  readonly process: number;
  readonly exit: ProcessExit;
}

export class ServiceProcess {
  readonly index: number;
  readonly settings: Environment;
  readonly clockFile: string;
  /** Faults after which it may end on its own. */
  mayDie = 0;
  readonly deaths: Death[] = [];
  starts = 0;
  #serving: SkerrydProcess | null = null;
  #reason: Reason = null;
  #isClosing = false;
  #isHeld = false;
  #running: Promise<void> = Promise.resolve();

  constructor(index: number, settings: Environment, clockFile: string) {
    this.index = index;
    this.clockFile = clockFile;
    const preload = `--import=${PRELOAD} --disable-warning=ExperimentalWarning`;
    this.settings = { ...settings, SURVIVE_CLOCK_FILE: clockFile, NODE_OPTIONS: preload };
  }

  get url(): string | null {
    return this.#serving?.url ?? null;
  }

  get pid(): number | null {
    return this.#serving?.pid ?? null;
  }

  /** Starts it for the first time. Then it runs until `close`. */
  async start(): Promise<void> {
    await this.#launch();
    this.#running = this.#keepRunning();
  }

  /** Ends it with a signal. It starts again, once `release` is called if it is held. */
  async end(signal: NodeJS.Signals, options: { readonly hold?: boolean } = {}): Promise<void> {
    const serving = this.#serving;
    if (serving === null) return;
    this.#isHeld = options.hold ?? false;
    this.#reason = signal;
    await serving.stop(signal);
  }

  release(): void {
    this.#isHeld = false;
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    try {
      if (pid !== null) process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }

  async shiftClock(ms: number): Promise<void> {
    await writeFile(this.clockFile, String(ms));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isHeld = false;
    this.signal('SIGCONT');
    await this.#serving?.stop('SIGKILL');
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isClosing) {
      const serving = this.#serving;
      if (serving === null) {
        // A start may fail while something it needs is broken.
        await this.#launch().catch(async () => await pause(RESTART_MS));
        continue;
      }
      const exit = await serving.ended;
      this.#serving = null;
      if (this.#reason === null && !this.#isClosing && this.mayDie === 0)
        this.deaths.push({ process: this.index, exit });
      this.#reason = null;
      while (this.#isHeld && !this.#isClosing) await pause(POLL_MS);
    }
  }

  async #launch(): Promise<void> {
    this.starts += 1;
    const serving = await startSkerryd(this.settings);
    if (this.#isClosing) return void (await serving.stop('SIGKILL'));
    this.#serving = serving;
  }
}

export class Processes {
  readonly all: readonly ServiceProcess[];

  constructor(all: readonly ServiceProcess[]) {
    this.all = all;
  }

  at(index: number): ServiceProcess {
    const found = this.all[index % this.all.length];
    if (!found) throw new Error('there is no process');
    return found;
  }

  /** The URL of this process, or of another one if it does not run. Waits until one does. */
  async url(index: number): Promise<string> {
    for (let n = index; ; n++) {
      const { url } = this.at(n);
      if (url !== null) return url;
      if ((n - index) % this.all.length === this.all.length - 1) await pause(POLL_MS);
    }
  }

  /** Whether each of them can read and write. */
  async areReady(): Promise<boolean> {
    const ready = this.all.map(async ({ url }) => {
      if (url === null) return false;
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
      return response?.status === 200;
    });
    return (await Promise.all(ready)).every(Boolean);
  }
}

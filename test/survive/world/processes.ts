/** The processes of the service. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Environment, type SkerrydProcess, startSkerryd } from '../../support/skerryd-process.ts';
import { Supervised } from './supervised.ts';

const PRELOAD = fileURLToPath(new URL('./shifted-clock.ts', import.meta.url));
const POLL_MS = 20;
const READY_TIMEOUT_MS = 5_000;
/** Longer than a start on a busy machine. */
const RUNS_WITHIN_MS = 90_000;

export class ServiceProcess extends Supervised<SkerrydProcess> {
  readonly #clockFile: string;

  constructor(settings: Environment, clockFile: string) {
    const preload = `--import=${PRELOAD} --disable-warning=ExperimentalWarning`;
    const all = { ...settings, SURVIVE_CLOCK_FILE: clockFile, NODE_OPTIONS: preload };
    super(() => startSkerryd(all));
    this.#clockFile = clockFile;
  }

  get url(): string | null {
    return this.serving?.url ?? null;
  }

  async shiftClock(ms: number): Promise<void> {
    await writeFile(this.#clockFile, String(ms));
  }

  async isReady(): Promise<boolean> {
    const { url } = this;
    if (url === null) return false;
    const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
    const response = await fetch(`${url}/readyz`, { signal }).catch(() => null);
    return response?.status === 200;
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
  async url(index: number, withinMs = RUNS_WITHIN_MS): Promise<string> {
    for (const until = performance.now() + withinMs; performance.now() < until; await pause(POLL_MS)) {
      const found = this.all.map((_, n) => this.at(index + n).url).find((url) => url !== null);
      if (found !== undefined) return found;
    }
    throw new Error(`timed out after ${withinMs / 1_000} s: no process of the service runs`);
  }

  /** Whether each of them can read and write. */
  async areReady(): Promise<boolean> {
    return (await Promise.all(this.all.map((one) => one.isReady()))).every(Boolean);
  }
}

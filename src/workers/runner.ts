/**
 * Runs the duties: each in a loop of its own, as soon as it is woken and at the latest after the poll interval. Polling
 * is the guarantee; waking is the hurry. `settle` runs everything to rest for whoever needs to know that nothing
 * is left (the sandbox, tests).
 */
import type { Logger } from '../kernel/logger.ts';
import type { Duty } from './duty.ts';

const BUSY_LOOK_MS = 25;

export class Runner {
  readonly #duties: readonly Duty[];
  readonly #pollMs: number;
  readonly #log: Logger;
  readonly #underWay = new Map<Duty, Promise<number>>();
  #loops: Promise<void>[] = [];
  #sleepers = new Set<() => void>();
  #wakes = 0;
  #stopped = false;

  constructor(options: { duties: readonly Duty[]; pollMs: number; log: Logger }) {
    this.#duties = options.duties;
    this.#pollMs = options.pollMs;
    this.#log = options.log;
  }

  start(): void {
    this.#loops = this.#duties.map((duty) => this.#loop(duty));
  }

  /** Lets each duty finish what it holds, then returns. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.wake();
    await Promise.all(this.#loops);
    await Promise.allSettled(this.#underWay.values());
  }

  wake(): void {
    this.#wakes += 1;
    for (const rise of this.#sleepers) rise();
    this.#sleepers.clear();
  }

  /** Runs all due work until none is left and nothing is under way, `withinMs` at most or until `stop`; says whether it rests. */
  async settle(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    while (Date.now() < deadline && !this.#stopped) {
      if (await this.runDue(deadline)) {
        const busy = await Promise.all(this.#duties.map((duty) => duty.busy()));
        if (!busy.includes(true)) return true;
        await this.#sleep(BUSY_LOOK_MS);
      }
    }
    return false;
  }

  /** Runs what is due now until a whole round finds nothing; false when the deadline came first. */
  async runDue(deadline: number): Promise<boolean> {
    while (Date.now() < deadline && !this.#stopped) {
      let did = 0;
      for (const duty of this.#duties) did += await this.#once(duty);
      if (did === 0) return true;
    }
    return false;
  }

  /** The earliest planned work, or null. */
  async nextDue(): Promise<Date | null> {
    const all = await Promise.all(this.#duties.map((duty) => duty.nextDue()));
    const times = all.filter((time) => time !== null).map((time) => time.getTime());
    return times.length > 0 ? new Date(Math.min(...times)) : null;
  }

  async #loop(duty: Duty): Promise<void> {
    while (!this.#stopped) {
      const wakes = this.#wakes;
      const did = await this.#once(duty);
      // What it was woken for while it looked may have come too late for this look.
      if (did === 0 && wakes === this.#wakes && !this.#stopped) await this.#sleep(this.#pollMs);
    }
  }

  /** One run, never two of the same duty at a time in this process; a failure is logged and counts as rest. */
  async #once(duty: Duty): Promise<number> {
    for (let other = this.#underWay.get(duty); other; other = this.#underWay.get(duty)) await other;
    const run = duty.run().catch((error: unknown) => {
      if (!this.#stopped) this.#log.error({ err: error, duty: duty.name }, 'duty failed');
      return 0;
    });
    this.#underWay.set(duty, run);
    try {
      return await run;
    } finally {
      this.#underWay.delete(duty);
    }
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const rise = () => {
        clearTimeout(timer);
        this.#sleepers.delete(rise);
        resolve();
      };
      const timer = setTimeout(rise, ms);
      this.#sleepers.add(rise);
    });
  }
}

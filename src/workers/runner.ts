/**
 * Runs the duties: each in a loop of its own, as soon as it is woken and at the latest after the poll interval. Polling
 * is the guarantee; waking is the hurry. `settle` runs everything to rest for whoever needs to know that nothing
 * is left (the sandbox, tests); `alone` and `runDue` are for whoever moves the clock.
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
  /** Who sleeps, and for which duty: its loop, or null for a caller of `settle`. */
  readonly #sleepers = new Map<() => void, Duty | null>();
  #wakes = 0;
  /** How often a duty has done something that others may follow. */
  #deeds = 0;
  /** For how many the loops stand still. */
  #held = 0;
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
    await Promise.all([...this.#loops, ...this.#duties.map((duty) => duty.stop?.())]);
    await Promise.allSettled(this.#underWay.values());
  }

  wake(): void {
    this.#wakes += 1;
    for (const rise of [...this.#sleepers.keys()]) rise();
    for (const duty of this.#duties) duty.wake?.();
  }

  /**
   * While `work` lasts the loops of this process stand still, so that what is done meanwhile is done by its rounds, and
   * once. It must run the duties itself.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
      this.wake();
    }
  }

  /** Runs all due work until none is left and nothing is under way, `withinMs` at most or until `stop`; says whether it rests. */
  async settle(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    while (Date.now() < deadline && !this.#stopped) {
      if (await this.runDue(deadline)) {
        const busy = await Promise.all(this.#duties.map((duty) => duty.busy()));
        if (!busy.includes(true)) return true;
        await this.pause();
      }
    }
    return false;
  }

  /** Names of the duties that are being run, or wait for something that ends by itself; one that cannot say is one of them. */
  async busyNames(): Promise<string[]> {
    const busy = await Promise.all(
      this.#duties.map(async (duty) => this.#underWay.has(duty) || (await duty.busy().catch(() => true))),
    );
    return this.#duties.filter((_, index) => busy[index]).map((duty) => duty.name);
  }

  /**
   * Runs what is due now until each duty has found nothing since the last one found something; false when the
   * deadline came first. `passing`: without housekeeping.
   */
  async runDue(deadline: number, { passing = false } = {}): Promise<boolean> {
    const duties = passing ? this.#duties.filter((duty) => !duty.housekeeping) : this.#duties;
    let resting = 0;
    while (resting < duties.length) {
      for (const duty of duties) {
        if (Date.now() >= deadline || this.#stopped) return false;
        resting = (await this.#once(duty)) === 0 ? resting + 1 : 0;
        if (resting === duties.length) break;
      }
    }
    return true;
  }

  /** Once nothing is due: the earliest planned work, or null, and whether something is in flight that holds the clock. */
  async ahead(): Promise<{ readonly due: Date | null; readonly inFlight: boolean }> {
    const holders = this.#duties.filter((duty) => duty.holdsClock);
    const [due, ...busy] = await Promise.all([this.nextDue(), ...holders.map((duty) => duty.busy())]);
    return { due, inFlight: busy.includes(true) };
  }

  /** The earliest planned work, or null. */
  async nextDue(): Promise<Date | null> {
    const all = await Promise.all(this.#duties.map((duty) => duty.nextDue()));
    const times = all.filter((time) => time !== null).map((time) => time.getTime());
    return times.length > 0 ? new Date(Math.min(...times)) : null;
  }

  /** Lets what is under way get on for a moment. */
  async pause(): Promise<void> {
    await this.#sleep(BUSY_LOOK_MS);
  }

  async #loop(duty: Duty): Promise<void> {
    while (!this.#stopped) {
      if (this.#held > 0) {
        await this.#sleep(this.#pollMs);
        continue;
      }
      const seen = this.#newsFor(duty);
      const did = await this.#once(duty);
      if (did > 0 && !duty.follows) this.#tellFollowers();
      // What it was woken for while it looked may have come too late for this look.
      if (did === 0 && seen === this.#newsFor(duty) && !this.#stopped) await this.#sleep(this.#pollMs, duty);
    }
  }

  #newsFor(duty: Duty): number {
    return this.#wakes + (duty.follows ? this.#deeds : 0);
  }

  #tellFollowers(): void {
    this.#deeds += 1;
    for (const [rise, duty] of [...this.#sleepers]) if (duty?.follows) rise();
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

  async #sleep(ms: number, duty: Duty | null = null): Promise<void> {
    await new Promise<void>((resolve) => {
      const rise = () => {
        clearTimeout(timer);
        this.#sleepers.delete(rise);
        resolve();
      };
      const timer = setTimeout(rise, ms);
      this.#sleepers.set(rise, duty);
    });
  }
}

/** Events besides the next step: time passes, a process dies, a driver fails, an answer is lost. */
import type { Random } from './random.ts';

/** How a step ends: it runs, it fails first, or it runs and its answer is lost, to the task or with it. */
export type Fate = 'run' | 'fail' | 'lose' | 'die';

/** The most events of each kind in one interleaving. */
export interface Chances {
  readonly deaths?: number;
  /** Steps that fail, or whose answer is lost. */
  readonly faults?: number;
  /** Jumps of the clock to choose from, and how many of them. */
  readonly jumpsMs?: readonly number[];
  readonly jumps?: number;
}

/** How often a step that may have another fate has it. */
const FAULT_CHANCE = 0.08;

type Event = { readonly kind: 'time'; readonly ms: number } | { readonly kind: 'death' };

export class EventBudget {
  readonly #random: Random;
  readonly #jumpsMs: readonly number[];
  #left: { deaths: number; faults: number; jumps: number };

  constructor(random: Random, { deaths = 0, faults = 0, jumpsMs = [], jumps = 0 }: Chances) {
    this.#random = random;
    this.#jumpsMs = jumpsMs;
    this.#left = { deaths, faults, jumps };
  }

  /** A sleeping task may wake before the others go on, which costs no jump. */
  draw(can: { mayDie: boolean; dueMs: number | null; nowMs: number }): Event | null {
    const events: (() => Event)[] = [];
    const { dueMs, nowMs } = can;
    if (dueMs !== null) events.push(() => ({ kind: 'time', ms: dueMs }));
    if (this.#left.jumps > 0) {
      events.push(() => {
        this.#left.jumps -= 1;
        const jumpMs = this.#jumpsMs[this.#random.below(this.#jumpsMs.length)] ?? 0;
        return { kind: 'time', ms: nowMs + jumpMs };
      });
    }
    if (can.mayDie && this.#left.deaths > 0) {
      events.push(() => {
        this.#left.deaths -= 1;
        return { kind: 'death' };
      });
    }
    return events[this.#random.below(events.length)]?.() ?? null;
  }

  /** The fate of a step. */
  fateOf(fates: readonly Fate[]): Fate {
    const others = fates.filter((fate) => fate !== 'run' && this.#may(fate));
    if (others.length === 0 || !this.#random.chance(FAULT_CHANCE)) return 'run';
    const fate = others[this.#random.below(others.length)] ?? 'run';
    this.#left[fate === 'die' ? 'deaths' : 'faults'] -= 1;
    return fate;
  }

  #may(fate: Fate): boolean {
    return (fate === 'die' ? this.#left.deaths : this.#left.faults) > 0;
  }
}

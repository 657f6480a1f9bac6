/** The faults under way: each ends after its time or its number of steps, or when everything is repaired. */
import { setTimeout as pause } from 'node:timers/promises';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import type { FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';
import type { Begin, Broken } from './begin.ts';
import type { FaultName } from './names.ts';
import { Recovery } from './recovery.ts';

const BEGINS_WITHIN_MS = 60_000;

export interface FaultCount {
  /** How often it was its turn, and how often there was something to break. */
  begun: number;
  applied: number;
}

interface Active {
  stepsLeft: number;
  readonly end: () => Promise<void>;
}

export class Breaking {
  readonly counts = new Map<FaultName, FaultCount>();
  /** Faults that could not begin or end, such as a file system that stays busy. */
  readonly failures: string[] = [];
  readonly recovery: Recovery;
  readonly #world: World;
  readonly #table: Readonly<Record<FaultName, Begin>>;
  readonly #active = new Set<Active>();
  readonly #recent = new Set<FaultName>();

  constructor(world: World, table: Readonly<Record<FaultName, Begin>>, names: readonly FaultName[]) {
    this.#world = world;
    this.#table = table;
    this.recovery = new Recovery(
      () => world.processes.areReady(),
      () => world.describe(),
    );
    for (const name of names) this.#count(name);
  }

  /** Whether each kind of fault had its turn. */
  get isComplete(): boolean {
    return [...this.counts.values()].every(({ begun }) => begun > 0);
  }

  async begin(step: FaultStep): Promise<void> {
    await pause(step.afterMs);
    this.#count(step.name).begun += 1;
    const broken = await this.#start(step).catch((error: unknown) => this.#fail(step, error));
    if (broken === null) return;
    this.#count(step.name).applied += 1;
    this.#recent.add(step.name);
    this.recovery.begin(step.name);
    let ended: Promise<void> | null = null;
    const end = (): Promise<void> => {
      clearTimeout(timer);
      ended ??= this.#repair(step, broken).finally(() => this.#active.delete(fault));
      return ended;
    };
    const fault: Active = { stepsLeft: step.steps, end };
    this.#active.add(fault);
    const timer = setTimeout(() => void end(), broken.isOver ? 0 : step.forMs);
  }

  /** Another operation has begun. */
  countStep(): void {
    for (const fault of this.#active) {
      fault.stepsLeft -= 1;
      if (fault.stepsLeft <= 0) void fault.end();
    }
  }

  /** Also waits for repairs that are under way. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#active].map(({ end }) => end()));
  }

  /** Returns the faults that there were since the last call. */
  takeRecent(): ReadonlySet<FaultName> {
    const recent = new Set(this.#recent);
    this.#recent.clear();
    return recent;
  }

  /** A fault that begins too late ends at once. */
  async #start(step: FaultStep): Promise<Broken | null> {
    const begun = this.#table[step.name](this.#world, step);
    try {
      return await withTimeout(begun, 'it did not begin', BEGINS_WITHIN_MS);
    } catch (error) {
      void begun.then((broken) => broken?.repair()).catch(() => undefined);
      throw error;
    }
  }

  async #repair(step: FaultStep, { repair }: Broken): Promise<void> {
    const result = await repair().catch((error: unknown) => this.#fail(step, error));
    if (result === false) this.#count(step.name).applied -= 1;
    this.recovery.end(step.name);
  }

  #count(name: FaultName): FaultCount {
    const found = this.counts.get(name) ?? { begun: 0, applied: 0 };
    this.counts.set(name, found);
    return found;
  }

  #fail({ name }: FaultStep, error: unknown): null {
    this.failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

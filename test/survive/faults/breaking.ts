/** The faults under way: each ends after its time or its number of steps, or when everything is repaired. */
import { setTimeout as pause } from 'node:timers/promises';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import type { FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';
import type { FaultName } from './names.ts';

/** Repairs what a fault broke. */
export type End = () => Promise<void>;
export type Begin = (world: World, step: FaultStep) => Promise<End>;

const BEGINS_WITHIN_MS = 60_000;

export const nothingToRepair: End = async () => undefined;

export class Breaking {
  readonly counts = new Map<FaultName, number>();
  /** Faults that could not begin or end, such as a file system that stays busy. */
  readonly failures: string[] = [];
  readonly #world: World;
  readonly #table: Readonly<Record<FaultName, Begin>>;
  readonly #active = new Set<{ stepsLeft: number; readonly end: End }>();

  constructor(world: World, table: Readonly<Record<FaultName, Begin>>) {
    this.#world = world;
    this.#table = table;
  }

  async begin(step: FaultStep): Promise<void> {
    await pause(step.afterMs);
    const fail = (error: unknown) => {
      this.failures.push(`${step.name}: ${error instanceof Error ? error.message : error}`);
      return null;
    };
    const repair = await this.#start(step).catch(fail);
    if (repair === null) return;
    this.counts.set(step.name, (this.counts.get(step.name) ?? 0) + 1);
    let ended: Promise<void> | null = null;
    const end = (): Promise<void> => {
      clearTimeout(timer);
      this.#active.delete(fault);
      ended ??= repair().catch((error: unknown) => void fail(error));
      return ended;
    };
    const fault = { stepsLeft: step.steps, end };
    this.#active.add(fault);
    const timer = setTimeout(() => void end(), step.forMs);
  }

  /** One that begins too late ends at once. */
  async #start(step: FaultStep): Promise<End> {
    const begun = this.#table[step.name](this.#world, step);
    try {
      return await withTimeout(begun, 'it did not begin', BEGINS_WITHIN_MS);
    } catch (error) {
      void begun.then((repair) => repair()).catch(() => undefined);
      throw error;
    }
  }

  /** Another operation has begun. */
  countStep(): void {
    for (const fault of this.#active) {
      fault.stepsLeft -= 1;
      if (fault.stepsLeft <= 0) void fault.end();
    }
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#active].map(({ end }) => end()));
  }
}

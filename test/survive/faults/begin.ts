/** How a fault begins and ends, and on which part of the world. */
import type { FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';

/** Repairs what a fault broke. Returns false if the fault did nothing after all. */
export type Repair = () => Promise<unknown>;

export interface Broken {
  readonly repair: Repair;
  /** Only its effect lasts, such as that of a kill. */
  readonly isOver: boolean;
}

/** Null: there was nothing to break. */
export type Begin = (world: World, step: FaultStep) => Promise<Broken | null>;

export const lasting = (repair: Repair): Broken => ({ repair, isOver: false });
export const momentary = (repair: Repair = async () => undefined): Broken => ({ repair, isOver: true });

/** A part that a fault can break, and its names. */
export interface Part<T> {
  readonly places: readonly string[];
  readonly part: T;
}

export const onPart = <T>(place: string, part: T): Part<T> => ({ places: [place], part });

/** The parts from this index on. */
export function rotate<T>(parts: readonly T[], on: number): T[] {
  const first = parts.length === 0 ? 0 : on % parts.length;
  return [...parts.slice(first), ...parts.slice(0, first)];
}

/** Breaks the first part that can break. One at a time: the repair of a fault would also end another one. */
export const breakOne =
  <T>(
    find: (world: World, step: FaultStep) => readonly Part<T>[],
    begin: (part: T, step: FaultStep, world: World) => Promise<Broken | null>,
  ): Begin =>
  async (world, step) => {
    for (const { places, part } of find(world, step)) {
      if (places.some((place) => world.broken.has(place))) continue;
      for (const place of places) world.broken.add(place);
      const free = () => {
        for (const place of places) world.broken.delete(place);
      };
      const broken = await begin(part, step, world).catch((error: unknown) => {
        free();
        throw error;
      });
      if (broken !== null) return { ...broken, repair: async () => await broken.repair().finally(free) };
      free();
    }
    return null;
  };

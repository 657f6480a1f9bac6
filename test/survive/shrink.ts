/** Finds a shorter history that still fails, by leaving out parts of it: delta debugging. */
import type { Step } from './history.ts';

export interface ShrinkOptions {
  /** Whether a history fails in the same way. */
  readonly fails: (steps: readonly Step[]) => Promise<boolean>;
  readonly maxRuns: number;
  readonly maxMs: number;
}

export interface Shrunk {
  readonly steps: readonly Step[];
  readonly runs: number;
}

/** Every history that it returns has failed, apart from the first one. */
export async function shrink(steps: readonly Step[], options: ShrinkOptions): Promise<Shrunk> {
  const until = performance.now() + options.maxMs;
  let current = steps;
  let runs = 0;
  const isOver = () => runs >= options.maxRuns || performance.now() > until;
  for (let parts = 2; current.length > 1 && !isOver(); ) {
    const size = Math.ceil(current.length / parts);
    let isShorter = false;
    for (let start = 0; start < current.length && !isOver(); start += size) {
      const rest = [...current.slice(0, start), ...current.slice(start + size)];
      runs += 1;
      if (!(await options.fails(rest))) continue;
      current = rest;
      isShorter = true;
      break;
    }
    if (isShorter) parts = Math.max(2, parts - 1);
    else if (size === 1) break;
    else parts = Math.min(current.length, parts * 2);
  }
  return { steps: current, runs };
}

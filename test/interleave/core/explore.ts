/** Runs a scenario once for each seed, and tells how to repeat a failure. */
import { Failure } from '../../../src/kernel/fail.ts';
import { OperatorError } from '../../../src/kernel/operator-error.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import { brokenInvariants } from './checks.ts';
import type { Chances } from './events.ts';
import type { Task, Work } from './scheduler.ts';
import type { InterleaveWorld } from './world.ts';

export interface Prepared {
  readonly tasks: Readonly<Record<string, Work>>;
  /** Runs after them, alone and without faults, until everything has come to its end. */
  readonly finish?: Work;
  /** Fails if the end is wrong. Runs before the invariants of `skerryd verify`. */
  readonly check?: (tasks: readonly Task[], db: Sql) => Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly chances?: Chances;
  prepare(world: InterleaveWorld): Promise<Prepared>;
}

/** A scenario whose seed breaks a rule. */
export class Broken extends Error {
  readonly seed: number;
  readonly trace: readonly string[];

  constructor(scenario: string, seed: number, trace: readonly string[], cause: unknown) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    super(
      [
        `${scenario}, seed ${seed}: ${reason}`,
        'The steps:',
        ...trace.map((line) => `  ${line}`),
        `Repeat it with: npm run interleave -- --scenario ${scenario} --seed ${seed} --count 1`,
      ].join('\n'),
      { cause },
    );
    this.seed = seed;
    this.trace = trace;
  }
}

/** Runs one interleaving. Returns its steps. */
export async function runSeed(
  world: InterleaveWorld,
  scenario: Scenario,
  seed: number,
): Promise<readonly string[]> {
  const { trace, result } = await world.interleave({ seed, chances: scenario.chances }, async (scheduler) => {
    const { tasks, finish, check } = await scenario.prepare(world);
    await scheduler.run(tasks);
    const ended = [...scheduler.tasks];
    requireExplained(ended, scenario.chances);
    if (finish) await scheduler.run({ finish }, { isCalm: true });
    requireExplained(scheduler.tasks.slice(ended.length));
    await check?.(ended, world.db);
    const broken = await brokenInvariants(world.db);
    if (broken.length > 0) throw new Error(`broken: ${broken.join('; ')}`);
  });
  if (result !== undefined) throw new Broken(scenario.name, seed, trace, result.failed);
  return trace;
}

export interface Explored {
  readonly count: number;
  readonly seconds: number;
  readonly steps: number;
}

export async function explore(
  world: InterleaveWorld,
  scenario: Scenario,
  seeds: { readonly first: number; readonly count: number },
): Promise<Explored> {
  const startedMs = performance.now();
  let steps = 0;
  for (let seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
    steps += (await runSeed(world, scenario, seed)).length;
  }
  return { count: seeds.count, seconds: (performance.now() - startedMs) / 1_000, steps };
}

/** A customer or staff may be refused. Other errors need a fault that we injected. */
function requireExplained(tasks: readonly Task[], chances: Chances = {}): void {
  for (const { name, error } of tasks) {
    if (error === undefined || error instanceof Failure || error instanceof OperatorError) continue;
    if ((chances.faults ?? 0) > 0 && isInjected(error)) continue;
    throw new Error(`${name} failed`, { cause: error });
  }
}

function isInjected(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return name === 'OutcomeUnknown' || code === '08006' || String(error).includes('no answer');
}

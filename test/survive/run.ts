/** Runs a history against the service, and returns what it held and what it did not. */
import { withTimeout } from '../cli/support/with-timeout.ts';
import { type CalmFigures, calm } from './checks/calm.ts';
import { Deliveries, type DeliveryFigures } from './checks/deliveries.ts';
import { type Problem, thrown } from './checks/problem.ts';
import type { Begin } from './faults/begin.ts';
import { Breaking, type FaultCount } from './faults/breaking.ts';
import { availableFaults, type FaultName, type FaultSet } from './faults/names.ts';
import type { Recovery } from './faults/recovery.ts';
import { FAULTS } from './faults/table.ts';
import type { OperationStep, Step } from './history.ts';
import { Model } from './model/model.ts';
import { Acting } from './operations/acting.ts';
import type { AskFigures } from './operations/ask.ts';
import type { OperationName } from './operations/names.ts';
import { OPERATIONS } from './operations/operations.ts';
import { World } from './world/world.ts';

/** A step that takes longer fails, instead of the whole run hanging. */
const STEP_WITHIN_MS = 300_000;
/** The steps under way, every repair, the work that is due, and the comparison. */
const REST_WITHIN_MS = 1_200_000;

/** A run of so long takes more steps until each kind of fault had its turn. */
const EVERY_FAULT_FROM_MS = 5 * 60_000;

export interface RunResult {
  readonly seed: number;
  /** The steps that were taken. */
  readonly steps: readonly Step[];
  readonly seconds: number;
  readonly problems: readonly Problem[];
  readonly faults: ReadonlyMap<FaultName, FaultCount>;
  readonly faultFailures: readonly string[];
  /** How often the service recovered while nothing else broke it, and the longest time after each fault. */
  readonly recoveries: Pick<Recovery, 'measured' | 'longestMs' | 'slow'>;
  readonly starts: number;
  /** How long a process takes to start on this machine, without faults. */
  readonly firstStartMs: number;
  /** Servers that the host behind a proxy had, at most. */
  readonly hosted: number;
  readonly asked: AskFigures;
  readonly calmed: CalmFigures;
  readonly delivered: DeliveryFigures;
}

export interface RunOptions {
  readonly seed: number;
  readonly faults: FaultSet;
  /** Then it takes no more steps. */
  readonly forMs: number;
  readonly tell?: (line: string) => void;
  /** A rest that takes longer is a finding. */
  readonly restWithinMs?: number;
  /** Ends the run after the current step, without a comparison. */
  readonly signal?: AbortSignal;
}

/** The parts of a run; tests replace them. */
export interface RunParts {
  readonly start: (faults: FaultSet) => Promise<World>;
  readonly faults: Readonly<Record<FaultName, Begin>>;
  readonly operations: Readonly<Record<OperationName, (acting: Acting) => Promise<void>>>;
  readonly calm: typeof calm;
}

const REAL: RunParts = { start: World.start, faults: FAULTS, operations: OPERATIONS, calm };

/** Takes the steps in order. Each customer does one thing at a time, and all of them at once. */
export async function runHistory(
  steps: Iterable<Step>,
  options: RunOptions,
  parts: RunParts = REAL,
): Promise<RunResult> {
  const run = new Run(await parts.start(options.faults), options, parts);
  try {
    await run.take(steps);
    return run.result();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #world: World;
  readonly #options: RunOptions;
  readonly #parts: RunParts;
  readonly #model = new Model();
  readonly #breaking: Breaking;
  readonly #deliveries = new Deliveries();
  readonly #figures: CalmFigures = {
    ...{ calms: 0, longestSettleMs: 0, comparedResources: 0, hosted: 0 },
  };
  /** The step under way of each customer. */
  readonly #lanes = new Map<number, Promise<void>>();
  readonly #taken: Step[] = [];
  readonly #problems: Problem[] = [];
  readonly #startedMs = performance.now();

  constructor(world: World, options: RunOptions, parts: RunParts) {
    this.#world = world;
    this.#options = options;
    this.#parts = parts;
    this.#breaking = new Breaking(world, parts.faults, availableFaults(options.faults));
  }

  async take(steps: Iterable<Step>): Promise<void> {
    const { signal } = this.#options;
    for (const step of steps) {
      if (this.#isOver() || signal?.aborted) break;
      this.#taken.push(step);
      if (step.kind === 'operation') await this.#act(step);
      else if (step.kind === 'fault') await this.#breaking.begin(step);
      else await this.#rest(false);
      if (this.#problems.length > 0) return;
    }
    if (!signal?.aborted) await this.#rest(true);
  }

  result(): RunResult {
    const { processes, asker } = this.#world;
    const { counts, failures, recovery } = this.#breaking;
    return {
      ...{ seed: this.#options.seed, steps: this.#taken, problems: this.#problems },
      ...{ faults: counts, faultFailures: failures, recoveries: recovery },
      seconds: Math.round((performance.now() - this.#startedMs) / 1_000),
      starts: processes.all.reduce((sum, { starts }) => sum + starts, 0),
      firstStartMs: Math.max(...processes.all.map((one) => one.firstStartMs)),
      hosted: this.#figures.hosted,
      ...{ asked: asker.figures, calmed: this.#figures, delivered: this.#deliveries.figures },
    };
  }

  async close(): Promise<void> {
    await withTimeout(this.#breaking.endAll(), 'the repair', STEP_WITHIN_MS).catch(() => undefined);
    await Promise.allSettled(this.#lanes.values());
    this.#breaking.recovery.stop();
    await this.#world.close();
  }

  #isOver(): boolean {
    const { forMs } = this.#options;
    const isDue = performance.now() - this.#startedMs > forMs;
    return isDue && (forMs < EVERY_FAULT_FROM_MS || this.#breaking.isComplete);
  }

  async #act(step: OperationStep): Promise<void> {
    const [world, model] = [this.#world, this.#model];
    await this.#lanes.get(step.customer);
    this.#breaking.countStep();
    const customer = model.customer(step.customer) ?? model.add(step.customer);
    if (customer.token === '' && step.name !== 'sign up') return;
    const acting = new Acting({ world, model, customer, step, seed: this.#options.seed });
    const work = withTimeout(this.#parts.operations[step.name](acting), acting.name, STEP_WITHIN_MS);
    const lane = work.catch((error: unknown) => void this.#problems.push(thrown(step.name, error)));
    this.#lanes.set(step.customer, lane);
  }

  /** A throw is a finding as well, such as an acknowledged customer who is unknown now. */
  async #rest(isLast: boolean): Promise<void> {
    const { tell = () => undefined } = this.#options;
    try {
      const { restWithinMs = REST_WITHIN_MS } = this.#options;
      this.#problems.push(...(await withTimeout(this.#compare(isLast), 'it does not end', restWithinMs)));
    } catch (error) {
      this.#problems.push(thrown('the comparison', error));
    }
    const { acknowledged, requests } = this.#world.asker.figures;
    const done = `${acknowledged} of ${requests} requests acknowledged`;
    tell(`${this.#taken.length} steps, ${done}, ${this.#problems.length} problems`);
  }

  async #compare(isLast: boolean): Promise<Problem[]> {
    await Promise.all(this.#lanes.values());
    const [world, model, breaking] = [this.#world, this.#model, this.#breaking];
    const [deliveries, figures] = [this.#deliveries, this.#figures];
    return await this.#parts.calm({ world, model, breaking, deliveries, figures }, isLast);
  }
}

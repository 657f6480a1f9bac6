/** Runs a history against the service, and returns what it held and what it did not. */
import { withTimeout } from '../cli/support/with-timeout.ts';
import { type CalmFigures, calm } from './checks/calm.ts';
import { Deliveries, type DeliveryFigures } from './checks/deliveries.ts';
import type { Problem } from './checks/problem.ts';
import { Breaking } from './faults/breaking.ts';
import type { FaultName, FaultSet } from './faults/names.ts';
import { FAULTS } from './faults/table.ts';
import type { OperationStep, Step } from './history.ts';
import { Model } from './model/model.ts';
import { Acting } from './operations/acting.ts';
import type { AskFigures } from './operations/ask.ts';
import { OPERATIONS } from './operations/operations.ts';
import { World } from './world/world.ts';

/** A step that takes longer fails, instead of the whole run hanging. */
const STEP_WITHIN_MS = 300_000;

export interface RunResult {
  readonly seed: number;
  /** The steps that were taken. */
  readonly steps: readonly Step[];
  readonly seconds: number;
  readonly problems: readonly Problem[];
  readonly faults: ReadonlyMap<FaultName, number>;
  readonly faultFailures: readonly string[];
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
  /** Ends the run at once, without a comparison. */
  readonly signal?: AbortSignal;
}

/** Takes the steps in order. Each customer does one thing at a time, and all of them at once. */
export async function runHistory(steps: Iterable<Step>, options: RunOptions): Promise<RunResult> {
  const { seed, faults, tell = () => undefined } = options;
  const world = await World.start(faults);
  const model = new Model();
  const breaking = new Breaking(world, FAULTS);
  const deliveries = new Deliveries();
  const figures: CalmFigures = {
    calms: 0,
    longestRecoveryMs: 0,
    longestSettleMs: 0,
    comparedResources: 0,
    hosted: 0,
  };
  const lanes = new Map<number, Promise<void>>();
  const taken: Step[] = [];
  const problems: Problem[] = [];
  const startedMs = performance.now();
  const act = async (step: OperationStep): Promise<void> => {
    await lanes.get(step.customer);
    breaking.countStep();
    const customer = model.customer(step.customer) ?? model.add(step.customer);
    if (customer.token === '' && step.name !== 'sign up') return;
    const acting = new Acting({ world, model, customer, step, seed });
    lanes.set(step.customer, takeStep(acting, problems));
  };
  const rest = async (isLast: boolean): Promise<void> => {
    await Promise.all(lanes.values());
    problems.push(...(await calm({ world, model, breaking, deliveries, figures }, isLast)));
    const { acknowledged, requests } = world.asker.figures;
    const done = `${acknowledged} of ${requests} requests acknowledged`;
    tell(`${taken.length} steps, ${done}, ${problems.length} problems`);
  };
  try {
    for (const step of steps) {
      if (performance.now() - startedMs > options.forMs || options.signal?.aborted) break;
      taken.push(step);
      if (step.kind === 'operation') await act(step);
      else if (step.kind === 'fault') await withTimeout(breaking.begin(step), step.name, STEP_WITHIN_MS);
      else await rest(false);
      if (problems.length > 0) break;
    }
    if (problems.length === 0 && !options.signal?.aborted) await rest(true);
    return {
      ...{ seed, steps: taken, problems, faults: breaking.counts, faultFailures: breaking.failures },
      seconds: Math.round((performance.now() - startedMs) / 1_000),
      starts: world.processes.all.reduce((sum, { starts }) => sum + starts, 0),
      firstStartMs: Math.max(...world.processes.all.map((one) => one.firstStartMs)),
      hosted: figures.hosted,
      ...{ asked: world.asker.figures, calmed: figures, delivered: deliveries.figures },
    };
  } finally {
    await withTimeout(breaking.endAll(), 'the repair', STEP_WITHIN_MS).catch(() => undefined);
    await Promise.allSettled(lanes.values());
    await world.close();
  }
}

async function takeStep(acting: Acting, problems: Problem[]): Promise<void> {
  try {
    const { name, number } = acting.step;
    await withTimeout(OPERATIONS[name](acting), `${name}, step ${number}`, STEP_WITHIN_MS);
  } catch (error) {
    const text = `${acting.step.name}: ${error instanceof Error ? error.stack : error}`;
    problems.push({ kind: 'unexpected', text });
  }
}

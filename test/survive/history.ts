/**
 * A history: what customers do and what breaks, as data. It depends on the seed only, never on timing, so
 * that it can be saved, run again, cut, and shrunk. A step names what it acts on by a number: the one at that
 * index, modulo what there is.
 */
import { Random } from '../support/random.ts';
import { availableFaults, FAULT_WEIGHTS, type FaultName, type FaultSet } from './faults/names.ts';
import { OPERATION_WEIGHTS, type OperationName } from './operations/names.ts';

export interface OperationStep {
  readonly kind: 'operation';
  /** Names its idempotency key, also in a cut history. */
  readonly number: number;
  readonly name: OperationName;
  readonly customer: number;
  /** The process that gets the request first. */
  readonly via: number;
  readonly target: number;
  readonly other: number;
  readonly value: number;
}

export interface FaultStep {
  readonly kind: 'fault';
  readonly number: number;
  readonly name: FaultName;
  /** The index of the broken part, of several. */
  readonly on: number;
  readonly value: number;
  /** It begins this late after the step before, and ends after so much time or so many steps. */
  readonly afterMs: number;
  readonly forMs: number;
  readonly steps: number;
}

/** Everything is repaired, and what the service has is compared with the model. */
export interface CalmStep {
  readonly kind: 'calm';
  readonly number: number;
}

export type Step = OperationStep | FaultStep | CalmStep;

export interface History {
  readonly seed: number;
  readonly faults: FaultSet;
  readonly steps: readonly Step[];
}

export const CUSTOMERS = 6;
const STEPS_BETWEEN_CALMS = 60;
const FAULT_ONE_IN = 8;
const VALUE_END = 2 ** 31;
const AFTER_MAX_MS = 300;
const FOR_MIN_MS = 300;
const FOR_MAX_MS = 5_000;
const STEPS_MAX = 20;

/** Yields the steps of a seed, without an end. */
export function* generate(seed: number, faults: FaultSet): Generator<Step> {
  const random = new Random(`survive ${seed}`);
  const operations = expand(OPERATION_WEIGHTS);
  const available = availableFaults(faults);
  const possible = expand(FAULT_WEIGHTS).filter((name) => available.includes(name));
  // Each one once, and then by weight.
  const first = random.shuffle(available);
  let number = 0;
  // Each customer signs up and has money before anything else.
  for (let customer = 0; customer < CUSTOMERS; customer++) {
    for (const name of ['sign up', 'top up'] as const)
      yield operation(random, { number: number++, name, customer });
  }
  for (;;) {
    for (let step = 0; step < STEPS_BETWEEN_CALMS; step++) {
      const isFault = random.below(FAULT_ONE_IN) === 0;
      if (isFault) yield fault(random, number++, first.pop() ?? random.pick(possible));
      else {
        const name = random.pick(operations) ?? 'look';
        yield operation(random, { number: number++, name, customer: random.below(CUSTOMERS) });
      }
    }
    yield { kind: 'calm', number: number++ };
  }
}

function operation(
  random: Random,
  fixed: Pick<OperationStep, 'number' | 'name' | 'customer'>,
): OperationStep {
  const [via, target, other, value] = [0, 0, 0, 0].map(() => random.below(VALUE_END));
  return {
    kind: 'operation',
    ...fixed,
    via: via ?? 0,
    target: target ?? 0,
    other: other ?? 0,
    value: value ?? 0,
  };
}

function fault(random: Random, number: number, name: FaultName = 'process killed'): FaultStep {
  return {
    ...{ kind: 'fault', number, name },
    on: random.below(VALUE_END),
    value: random.below(VALUE_END),
    afterMs: random.below(AFTER_MAX_MS),
    forMs: FOR_MIN_MS + random.below(FOR_MAX_MS - FOR_MIN_MS),
    steps: 1 + random.below(STEPS_MAX),
  };
}

function expand<Name extends string>(weights: Readonly<Record<Name, number>>): Name[] {
  const entries = Object.entries(weights) as [Name, number][];
  return entries.flatMap(([name, weight]) => Array<Name>(weight).fill(name));
}

/** Returns the item at a step's number, modulo what there is. */
export function pickAt<T>(items: readonly T[], at: number): T | undefined {
  return items.length === 0 ? undefined : items[at % items.length];
}

export function parseHistory(text: string): History {
  const value: unknown = JSON.parse(text);
  const isHistory = typeof value === 'object' && value !== null && 'seed' in value && 'steps' in value;
  if (!isHistory || !Array.isArray(value.steps)) throw new Error('the file is not a history');
  return value as History;
}

/** One line per step, for people. */
export function describeStep(step: Step): string {
  if (step.kind === 'calm') return `${step.number} calm: repair everything and compare`;
  if (step.kind === 'operation') return `${step.number} customer ${step.customer}: ${step.name}`;
  const { number, name, afterMs, forMs, steps } = step;
  return `${number} fault: ${name}, after ${afterMs} ms, for ${forMs} ms or ${steps} steps`;
}

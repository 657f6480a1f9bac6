/** A fake service fails on certain steps: the shrunk history has only these. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { availableFaults } from './faults/names.ts';
import { generate, parseHistory, type Step } from './history.ts';
import { shrink } from './shrink.ts';

const FAULTS = { disks: true, cluster: false };
const UNBOUNDED = { maxRuns: 10_000, maxMs: 60_000 };

function takeSteps(source: Iterator<Step>, count: number): Step[] {
  return Array.from({ length: count }, () => source.next().value as Step);
}

function take(seed: number, count: number): Step[] {
  return takeSteps(generate(seed, FAULTS), count);
}

const numbersOf = (steps: readonly Step[]) => steps.map(({ number }) => number);

it('a shrunk history has only the steps that the failure needs', async () => {
  const needed = [17, 58, 140];
  const fails = async (steps: readonly Step[]) => needed.every((n) => numbersOf(steps).includes(n));
  const shrunk = await shrink(take(1, 200), { ...UNBOUNDED, fails });
  assert.deepEqual(numbersOf(shrunk.steps), needed);
});

it('shrinking stops after its runs, with the shortest history that failed', async () => {
  const fails = async (steps: readonly Step[]) => numbersOf(steps).includes(150);
  const shrunk = await shrink(take(1, 200), { maxRuns: 3, maxMs: 60_000, fails });
  assert.equal(shrunk.runs, 3);
  assert.ok(shrunk.steps.length < 200 && numbersOf(shrunk.steps).includes(150));
});

it('a failure that does not repeat leaves the history as it is', async () => {
  const steps = take(2, 40);
  const shrunk = await shrink(steps, { ...UNBOUNDED, fails: async () => false });
  assert.deepEqual(shrunk.steps, steps);
});

it('a seed always has the same history, and another seed another one', () => {
  assert.deepEqual(take(7, 500), take(7, 500));
  assert.notDeepEqual(take(7, 500), take(8, 500));
});

it('a saved history is the same when it is read', () => {
  const history = { seed: 7, faults: FAULTS, steps: take(7, 100) };
  assert.deepEqual(parseHistory(JSON.stringify(history)), history);
  assert.throws(() => parseHistory('{"seed":7}'), /not a history/);
});

it('a history without root or a cluster has no fault that needs them', () => {
  const none = { disks: false, cluster: false };
  const steps = takeSteps(generate(3, none), 5_000);
  const names = new Set(steps.flatMap((step) => (step.kind === 'fault' ? [step.name] : [])));
  assert.ok(names.has('process killed'));
  assert.ok(![...names].some((name) => /disk|primary/.test(name)), [...names].join(', '));
});

it('each kind of fault is in the first ten rests of a history', () => {
  const steps = take(5, 12 + 10 * 61);
  const names = new Set(steps.flatMap((step) => (step.kind === 'fault' ? [step.name] : [])));
  assert.deepEqual(
    availableFaults(FAULTS).filter((name) => !names.has(name)),
    [],
  );
});

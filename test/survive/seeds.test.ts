/** Seeds run one after another with a fake service. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CALM, fakeResult } from './fake-result.ts';
import type { History, Step } from './history.ts';
import type { RunResult } from './run.ts';
import { type Attempt, runSeeds, type SeedsParts } from './seeds.ts';

const FAULTS = { disks: false, cluster: false };
const STEPS: readonly Step[] = [0, 1, 2, 3].map((number) => ({ ...CALM, number }));
const LOST = { kind: 'lost', text: 'server srv_1 is missing' } as const;

const attempt = (seed: number): Attempt => ({
  ...{ seed, faults: FAULTS, steps: STEPS, forMs: 1, shrinkMs: 60_000 },
});

async function runFake(
  attempts: readonly Attempt[],
  run: (seed: number, steps: readonly Step[]) => Promise<RunResult>,
  signal: AbortSignal = new AbortController().signal,
) {
  const lines: string[] = [];
  const saved: History[] = [];
  const parts: SeedsParts = {
    run: async (steps, { seed }) => await run(seed, [...steps]),
    save: async (history) => void saved.push(history),
    print: (line) => void lines.push(line),
    tell: () => undefined,
    signal,
  };
  return { ...(await runSeeds(attempts, parts)), lines, saved };
}

const seedsOf = (results: readonly RunResult[]) => results.map(({ seed }) => seed);

it('a run that does not start is counted, and the others are kept', async () => {
  const { results, failedRuns, lines } = await runFake([1, 2, 3].map(attempt), async (seed) => {
    if (seed === 2) throw new Error('no database');
    return fakeResult({ seed });
  });
  assert.deepEqual([seedsOf(results), failedRuns], [[1, 3], 1]);
  assert.match(lines.join('\n'), /seed 2 did not run: Error: no database/);
});

it('a failure is saved, and shrunk to the steps that it needs', async () => {
  const { saved, lines } = await runFake([attempt(7)], async (seed, steps) =>
    fakeResult({ seed, steps, problems: steps.some(({ number }) => number === 2) ? [LOST] : [] }),
  );
  assert.deepEqual(
    saved.map(({ steps }) => steps.map(({ number }) => number)),
    [[0, 1, 2, 3], [2]],
  );
  assert.match(lines.join('\n'), /lost: server srv_1 is missing\n.*\n\s+2 calm/s);
});

it('a run that throws while a failure is shrunk loses no result', async () => {
  let runs = 0;
  const { results, failedRuns, saved } = await runFake([1, 2].map(attempt), async (seed, steps) => {
    runs += 1;
    if (steps.length < STEPS.length) throw new Error('the world did not start');
    return fakeResult({ seed, steps, problems: [LOST] });
  });
  assert.deepEqual([seedsOf(results), failedRuns], [[1, 2], 0]);
  assert.ok(runs > 2);
  assert.equal(saved.length, 4);
});

it('after a signal no other run begins, not even to shrink', async () => {
  const stop = new AbortController();
  const runs: number[] = [];
  const { results } = await runFake(
    [1, 2].map(attempt),
    async (seed, steps) => {
      runs.push(seed);
      stop.abort();
      return fakeResult({ seed, steps, problems: [LOST] });
    },
    stop.signal,
  );
  assert.deepEqual([seedsOf(results), runs], [[1], [1]]);
});

it('a slow recovery and a slow answer are explained', async () => {
  const { lines } = await runFake([attempt(1), attempt(2)], async (seed) => {
    const { asked } = fakeResult();
    const slow = {
      asked: { ...asked, slowest: { ms: 20_000, what: 'GET /servers' } },
      recoveries: { measured: 1, longestMs: new Map(), slow: ['host lost: not ready after 8001 ms'] },
    };
    return fakeResult(seed === 2 ? { seed, ...slow } : { seed });
  });
  assert.deepEqual(lines, [
    'slow recovery of seed 2: host lost: not ready after 8001 ms',
    'slow answer of seed 2: GET /servers took 20000 ms',
  ]);
});

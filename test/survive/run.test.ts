/** A run turns every failure into its result. The world, the faults, and the checks are fakes. */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { CALM } from './fake-result.ts';
import { type Begin, lasting } from './faults/begin.ts';
import { availableFaults, type FaultName } from './faults/names.ts';
import { type FaultStep, generate, type OperationStep, type Step } from './history.ts';
import { type RunOptions, type RunParts, runHistory } from './run.ts';
import { Processes } from './world/processes.ts';
import type { World } from './world/world.ts';

const FAULT: FaultStep = {
  ...{ kind: 'fault', number: 1, name: 'memory exhausted', on: 0, value: 0 },
  ...{ afterMs: 0, forMs: 1, steps: 1 },
};
const SIGN_UP: OperationStep = {
  ...{ kind: 'operation', number: 2, name: 'sign up', customer: 0 },
  ...{ via: 0, target: 0, other: 0, value: 0 },
};
const OPTIONS: RunOptions = {
  ...{ seed: 1, faults: { disks: false, cluster: false }, forMs: Number.POSITIVE_INFINITY },
};
const FIGURES = { requests: 1, acknowledged: 1, refused: 0, unavailable: 0, unanswered: 0 };

function parts(changes: Partial<RunParts> = {}, begin: Begin = async () => null) {
  let closed = 0;
  const world = {
    processes: { all: [{ starts: 1, firstStartMs: 10 }], areReady: async () => true },
    asker: { figures: FIGURES },
    close: async () => {
      closed += 1;
    },
  } as unknown as World;
  const every = <T>(value: T) => new Proxy({}, { get: () => value }) as never;
  const fake: RunParts = {
    start: async () => world,
    faults: every(begin),
    operations: every(async () => undefined),
    calm: async () => [],
    ...changes,
  };
  return { fake, closed: () => closed };
}

async function run(steps: readonly Step[], fakes: ReturnType<typeof parts>, options = OPTIONS) {
  const result = await runHistory(steps, options, fakes.fake);
  assert.equal(fakes.closed(), 1);
  return result;
}

it('a comparison that throws is a problem of the run, with its history', async () => {
  const calm = async () => {
    throw new Error('GET /servers: 401');
  };
  const result = await run([SIGN_UP, CALM], parts({ calm }));
  assert.deepEqual(result.steps, [SIGN_UP, CALM]);
  assert.deepEqual(
    result.problems.map(({ kind }) => kind),
    ['unexpected'],
  );
  assert.match(result.problems[0]?.text ?? '', /^the comparison: Error: GET \/servers: 401/);
});

it('a fault that cannot begin or end is no problem, and is said', async () => {
  const cannot = async () => {
    throw new Error('no such process');
  };
  const begun = await run([FAULT, CALM], parts({}, cannot));
  assert.deepEqual([begun.faultFailures, begun.problems], [['memory exhausted: no such process'], []]);
  const ended = await run(
    [FAULT, CALM],
    parts({}, async () => lasting(cannot)),
  );
  assert.deepEqual([ended.faultFailures, ended.problems], [['memory exhausted: no such process'], []]);
});

it('a comparison that does not end is a problem', async () => {
  const calm = async () => await new Promise<never>(() => undefined);
  const result = await run([CALM], parts({ calm }), { ...OPTIONS, restWithinMs: 10 });
  assert.match(
    result.problems.map(({ kind, text }) => `${kind}: ${text}`).join(),
    /^stuck: the comparison: /,
  );
});

it('a signal ends the run after the current step, without a comparison', async () => {
  const stop = new AbortController();
  const taken: string[] = [];
  const fakes = parts({ calm: async () => Promise.reject(new Error('it was compared')) }, async (_, step) => {
    taken.push(step.name);
    stop.abort();
    return null;
  });
  const result = await run([FAULT, FAULT, CALM], fakes, { ...OPTIONS, signal: stop.signal });
  assert.deepEqual([taken, result.problems], [[FAULT.name], []]);
});

it('a service without a process that runs is not waited for without end', async () => {
  const processes = new Processes([{ url: null }] as unknown as Processes['all']);
  await assert.rejects(processes.url(0, 30), /timed out .* no process of the service runs/);
});

/** Runs a seed whose time is over after the first operation. Returns the faults that had their turn. */
async function runLate(t: TestContext, forMs: number): Promise<Set<FaultName>> {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const pass = async () => {
    nowMs = forMs + 1;
  };
  const operations = new Proxy({}, { get: () => pass }) as RunParts['operations'];
  const steps = function* (): Generator<Step> {
    for (const step of generate(1, OPTIONS.faults))
      yield step.kind === 'fault' ? { ...step, afterMs: 0 } : step;
  };
  const result = await runHistory(steps(), { ...OPTIONS, forMs }, parts({ operations }).fake);
  return new Set(result.steps.flatMap((step) => (step.kind === 'fault' ? [step.name] : [])));
}

it('a run of five minutes takes more steps until each kind of fault had its turn', async (t) => {
  assert.deepEqual(await runLate(t, 300_000), new Set(availableFaults(OPTIONS.faults)));
});

it('a shorter run ends with its time', async (t) => {
  assert.deepEqual(await runLate(t, 299_000), new Set());
});

/**
 * Runs interleavings outside the tests, and says how many it ran in a minute:
 *
 *   npm run interleave -- --count 1000
 *   npm run interleave -- --scenario renewal-delete-resize --seed 18 --count 1 --trace
 *
 * `--count` is for each scenario, `--scenario` names one or a subject. Each process has half of the seeds.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withTestDatabase } from '../../scripts/test-database.ts';
import { explore, runSeed, type Scenario } from './core/explore.ts';
import { InterleaveWorld } from './core/world.ts';
import { SUBJECTS } from './scenarios/index.ts';

const PROCESSES = 2;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    scenario: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const [firstSeed, count] = [Number(values.seed), Number(values.count)];

interface Figure {
  readonly scenario: string;
  readonly count: number;
  readonly seconds: number;
  readonly steps: number;
}

function chosenScenarios(): readonly Scenario[] {
  const all = Object.values(SUBJECTS).flat();
  if (values.scenario === undefined) return all;
  const named = SUBJECTS[values.scenario] ?? all.filter(({ name }) => name === values.scenario);
  if (named.length > 0) return named;
  const names = [...Object.keys(SUBJECTS), ...all.map(({ name }) => name)].join(', ');
  throw new Error(`${values.scenario} is no scenario. Choose one of: ${names}`);
}

const children: ChildProcess[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The database is stopped once they have ended.
  process.on(signal, () => {
    if (children.length === 0) process.exit(1);
    for (const child of children) child.kill('SIGKILL');
  });
}

/** Starts the database and the processes. Resolves to the exit code. */
async function runAll(): Promise<number> {
  const scenarios = chosenScenarios();
  const figures: Figure[] = [];
  return await withTestDatabase(printError, async (server) => {
    const shares = Math.min(PROCESSES, count);
    const startedMs = performance.now();
    const codes = await Promise.all(
      Array.from({ length: shares }, async (_, share) => {
        const own = Math.floor(count / shares) + (share < count % shares ? 1 : 0);
        const first = firstSeed + share * Math.floor(count / shares) + Math.min(share, count % shares);
        const args = ['--seed', String(first), '--count', String(own)];
        if (values.scenario !== undefined) args.push('--scenario', values.scenario);
        if (values.trace) args.push('--trace');
        const env = { ...process.env, SKERRY_TEST_PG: JSON.stringify(server) };
        const child = fork(fileURLToPath(import.meta.url), args, { env });
        children.push(child);
        child.on('message', (figure) => figures.push(figure as Figure));
        const [code] = (await once(child, 'exit')) as [number | null];
        return code ?? 1;
      }),
    );
    report(scenarios, figures, (performance.now() - startedMs) / 1_000);
    return Math.max(...codes);
  });
}

function report(scenarios: readonly Scenario[], figures: readonly Figure[], wholeS: number): void {
  for (const { name } of scenarios) {
    const own = figures.filter(({ scenario }) => scenario === name);
    const [ran, steps] = [sum(own, 'count'), sum(own, 'steps')];
    const perMinute = own.reduce((total, figure) => total + (figure.count / figure.seconds) * 60, 0);
    const stepsEach = Math.round(steps / Math.max(ran, 1));
    print(`${name}: ${ran} interleavings of ${stepsEach} steps, ${Math.round(perMinute)} per minute`);
  }
  const ran = sum(figures, 'count');
  const perMinute = Math.round((ran / sum(figures, 'seconds')) * 60 * Math.min(PROCESSES, count));
  print(`${ran} interleavings, ${perMinute} per minute; ${Math.round(wholeS)} s with the start`);
}

function sum(figures: readonly Figure[], part: 'count' | 'seconds' | 'steps'): number {
  return figures.reduce((total, figure) => total + figure[part], 0);
}

/** Runs the seeds of this process. Resolves to the exit code. */
async function runShare(): Promise<number> {
  const world = await InterleaveWorld.open();
  let failed = 0;
  try {
    for (const scenario of chosenScenarios()) {
      try {
        const { name } = scenario;
        if (values.trace) print((await runSeed(world, scenario, firstSeed)).join('\n'));
        const explored = await explore(world, scenario, { first: firstSeed, count });
        process.send?.({ scenario: name, ...explored });
      } catch (error) {
        failed = 1;
        printError(error instanceof Error ? error.message : String(error));
      }
    }
  } finally {
    await world.close();
  }
  process.disconnect?.();
  return failed;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

process.exitCode = process.env.SKERRY_TEST_PG ? await runShare() : await runAll();

/** Runs named tests in the copy with the project's own test runner, and reads what failed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { TestLevel } from '../test-levels.ts';
import type { ScratchCopy } from './scratch-copy.ts';

/** The runner needs this long to stop its processes and to delete its files. */
const STOP_GRACE_MS = 20_000;

export interface TestRun {
  readonly file: string;
  readonly names: readonly string[];
  readonly level: TestLevel;
  readonly limitMs: number;
}

export interface Outcome {
  readonly passed: boolean;
  readonly timedOut: boolean;
  /** How many tests ran and passed. */
  readonly passedCount: number;
  /** The titles of the failed tests, in order. */
  readonly failed: readonly string[];
  readonly seconds: number;
  readonly output: string;
}

export type Result = 'ok' | 'SURVIVED' | 'LATE' | 'UNSOUND';

/** A mutation is caught if the named test itself fails, not only its file or its setup. */
export function judge(
  { failed, timedOut, passed }: Pick<Outcome, 'failed' | 'timedOut' | 'passed'>,
  name: string,
): Result {
  if (failed.some((title) => title.includes(name))) return 'ok';
  if (timedOut) return 'LATE';
  return passed ? 'SURVIVED' : 'UNSOUND';
}

let running: ChildProcess | null = null;

/** Stops the tests in progress. Their runner cleans up. */
export function stopRunning(): void {
  running?.kill('SIGTERM');
}

export async function runTests(copy: ScratchCopy, url: string, run: TestRun): Promise<Outcome> {
  const began = performance.now();
  const args = ['scripts/test.ts', ...(run.level === 'sample' ? [] : [`--${run.level}`])];
  args.push(...run.names.map((name) => `--name=${escapeName(name)}`), run.file);
  const child = spawn(process.execPath, args, {
    cwd: copy.root,
    env: testEnvironment(copy, url),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  let timedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const limit = setTimeout(() => {
    timedOut = true;
    child.kill('SIGTERM');
    kill = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  }, run.limitMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  clearTimeout(kill);
  running = null;
  const output = Buffer.concat(chunks).toString('utf8');
  return {
    passed: code === 0,
    timedOut,
    passedCount: Number(/^ℹ pass (\d+)$/m.exec(output)?.[1] ?? 0),
    failed: [...output.matchAll(/^✖ (?!stopped while running)(.+) \([^()]+:\d+, \d+ ms\)$/gm)].map(
      ([, title = '']) => title,
    ),
    seconds: (performance.now() - began) / 1_000,
    output,
  };
}

/** Without the settings of a test run that started us, whose database and level are others. */
function testEnvironment(copy: ScratchCopy, url: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:SKERRY_|NODE_TEST_)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    SKERRY_TEST_DATABASE_URL: url,
    TMPDIR: copy.temporary,
    // Most modules are the same in every run.
    NODE_COMPILE_CACHE: `${copy.temporary}/compiled`,
  };
}

const escapeName = (name: string) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

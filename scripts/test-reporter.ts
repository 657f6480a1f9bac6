/**
 * A reporter that prints nothing for a passing test. It prints each failure when it happens, then the output
 * of the failed files, every skipped test with its reason, and Node's own summary. It writes the files whose
 * tests failed to SKERRY_TEST_FAILED, as JSON, and at the soak level it prints the diagnostics of the tests.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** People run the soak level for its figures. */
const IS_SOAK = process.env.SKERRY_TEST_LEVEL === 'soak';

type FailedTest = Extract<TestEvent, { type: 'test:fail' }>['data'];

/** The skip reason that `test/support/runs.ts` sets. These tests are only counted. */
const FULL_ONLY_REASON = 'runs in npm run test:full';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Map<string, string>();
  const failed = new Set<string>();
  const failedFiles = new Set<string>();
  const durations = new Map<string, number>();
  const skipped: string[] = [];
  const summary: string[] = [];
  let fullOnlyCount = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') addDuration(durations, data);
    if (type === 'test:stdout' || type === 'test:stderr') {
      printed.set(processOf(data), (printed.get(processOf(data)) ?? '') + data.message);
    } else if (type === 'test:fail') {
      failed.add(processOf(data));
      if (!isParentFailure(data)) failedFiles.add(testFileOf(data));
      yield formatFailure(data);
    } else if (type === 'test:pass' && data.skip === FULL_ONLY_REASON) {
      fullOnlyCount += 1;
    } else if (type === 'test:pass' && data.skip !== undefined) {
      skipped.push(`﹣ ${data.name} (${formatLocation(data)}): ${data.skip}\n`);
    } else if (type === 'test:diagnostic' && (data.file === undefined || IS_SOAK)) {
      summary.push(`ℹ ${data.message}\n`);
    } else if (type === 'test:interrupted') {
      yield* data.tests.map((test) => `✖ stopped while running: ${test.name} (${formatLocation(test)})\n`);
    }
  }
  yield formatSlowest(durations, Number(process.env.SKERRY_TEST_TIMES ?? 0));
  for (const file of failed) {
    const text = printed.get(file);
    if (text) yield `\n${relativePath(file)} printed:\n${indent(text)}\n`;
  }
  const { SKERRY_TEST_FAILED } = process.env;
  if (SKERRY_TEST_FAILED) writeFileSync(SKERRY_TEST_FAILED, JSON.stringify([...failedFiles]));
  if (skipped.length > 0) yield `\nskipped:\n${skipped.join('')}\n`;
  if (fullOnlyCount > 0) yield `\n${fullOnlyCount} tests or suites run only in npm run test:full\n`;
  yield summary.join('');
}

interface FinishedTest {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string | undefined;
  readonly entryFile?: string;
  readonly details: { readonly duration_ms: number };
}

/** Adds up the time of each file. Files that share a process are the top-level suites of that process. */
function addDuration(durations: Map<string, number>, data: FinishedTest): void {
  if (data.nesting > 0) return;
  const file = data.name.startsWith('test/') ? data.name : relativePath(processOf(data));
  durations.set(file, (durations.get(file) ?? 0) + data.details.duration_ms);
}

/** Lists the slowest files with their durations. */
function formatSlowest(durations: ReadonlyMap<string, number>, count: number): string {
  const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, count);
  return slowest.map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}\n`).join('');
}

/** Returns the file that the process was started for; `file` may be a helper that declares the test. */
function processOf(data: { readonly file?: string | undefined; readonly entryFile?: string }): string {
  return data.entryFile ?? data.file ?? '';
}

/** Returns the file of one test; the process may have been started for a group of files. */
function testFileOf(data: FailedTest): string {
  return data.file?.endsWith('.test.ts') === true ? data.file : processOf(data);
}

/** A parent fails because a child failed, and the child was already shown. */
function isParentFailure({ details: { error } }: FailedTest): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

function formatFailure(data: FailedTest): string {
  const { error } = data.details;
  if (isParentFailure(data)) return '';
  const lines = (describeExit(error) ?? formatCause(error.cause ?? error))
    .split('\n')
    .filter((line) => !/^\s+at .*node:internal\/[^{]*$/.test(line));
  const title = `✖ ${data.name} (${formatLocation(data)}, ${Math.round(data.details.duration_ms)} ms)`;
  return `${title}\n${indent(lines.join('\n'))}\n`;
}

/** Describes how a file's process ended, if none of its tests explains the failure. */
function describeExit(error: Error): string | null {
  if (!('exitCode' in error && 'signal' in error)) return null;
  const { exitCode, signal } = error;
  return `its process ${signal === null ? `exited with code ${exitCode}` : `was killed by ${signal}`}`;
}

/** The message of an assertion already shows both values. */
function formatCause(cause: unknown): string {
  const isAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION';
  return isAssertion ? String(cause.stack) : inspect(cause, { depth: 5 });
}

function formatLocation(data: {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}): string {
  return data.file === undefined ? 'unknown file' : `${relativePath(data.file)}:${data.line ?? 1}`;
}

function relativePath(file: string): string {
  return relative(process.cwd(), file);
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '  ');
}

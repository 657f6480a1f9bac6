/**
 * A reporter that prints nothing for a passing test. It prints each failure when it happens, then the output
 * of the failed files, every skipped test with its reason, and Node's own summary.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type FailedTest, TestProgress } from './test-progress.ts';

/** The skip reason that `test/support/runs.ts` sets. These tests are only counted. */
const FULL_ONLY_REASON = 'runs in npm run test:full';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Map<string, string>();
  const failed = new Set<string>();
  const skipped: string[] = [];
  let fullOnlyCount = 0;
  const summaryLines: string[] = [];
  const times = new Map<string, number>();
  const progress = new TestProgress();
  for await (const event of events) {
    const { type, data } = event;
    progress.handle(event);
    if ((type === 'test:pass' || type === 'test:fail') && data.nesting === 0) {
      const file = entryFile(data);
      times.set(file, (times.get(file) ?? 0) + data.details.duration_ms);
    }
    if (type === 'test:stdout' || type === 'test:stderr') {
      const file = entryFile(data);
      printed.set(file, (printed.get(file) ?? '') + data.message);
    } else if (type === 'test:fail') {
      failed.add(entryFile(data));
      yield formatFailure(data);
    } else if (type === 'test:pass' && data.skip !== undefined) {
      if (data.skip === FULL_ONLY_REASON) fullOnlyCount += 1;
      else
        skipped.push(
          `﹣ ${data.name} (${formatLocation(data)})${data.skip === true ? '' : `: ${data.skip}`}\n`,
        );
    } else if (type === 'test:diagnostic' && data.file === undefined) {
      summaryLines.push(`ℹ ${data.message}\n`);
    } else if (type === 'test:interrupted') {
      for (const { file, tests } of progress.runningFiles) {
        const inTests = tests.map((name) => `    in: ${name}\n`).join('');
        yield `✖ stopped while running: ${relativePath(file)}\n${inTests}`;
      }
      // Node holds back the results of files behind a running one.
      for (const failure of progress.unreportedFailures) {
        failed.add(entryFile(failure));
        yield formatFailure(failure);
      }
      if (progress.queuedCount > 0) yield `✖ files not started: ${progress.queuedCount}\n`;
    }
  }
  if (process.env.SKERRY_TEST_TIMES) yield formatSlowest(times);
  for (const file of failed) {
    const text = printed.get(file);
    if (text) yield `\n${relativePath(file)} printed:\n${indent(text)}\n`;
  }
  if (skipped.length > 0) yield `\nskipped:\n${skipped.join('')}\n`;
  if (fullOnlyCount > 0) yield `\n${fullOnlyCount} tests or suites run only in npm run test:full\n`;
  yield summaryLines.join('');
}

const SLOWEST_COUNT = 30;

/** Lists the slowest files with their durations, if SKERRY_TEST_TIMES is set. */
function formatSlowest(times: ReadonlyMap<string, number>): string {
  const files = [...times].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_COUNT);
  const seconds = (ms: number) => (ms / 1_000).toFixed(1).padStart(7);
  return `${files.map(([file, ms]) => `${seconds(ms)} s  ${relativePath(file)}\n`).join('')}\n`;
}

/** Returns the file that the process was started for; `file` may be a helper that declares the test. */
function entryFile(data: { file?: string | undefined; entryFile?: string }): string {
  return data.entryFile ?? data.file ?? '';
}

function formatFailure(data: FailedTest): string {
  const { error } = data.details;
  // A parent fails because a child failed, and the child was already shown.
  if ('failureType' in error && error.failureType === 'subtestsFailed') return '';
  const cause: unknown = error.cause ?? error;
  const exit = describeProcessExit(error);
  const lines = (exit ?? formatCause(cause))
    .split('\n')
    .filter((line) => !/^\s+at .*node:internal\/[^{]*$/.test(line));
  const title = `✖ ${data.name} (${formatLocation(data)}, ${Math.round(data.details.duration_ms)} ms)`;
  return `${title}\n${indent(lines.join('\n'))}\n`;
}

/** Describes how a file's process ended, if none of its tests explains the failure. */
function describeProcessExit(error: Error): string | null {
  if (!('exitCode' in error && 'signal' in error)) return null;
  const { exitCode, signal } = error;
  return `its process ${signal === null ? `exited with code ${exitCode}` : `was killed by ${signal}`}`;
}

function formatCause(cause: unknown): string {
  const isAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION';
  // The message of an assertion already shows both values.
  return isAssertion ? String(cause.stack) : inspect(cause, { depth: 5 });
}

function formatLocation(data: { file?: string | undefined; line?: number | undefined }): string {
  return data.file === undefined ? 'unknown file' : `${relativePath(data.file)}:${data.line ?? 1}`;
}

function relativePath(file: string): string {
  return relative(process.cwd(), file);
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '  ');
}

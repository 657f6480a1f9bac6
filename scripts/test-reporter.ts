/**
 * A reporter that says nothing about a test that passes. It shows each failure when it happens, then what the
 * failing files printed, every test that was skipped with its reason, and Node's own closing lines.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type FailedTest, TestProgress } from './test-progress.ts';

/** The reason of those that `test/support/runs.ts` leaves out: how many there are is enough. */
const FULL_ONLY_REASON = 'npm run test:full has it';

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
        yield `✖ stopped while it ran: ${relativePath(file)}\n${tests.map((name) => `    in: ${name}\n`).join('')}`;
      }
      // Of files behind one that runs nothing was told yet.
      for (const untold of progress.unreportedFailures) {
        failed.add(entryFile(untold));
        yield formatFailure(untold);
      }
      if (progress.queuedCount > 0) yield `✖ files that have not begun: ${progress.queuedCount}\n`;
    }
  }
  if (process.env.SKERRY_TEST_TIMES) yield formatSlowest(times);
  for (const file of failed) {
    const text = printed.get(file);
    if (text) yield `\n${relativePath(file)} printed:\n${indent(text)}\n`;
  }
  if (skipped.length > 0) yield `\nskipped:\n${skipped.join('')}\n`;
  if (fullOnlyCount > 0) yield `\n${fullOnlyCount} tests or suites take long: npm run test:full has them\n`;
  yield summaryLines.join('');
}

const SLOWEST_COUNT = 30;

/** With SKERRY_TEST_TIMES set: the files that took longest, and for how long. */
function formatSlowest(times: ReadonlyMap<string, number>): string {
  const files = [...times].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_COUNT);
  return `${files.map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${relativePath(file)}\n`).join('')}\n`;
}

/** The file a process was started for; `file` may be a helper that the test was declared in. */
function entryFile(data: { file?: string | undefined; entryFile?: string }): string {
  return data.entryFile ?? data.file ?? '';
}

function formatFailure(data: FailedTest): string {
  const { error } = data.details;
  // A parent fails because a child did, and the child has been shown.
  if ('failureType' in error && error.failureType === 'subtestsFailed') return '';
  const cause: unknown = error.cause ?? error;
  const ended = describeProcessExit(error);
  const lines = (ended ?? formatCause(cause))
    .split('\n')
    .filter((line) => !/^\s+at .*node:internal\/[^{]*$/.test(line));
  return `✖ ${data.name} (${formatLocation(data)}, ${Math.round(data.details.duration_ms)} ms)\n${indent(lines.join('\n'))}\n`;
}

/** Of a file's own process, when no test of it says why it failed. */
function describeProcessExit(error: Error): string | null {
  if (!('exitCode' in error && 'signal' in error)) return null;
  const how = error.signal === null ? `left with code ${error.exitCode}` : `was ended by ${error.signal}`;
  return `its process ${how}`;
}

function formatCause(cause: unknown): string {
  const isAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION';
  // An assertion's message shows both values already.
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

/**
 * A reporter that says nothing about a test that passes. It shows each failure when it happens, then what the
 * failing files printed, every test that was skipped with its reason, and Node's own closing lines.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type Failed, UnderWay } from './test-under-way.ts';

/** The reason of those that `test/support/runs.ts` leaves out: how many there are is enough. */
const LEFT_TO_FULL = 'npm run test:full has it';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Map<string, string>();
  const failed = new Set<string>();
  const skipped: string[] = [];
  let leftToFull = 0;
  const closing: string[] = [];
  const times = new Map<string, number>();
  const underWay = new UnderWay();
  for await (const event of events) {
    const { type, data } = event;
    underWay.take(event);
    if ((type === 'test:pass' || type === 'test:fail') && data.nesting === 0) {
      const file = entryFile(data);
      times.set(file, (times.get(file) ?? 0) + data.details.duration_ms);
    }
    if (type === 'test:stdout' || type === 'test:stderr') {
      const file = entryFile(data);
      printed.set(file, (printed.get(file) ?? '') + data.message);
    } else if (type === 'test:fail') {
      failed.add(entryFile(data));
      yield failure(data);
    } else if (type === 'test:pass' && data.skip !== undefined) {
      if (data.skip === LEFT_TO_FULL) leftToFull += 1;
      else skipped.push(`﹣ ${data.name} (${place(data)})${data.skip === true ? '' : `: ${data.skip}`}\n`);
    } else if (type === 'test:diagnostic' && data.file === undefined) {
      closing.push(`ℹ ${data.message}\n`);
    } else if (type === 'test:interrupted') {
      for (const { file, tests } of underWay.files) {
        yield `✖ stopped while it ran: ${shown(file)}\n${tests.map((name) => `    in: ${name}\n`).join('')}`;
      }
      // Of files behind one that runs nothing was told yet.
      for (const untold of underWay.untold) {
        failed.add(entryFile(untold));
        yield failure(untold);
      }
      if (underWay.waiting > 0) yield `✖ files that have not begun: ${underWay.waiting}\n`;
    }
  }
  if (process.env.SKERRY_TEST_TIMES) yield slowest(times);
  for (const file of failed) {
    const text = printed.get(file);
    if (text) yield `\n${shown(file)} printed:\n${indented(text)}\n`;
  }
  if (skipped.length > 0) yield `\nskipped:\n${skipped.join('')}\n`;
  if (leftToFull > 0) yield `\n${leftToFull} tests or suites take long: npm run test:full has them\n`;
  yield closing.join('');
}

const SLOWEST = 30;

/** With SKERRY_TEST_TIMES set: the files that took longest, and for how long. */
function slowest(times: ReadonlyMap<string, number>): string {
  const files = [...times].sort(([, a], [, b]) => b - a).slice(0, SLOWEST);
  return `${files.map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${shown(file)}\n`).join('')}\n`;
}

/** The file a process was started for; `file` may be a helper that the test was declared in. */
function entryFile(data: { file?: string | undefined; entryFile?: string }): string {
  return data.entryFile ?? data.file ?? '';
}

function failure(data: Failed): string {
  const { error } = data.details;
  // A parent fails because a child did, and the child has been shown.
  if ('failureType' in error && error.failureType === 'subtestsFailed') return '';
  const cause: unknown = error.cause ?? error;
  const ended = processEnd(error);
  const lines = (ended ?? explained(cause))
    .split('\n')
    .filter((line) => !/^\s+at .*node:internal\/[^{]*$/.test(line));
  return `✖ ${data.name} (${place(data)}, ${Math.round(data.details.duration_ms)} ms)\n${indented(lines.join('\n'))}\n`;
}

/** Of a file's own process, when no test of it says why it failed. */
function processEnd(error: Error): string | null {
  if (!('exitCode' in error && 'signal' in error)) return null;
  const how = error.signal === null ? `left with code ${error.exitCode}` : `was ended by ${error.signal}`;
  return `its process ${how}`;
}

function explained(cause: unknown): string {
  const stated = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION';
  // An assertion's message shows both values already.
  return stated ? String(cause.stack) : inspect(cause, { depth: 5 });
}

function place(data: { file?: string | undefined; line?: number | undefined }): string {
  return data.file === undefined ? 'unknown file' : `${shown(data.file)}:${data.line ?? 1}`;
}

function shown(file: string): string {
  return relative(process.cwd(), file);
}

function indented(text: string): string {
  return text.trimEnd().replace(/^/gm, '  ');
}

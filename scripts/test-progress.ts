/**
 * What is under way while the tests run. Node tells of results in the order of the files: while one file hangs, nothing is told of
 * those behind it. When something begins and ends is told at once; from that is known, when all is stopped, which file it was.
 */
import { resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

type Data<Type extends TestEvent['type']> = Extract<TestEvent, { type: Type }>['data'];
export type FailedTest = Data<'test:fail'>;

export class TestProgress {
  readonly #enqueued = new Set<string>();
  readonly #files = new Map<string, Map<string, string>>();
  readonly #unreported = new Map<string, FailedTest>();

  handle({ type, data }: TestEvent): void {
    if (type === 'test:enqueue' && isFile(data)) this.#enqueued.add(resolve(data.name));
    else if (type === 'test:dequeue') this.#start(data);
    else if (type === 'test:complete') this.#complete(data);
    else if (type === 'test:fail') this.#unreported.delete(testKey(data));
  }

  /** Files that have begun and not ended, with those of their tests that have. */
  get runningFiles(): readonly { readonly file: string; readonly tests: readonly string[] }[] {
    return [...this.#files].map(([file, tests]) => ({ file, tests: [...tests.values()] }));
  }

  /** Failures that were not told yet. */
  get unreportedFailures(): readonly FailedTest[] {
    return [...this.#unreported.values()];
  }

  /** How many files have not begun. */
  get queuedCount(): number {
    return this.#enqueued.size;
  }

  #testsOf({ entryFile = '' }: TestRow): Map<string, string> | undefined {
    return this.#files.get(entryFile);
  }

  #start(data: Data<'test:dequeue'>): void {
    if (isFile(data)) {
      this.#enqueued.delete(resolve(data.name));
      this.#files.set(resolve(data.name), new Map());
    } else if (data.type !== 'suite') this.#testsOf(data)?.set(testKey(data), data.name);
  }

  #complete(data: Data<'test:complete'>): void {
    if (isFile(data)) this.#files.delete(resolve(data.name));
    else this.#testsOf(data)?.delete(testKey(data));
    const { error } = data.details;
    if (error) this.#unreported.set(testKey(data), { ...data, details: { ...data.details, error } });
  }
}

interface TestRow {
  readonly name: string;
  readonly nesting: number;
  readonly entryFile?: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The runner's own row of a file: what a file tells comes with the name of that file. */
function isFile({ nesting, entryFile }: TestRow): boolean {
  return nesting === 0 && entryFile === undefined;
}

function testKey({ entryFile, nesting, line, column, name }: TestRow): string {
  return [entryFile, nesting, line, column, name].join('\n');
}

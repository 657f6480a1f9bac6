/**
 * Tracks running tests. Node reports results in file order, so a file that hangs holds back the results of
 * the files behind it. Start and completion events arrive immediately: they show which file was running when
 * everything was stopped.
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

  /** Running files with their running tests. */
  get runningFiles(): readonly { readonly file: string; readonly tests: readonly string[] }[] {
    return [...this.#files].map(([file, tests]) => ({ file, tests: [...tests.values()] }));
  }

  /** Failures that have not been reported yet. */
  get unreportedFailures(): readonly FailedTest[] {
    return [...this.#unreported.values()];
  }

  /** The number of files that have not started. */
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

/** Whether the row is the runner's own row of a file. Rows from inside a file name that file. */
function isFile({ nesting, entryFile }: TestRow): boolean {
  return nesting === 0 && entryFile === undefined;
}

function testKey({ entryFile, nesting, line, column, name }: TestRow): string {
  return [entryFile, nesting, line, column, name].join('\n');
}

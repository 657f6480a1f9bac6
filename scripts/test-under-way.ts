/**
 * What is under way while the tests run. Node tells of results in the order of the files: while one file hangs, nothing is told of
 * those behind it. When something begins and ends is told at once; from that is known, when all is stopped, which file it was.
 */
import { resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

type Data<Type extends TestEvent['type']> = Extract<TestEvent, { type: Type }>['data'];
export type Failed = Data<'test:fail'>;

export class UnderWay {
  readonly #enqueued = new Set<string>();
  readonly #files = new Map<string, Map<string, string>>();
  readonly #untold = new Map<string, Failed>();

  take({ type, data }: TestEvent): void {
    if (type === 'test:enqueue' && isFile(data)) this.#enqueued.add(resolve(data.name));
    else if (type === 'test:dequeue') this.#begin(data);
    else if (type === 'test:complete') this.#end(data);
    else if (type === 'test:fail') this.#untold.delete(keyOf(data));
  }

  /** Files that have begun and not ended, with those of their tests that have. */
  get files(): readonly { readonly file: string; readonly tests: readonly string[] }[] {
    return [...this.#files].map(([file, tests]) => ({ file, tests: [...tests.values()] }));
  }

  /** Failures that were not told yet. */
  get untold(): readonly Failed[] {
    return [...this.#untold.values()];
  }

  /** How many files have not begun. */
  get waiting(): number {
    return this.#enqueued.size;
  }

  #testsOf({ entryFile = '' }: Named): Map<string, string> | undefined {
    return this.#files.get(entryFile);
  }

  #begin(data: Data<'test:dequeue'>): void {
    if (isFile(data)) {
      this.#enqueued.delete(resolve(data.name));
      this.#files.set(resolve(data.name), new Map());
    } else if (data.type !== 'suite') this.#testsOf(data)?.set(keyOf(data), data.name);
  }

  #end(data: Data<'test:complete'>): void {
    if (isFile(data)) this.#files.delete(resolve(data.name));
    else this.#testsOf(data)?.delete(keyOf(data));
    const { error } = data.details;
    if (error) this.#untold.set(keyOf(data), { ...data, details: { ...data.details, error } });
  }
}

interface Named {
  readonly name: string;
  readonly nesting: number;
  readonly entryFile?: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The runner's own row of a file: what a file tells comes with the name of that file. */
function isFile({ nesting, entryFile }: Named): boolean {
  return nesting === 0 && entryFile === undefined;
}

function keyOf({ entryFile, nesting, line, column, name }: Named): string {
  return [entryFile, nesting, line, column, name].join('\n');
}

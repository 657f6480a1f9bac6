/**
 * One worker thread for work that takes milliseconds of CPU time, one task at a time, while requests
 * continue. The thread starts on first use, is replaced if it dies, and never keeps the process alive.
 */
import type { Piscina } from 'piscina';
import { loadOnce } from './faults/load-once.ts';
import { lacksResources } from './faults/resources.ts';

/** The task took longer than it may. */
export class WorkerTimeout extends Error {}

export class WorkerThread<Task, Result> {
  readonly #script: string;
  readonly #pool = loadOnce(startPool<Task, Result>);

  /** The script's default export does the work. */
  constructor(script: URL) {
    this.#script = script.href;
  }

  /**
   * Throws an error without details, because the worker's own may repeat the task. A task that takes longer
   * than `timeoutMs`, with its wait for earlier ones, ends with its thread: `WorkerTimeout`.
   */
  async run(task: Task, { timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<Result> {
    const pool = await this.#pool();
    const signal = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
    try {
      return await pool.run(task, { filename: this.#script, ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw new WorkerTimeout('the worker thread took too long');
      // The thread could not start, so it never had the task.
      if (lacksResources(error)) throw error;
      throw new Error('the worker thread failed');
    }
  }
}

async function startPool<Task, Result>(): Promise<Piscina<Task, Result>> {
  // Loading the library takes some milliseconds, which the start of the service does not need.
  const { Piscina } = await import('piscina');
  const pool = new Piscina<Task, Result>({
    minThreads: 1,
    maxThreads: 1,
    stricterFIFO: true,
    recordTiming: false,
    // Pass neither our flags nor our environment, which contains secrets.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {},
  });
  // A thread that dies without a task is replaced, too.
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Queues to compare ours with, each used through its public interface. A claim is timed alone: its jobs are
 * completed before it returns, so that no other queue shares the database with them.
 */
import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';

export interface OtherQueue {
  /** Claims a batch and completes it. Returns how many milliseconds the claim took. */
  claim(): Promise<number>;
  close(): Promise<void>;
}

export interface QueueOptions {
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The number of jobs that wait. */
  readonly rows: number;
  /** The number of jobs that a claim takes. */
  readonly batch: number;
}

const INSERTED_AT_ONCE = 5_000;
const JOB = 'deliver';

/** Returns lists of jobs, each with the fields of a delivery row. */
function jobsToInsert(rows: number): object[][] {
  return Array.from({ length: Math.ceil(rows / INSERTED_AT_ONCE) }, () =>
    Array.from({ length: INSERTED_AT_ONCE }, () => {
      const [delivery, webhook, event] = [randomUUID(), randomUUID(), randomUUID()];
      return { delivery, webhook, event, type: 'server.running', attempt: 1 };
    }),
  );
}

export async function openPgBoss({ connection, rows, batch }: QueueOptions): Promise<OtherQueue> {
  const boss = new PgBoss({ ...connection, max: 2, supervise: false, schedule: false });
  await boss.start();
  await boss.deleteQueue(JOB);
  await boss.createQueue(JOB);
  for (const jobs of jobsToInsert(rows)) {
    await boss.insert(
      JOB,
      jobs.map((data) => ({ data })),
    );
  }
  return {
    claim: async () => {
      const startedAt = performance.now();
      const jobs = await boss.fetch(JOB, { batchSize: batch });
      const elapsedMs = performance.now() - startedAt;
      if (jobs.length !== batch) throw new Error(`pg-boss returned ${jobs.length} jobs`);
      await boss.complete(
        JOB,
        jobs.map(({ id }) => id),
      );
      return elapsedMs;
    },
    close: () => boss.stop({ graceful: false }),
  };
}

/** It has no call that claims, so its pool makes each claim wait for its turn. */
export async function openGraphileWorker({ connection, rows, batch }: QueueOptions): Promise<OtherQueue> {
  const logger = new Logger(() => () => undefined);
  const pgPool = new pg.Pool({ ...connection, max: 4 });
  const turns = takeTurns(pgPool, batch);
  // Without one, the worker warns. A claim that fails ends the bench.
  pgPool.on('error', () => undefined);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await pgPool.query('delete from graphile_worker._private_jobs');
  for (const jobs of jobsToInsert(rows))
    await utils.addJobs(jobs.map((payload) => ({ identifier: JOB, payload })));
  const preset = batch > 1 ? { worker: { localQueue: { size: batch }, completeJobBatchDelay: 0 } } : {};
  const taskList = { [JOB]: () => undefined };
  const options = { pgPool, logger, taskList, preset, parsedCronItems: [], noHandleSignals: true };
  const worker = await run({ ...options, concurrency: 1 });
  await turns.waiting();
  return {
    claim: turns.next,
    close: async () => {
      const stopped = worker.stop();
      turns.release();
      await stopped;
      await pgPool.end();
    },
  };
}

interface Turns {
  /** Resolves when a claim waits. */
  waiting(): Promise<void>;
  /** Sends the claim that waits. Resolves with its time once the next one waits. */
  next(): Promise<number>;
  /** Sends the claim that waits, before the end. */
  release(): void;
}

function takeTurns(pool: pg.Pool, batch: number): Turns {
  let [arrived, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let elapsed = Promise.withResolvers<number>();
  const claim = async (send: () => Promise<pg.QueryResult>): Promise<pg.QueryResult> => {
    arrived.resolve();
    await turn.promise;
    [arrived, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const startedAt = performance.now();
    const result = await send();
    if (result.rows.length === batch) elapsed.resolve(performance.now() - startedAt);
    else elapsed.reject(new Error(`graphile-worker returned ${result.rows.length} jobs`));
    return result;
  };
  const addTurns = (client: pg.ClientBase): void => {
    const send = client.query.bind(client) as (...query: unknown[]) => Promise<pg.QueryResult>;
    const query = (...given: [query: { readonly name?: string }, ...unknown[]]) =>
      given[0].name?.startsWith('get_job') ? claim(() => send(...given)) : send(...given);
    Object.assign(client, { query });
  };
  pool.on('connect', addTurns);
  return {
    waiting: () => arrived.promise,
    next: async () => {
      elapsed = Promise.withResolvers<number>();
      turn.resolve();
      const elapsedMs = await elapsed.promise;
      await arrived.promise;
      return elapsedMs;
    },
    release: () => turn.resolve(),
  };
}

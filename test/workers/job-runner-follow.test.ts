import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { Job } from '../../src/workers/job.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';

/** A job that reports the given amount of work once, and is idle otherwise. */
class IdleJob implements Job {
  readonly name = 'idle';
  follows?: true;
  runs = 0;
  work = 0;
  /** The first run waits for it. */
  gate: Promise<void> | undefined;

  async run(): Promise<number> {
    this.runs += 1;
    await this.gate;
    const did = this.work;
    this.work = 0;
    return did;
  }
  async nextDue(): Promise<null> {
    return null;
  }
  async busy(): Promise<boolean> {
    return false;
  }
}

const createRunner = (...jobs: Job[]) =>
  new JobRunner({ jobs, pollMs: 3_600_000, log: createLogger('silent') });
async function flushEventLoop(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

test('a job that follows others runs after one of them has done work', async () => {
  const [first, follower, third] = [new IdleJob(), new IdleJob(), new IdleJob()];
  follower.follows = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  first.gate = promise;
  first.work = 1;
  const runner = createRunner(first, follower, third);
  runner.start();
  await flushEventLoop();
  assert.deepEqual([follower.runs, third.runs], [1, 1]);
  resolve();
  await flushEventLoop();
  assert.deepEqual([follower.runs, third.runs], [2, 1]);
  await runner.stop();
});

test('jobs are notified when the runner is woken and when it stops', async () => {
  const signals: string[] = [];
  const job = Object.assign(new IdleJob(), {
    wake: () => void signals.push('wake'),
    stop: async () => void signals.push('stop'),
  });
  const runner = createRunner(job);
  runner.start();
  runner.wake();
  await runner.stop();
  assert.deepEqual(signals, ['wake', 'wake', 'stop']);
});

test('a job that names an interval runs so often, and the others only with the poll', async () => {
  const [often, other] = [Object.assign(new IdleJob(), { atLeastEveryMs: 1 }), new IdleJob()];
  const runner = createRunner(often, other);
  runner.start();
  while (often.runs < 3) await flushEventLoop();
  assert.equal(other.runs, 1);
  await runner.stop();
});

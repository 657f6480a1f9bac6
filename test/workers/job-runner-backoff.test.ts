import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BACKOFF } from '../../src/kernel/backoff.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { housekeepingJob } from '../../src/workers/job.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';

it('a job that fails again waits, however often it is woken, and recovers', { timeout: 60_000 }, async () => {
  const startedAt: number[] = [];
  const job = housekeepingJob('failing', async () => {
    startedAt.push(performance.now());
    if (startedAt.length < 3) throw new Error('deliberate failure');
    return 0;
  });
  const runner = new JobRunner({ jobs: [job], pollMs: 1, log: createLogger('silent') });
  runner.start();
  while (startedAt.length < 4) {
    runner.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await runner.stop();
  const [, second = 0, third = 0, fourth = 0] = startedAt;
  assert.ok(third - second >= BACKOFF.job.firstMs - 10);
  // It succeeded, so it runs when it is woken again.
  assert.ok(fourth - third < third - second);
});

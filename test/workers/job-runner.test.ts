import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { Job } from '../../src/workers/job.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';

/** Far longer than any test: a test that depends on polling hangs. */
const NEVER_MS = 3_600_000;
const SOON_MS = 10_000;

/** A job with a given amount of work, whose runs can be observed and paused. */
class WatchedJob implements Job {
  readonly name = 'watched';
  housekeeping?: true;
  blocksClock?: true;
  work = 0;
  runs = 0;
  atOnce = 0;
  maxAtOnce = 0;
  isBusy = false;
  due: Date | null = null;
  fails = false;
  /** Each run waits for it. */
  gate: Promise<void> | undefined;
  #watchers: (() => void)[] = [];

  async run(): Promise<number> {
    this.runs += 1;
    this.atOnce += 1;
    this.maxAtOnce = Math.max(this.maxAtOnce, this.atOnce);
    for (const seen of this.#watchers.splice(0)) seen();
    try {
      const found = this.work > 0 ? 1 : 0;
      await this.gate;
      if (this.fails) throw new Error('deliberate failure');
      this.work -= found;
      return found;
    } finally {
      this.atOnce -= 1;
    }
  }

  async nextDue(): Promise<Date | null> {
    return this.due;
  }

  async busy(): Promise<boolean> {
    return this.isBusy;
  }

  /** Resolves when the next run starts. */
  nextRun(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }
}

let started: JobRunner | undefined;
function startRunner(jobs: readonly Job[], pollMs = NEVER_MS): JobRunner {
  started = new JobRunner({ jobs, pollMs, log: createLogger('silent') });
  return started;
}
afterEach(async () => {
  await started?.stop();
});

/** Lets everything that can progress do so. */
async function flushEventLoop(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a started runner', { timeout: 20_000 }, () => {
  it('a started runner works until nothing is left, then sleeps', async () => {
    const job = new WatchedJob();
    job.work = 3;
    startRunner([job]).start();
    await flushEventLoop();
    assert.deepEqual([job.work, job.runs], [0, 4]);
  });

  it('a sleeping runner runs its jobs when it is woken', async () => {
    const job = new WatchedJob();
    const runner = startRunner([job]);
    runner.start();
    await flushEventLoop();
    job.work = 2;
    runner.wake();
    await flushEventLoop();
    assert.equal(job.work, 0);
  });

  it('a sleeping runner runs its jobs after the poll interval', async () => {
    const job = new WatchedJob();
    startRunner([job], 1).start();
    for (let n = 0; n < 3; n++) await job.nextRun();
  });

  it('a wake-up during an idle run makes the runner run again', async () => {
    const job = new WatchedJob();
    const { promise, resolve } = Promise.withResolvers<void>();
    job.gate = promise;
    const runner = startRunner([job]);
    runner.start();
    await flushEventLoop();
    assert.equal(job.runs, 1);
    // The run has found nothing, but has not returned yet.
    job.work = 1;
    runner.wake();
    resolve();
    await flushEventLoop();
    assert.equal(job.work, 0);
  });

  it('a failing job runs again and does not block another', async () => {
    const [failing, other] = [new WatchedJob(), new WatchedJob()];
    failing.fails = true;
    const runner = startRunner([failing, other]);
    runner.start();
    await flushEventLoop();
    assert.equal(failing.runs, 1);
    failing.fails = false;
    failing.work = 1;
    other.work = 1;
    runner.wake();
    await flushEventLoop();
    assert.deepEqual([failing.work, other.work], [0, 0]);
  });

  it('a slow job does not delay another', async () => {
    const [slow, quick] = [new WatchedJob(), new WatchedJob()];
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.gate = promise;
    quick.work = 5;
    startRunner([slow, quick]).start();
    await flushEventLoop();
    assert.equal(quick.work, 0);
    resolve();
  });

  it('a job never runs twice at a time, with any number of callers', async () => {
    const job = new WatchedJob();
    job.work = 50;
    const runner = startRunner([job]);
    runner.start();
    const deadline = performance.now() + SOON_MS;
    await Promise.all([runner.runUntilIdle(SOON_MS), runner.runUntilIdle(SOON_MS), runner.runDue(deadline)]);
    assert.deepEqual([job.work, job.maxAtOnce], [0, 1]);
  });
});

describe('a stopping runner', { timeout: 20_000 }, () => {
  it('a stopping runner finishes work in progress and starts no more', async () => {
    const job = new WatchedJob();
    job.work = 5;
    const { promise, resolve } = Promise.withResolvers<void>();
    job.gate = promise;
    const runner = startRunner([job]);
    runner.start();
    await flushEventLoop();
    let stopped = false;
    const stop = runner.stop().then(() => {
      stopped = true;
    });
    await flushEventLoop();
    assert.ok(!stopped);
    resolve();
    await stop;
    assert.deepEqual([job.runs, job.work, job.atOnce], [1, 4, 0]);
    runner.wake();
    await flushEventLoop();
    assert.equal(job.runs, 1);
  });

  it('a sleeping runner stops at once', async () => {
    const runner = startRunner([new WatchedJob()]);
    runner.start();
    await flushEventLoop();
    await runner.stop();
  });
});

describe('runUntilIdle', { timeout: 20_000 }, () => {
  it('runUntilIdle runs due work until a whole round finds none', async () => {
    const [one, other] = [new WatchedJob(), new WatchedJob()];
    one.work = 3;
    other.work = 7;
    assert.equal(await startRunner([one, other]).runUntilIdle(SOON_MS), true);
    assert.deepEqual([one.work, other.work], [0, 0]);
  });

  it('runUntilIdle sees work that one job creates for another that already ran', async () => {
    const first = new WatchedJob();
    const second = new WatchedJob();
    second.work = 1;
    const run = second.run.bind(second);
    second.run = async () => {
      const did = await run();
      first.work += did;
      return did;
    };
    assert.equal(await startRunner([first, second]).runUntilIdle(SOON_MS), true);
    assert.deepEqual([first.work, second.work], [0, 0]);
  });

  it('runUntilIdle waits for work in progress that finishes on its own', async () => {
    const job = new WatchedJob();
    job.isBusy = true;
    const settled = startRunner([job]).runUntilIdle(SOON_MS);
    for (let n = 0; n < 3; n++) await job.nextRun();
    job.isBusy = false;
    assert.equal(await settled, true);
  });

  it('runUntilIdle returns false after its timeout, and busyJobNames names the busy jobs', async () => {
    const busy = new WatchedJob();
    busy.isBusy = true;
    const runner = startRunner([new WatchedJob(), Object.assign(busy, { name: 'the busy one' })]);
    assert.equal(await runner.runUntilIdle(60), false);
    assert.deepEqual(await runner.busyJobNames(), ['the busy one']);
    const endless = new WatchedJob();
    endless.work = Number.POSITIVE_INFINITY;
    assert.equal(await startRunner([endless]).runUntilIdle(20), false);
    assert.equal(await startRunner([endless]).runDue(performance.now() + 20), false);
  });

  it('runUntilIdle counts a failing job as idle', async () => {
    const job = new WatchedJob();
    job.fails = true;
    assert.equal(await startRunner([job]).runUntilIdle(SOON_MS), true);
  });
});

describe('moving a clock through due dates', { timeout: 20_000 }, () => {
  it('runDue runs each job exactly once more after the last piece of work', async () => {
    const jobs = Array.from({ length: 5 }, () => new WatchedJob());
    const [, second, , fourth] = jobs as [WatchedJob, WatchedJob, WatchedJob, WatchedJob];
    second.work = 1;
    fourth.work = 1;
    assert.equal(await startRunner(jobs).runDue(performance.now() + SOON_MS), true);
    assert.deepEqual(
      jobs.map((job) => job.runs),
      [2, 2, 2, 2, 1],
    );
  });

  it('runDue can skip housekeeping until the clock arrives', async () => {
    const [work, housekeeping] = [new WatchedJob(), new WatchedJob()];
    housekeeping.housekeeping = true;
    housekeeping.work = 2;
    const runner = startRunner([work, housekeeping]);
    assert.equal(await runner.runDue(performance.now() + SOON_MS, { skipHousekeeping: true }), true);
    assert.deepEqual([work.runs, housekeeping.runs], [1, 0]);
    assert.equal(await runner.runUntilIdle(SOON_MS), true);
    assert.equal(housekeeping.work, 0);
  });

  it('nextPlannedWork reports work in progress only for jobs that block the clock', async () => {
    const [sending, installing] = [new WatchedJob(), new WatchedJob()];
    sending.blocksClock = true;
    installing.isBusy = true;
    installing.due = new Date('2030-01-31');
    const runner = startRunner([sending, installing]);
    assert.deepEqual(await runner.nextPlannedWork(), { dueAt: installing.due, isClockBlocked: false });
    sending.isBusy = true;
    assert.deepEqual(await runner.nextPlannedWork(), { dueAt: installing.due, isClockBlocked: true });
  });

  it('runExclusively pauses the loops and wakes them afterwards', async () => {
    const job = new WatchedJob();
    const runner = startRunner([job]);
    runner.start();
    await flushEventLoop();
    const { runs } = job;
    await runner.runExclusively(async () => {
      job.work = 2;
      runner.wake();
      await flushEventLoop();
      assert.equal(job.runs, runs);
    });
    await flushEventLoop();
    assert.equal(job.work, 0);
    await assert.rejects(
      runner.runExclusively(async () => assert.fail('deliberate failure')),
      /deliberate failure/,
    );
    job.work = 1;
    runner.wake();
    await flushEventLoop();
    assert.equal(job.work, 0);
  });
});

describe('nextDue', () => {
  it('nextDue is the earliest due time of all jobs, or null', async () => {
    const [one, other, idle] = [new WatchedJob(), new WatchedJob(), new WatchedJob()];
    assert.equal(await startRunner([one, other, idle]).nextDue(), null);
    one.due = new Date('2030-02-01');
    other.due = new Date('2030-01-31');
    assert.deepEqual(await startRunner([one, other, idle]).nextDue(), new Date('2030-01-31'));
  });
});

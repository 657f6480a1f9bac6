import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { Job } from '../../src/workers/job.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';

/** Far longer than any test: who needs the poll to get on, hangs. */
const NEVER_MS = 3_600_000;
const SOON_MS = 10_000;

/** A duty with so many pieces of work, whose runs can be watched and held. */
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
  /** What each run waits for. */
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
      if (this.fails) throw new Error('as asked');
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

  /** When it runs the next time. */
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

/** Lets everything that can go on do so. */
async function flushEventLoop(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a runner that was started', { timeout: 20_000 }, () => {
  it('works at once until nothing is left, then sleeps', async () => {
    const duty = new WatchedJob();
    duty.work = 3;
    startRunner([duty]).start();
    await flushEventLoop();
    assert.deepEqual([duty.work, duty.runs], [0, 4]);
  });

  it('looks again when it is woken', async () => {
    const duty = new WatchedJob();
    const runner = startRunner([duty]);
    runner.start();
    await flushEventLoop();
    duty.work = 2;
    runner.wake();
    await flushEventLoop();
    assert.equal(duty.work, 0);
  });

  it('looks again after the poll interval, though nobody wakes it', async () => {
    const duty = new WatchedJob();
    startRunner([duty], 1).start();
    for (let n = 0; n < 3; n++) await duty.nextRun();
  });

  it('is not put to sleep by a look that began before it was woken', async () => {
    const duty = new WatchedJob();
    const { promise, resolve } = Promise.withResolvers<void>();
    duty.gate = promise;
    const runner = startRunner([duty]);
    runner.start();
    await flushEventLoop();
    assert.equal(duty.runs, 1);
    // The look has found nothing, and is not back yet.
    duty.work = 1;
    runner.wake();
    resolve();
    await flushEventLoop();
    assert.equal(duty.work, 0);
  });

  it('goes on after a duty failed, and a duty that fails does not hold up another', async () => {
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

  it('does not wait with one duty for another', async () => {
    const [slow, quick] = [new WatchedJob(), new WatchedJob()];
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.gate = promise;
    quick.work = 5;
    startRunner([slow, quick]).start();
    await flushEventLoop();
    assert.equal(quick.work, 0);
    resolve();
  });

  it('never runs a duty twice at a time, whoever asks', async () => {
    const duty = new WatchedJob();
    duty.work = 50;
    const runner = startRunner([duty]);
    runner.start();
    const deadline = Date.now() + SOON_MS;
    await Promise.all([runner.runUntilIdle(SOON_MS), runner.runUntilIdle(SOON_MS), runner.runDue(deadline)]);
    assert.deepEqual([duty.work, duty.maxAtOnce], [0, 1]);
  });
});

describe('a runner that is stopped', { timeout: 20_000 }, () => {
  it('lets what is under way finish, and begins nothing more', async () => {
    const duty = new WatchedJob();
    duty.work = 5;
    const { promise, resolve } = Promise.withResolvers<void>();
    duty.gate = promise;
    const runner = startRunner([duty]);
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
    assert.deepEqual([duty.runs, duty.work, duty.atOnce], [1, 4, 0]);
    runner.wake();
    await flushEventLoop();
    assert.equal(duty.runs, 1);
  });

  it('is stopped at once when it sleeps', async () => {
    const runner = startRunner([new WatchedJob()]);
    runner.start();
    await flushEventLoop();
    await runner.stop();
  });
});

describe('settling', { timeout: 20_000 }, () => {
  it('runs all due work until a whole round finds none', async () => {
    const [one, other] = [new WatchedJob(), new WatchedJob()];
    one.work = 3;
    other.work = 7;
    assert.equal(await startRunner([one, other]).runUntilIdle(SOON_MS), true);
    assert.deepEqual([one.work, other.work], [0, 0]);
  });

  it('sees work that one duty makes for another that has looked already', async () => {
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

  it('waits for what is under way and will finish by itself', async () => {
    const duty = new WatchedJob();
    duty.isBusy = true;
    const settled = startRunner([duty]).runUntilIdle(SOON_MS);
    for (let n = 0; n < 3; n++) await duty.nextRun();
    duty.isBusy = false;
    assert.equal(await settled, true);
  });

  it('says so when the time is up', async () => {
    const busy = new WatchedJob();
    busy.isBusy = true;
    const runner = startRunner([new WatchedJob(), Object.assign(busy, { name: 'the busy one' })]);
    assert.equal(await runner.runUntilIdle(60), false);
    assert.deepEqual(await runner.busyJobNames(), ['the busy one']);
    const endless = new WatchedJob();
    endless.work = Number.POSITIVE_INFINITY;
    assert.equal(await startRunner([endless]).runUntilIdle(20), false);
    assert.equal(await startRunner([endless]).runDue(Date.now() + 20), false);
  });

  it('counts a duty that fails as one that rests', async () => {
    const duty = new WatchedJob();
    duty.fails = true;
    assert.equal(await startRunner([duty]).runUntilIdle(SOON_MS), true);
  });
});

describe('moving a clock through due dates', { timeout: 20_000 }, () => {
  it('asks each duty once more after the last piece of work, and none oftener', async () => {
    const duties = Array.from({ length: 5 }, () => new WatchedJob());
    const [, second, , fourth] = duties as [WatchedJob, WatchedJob, WatchedJob, WatchedJob];
    second.work = 1;
    fourth.work = 1;
    assert.equal(await startRunner(duties).runDue(Date.now() + SOON_MS), true);
    assert.deepEqual(
      duties.map((duty) => duty.runs),
      [2, 2, 2, 2, 1],
    );
  });

  it('leaves housekeeping for where it arrives', async () => {
    const [work, keeping] = [new WatchedJob(), new WatchedJob()];
    keeping.housekeeping = true;
    keeping.work = 2;
    const runner = startRunner([work, keeping]);
    assert.equal(await runner.runDue(Date.now() + SOON_MS, { passing: true }), true);
    assert.deepEqual([work.runs, keeping.runs], [1, 0]);
    assert.equal(await runner.runUntilIdle(SOON_MS), true);
    assert.equal(keeping.work, 0);
  });

  it('sees what is in flight only where that holds the clock', async () => {
    const [sending, installing] = [new WatchedJob(), new WatchedJob()];
    sending.blocksClock = true;
    installing.isBusy = true;
    installing.due = new Date('2030-01-31');
    const runner = startRunner([sending, installing]);
    assert.deepEqual(await runner.nextPlannedWork(), { dueAt: installing.due, isClockBlocked: false });
    sending.isBusy = true;
    assert.deepEqual(await runner.nextPlannedWork(), { dueAt: installing.due, isClockBlocked: true });
  });

  it('keeps the loops still meanwhile, and wakes them afterwards', async () => {
    const duty = new WatchedJob();
    const runner = startRunner([duty]);
    runner.start();
    await flushEventLoop();
    const { runs } = duty;
    await runner.runExclusively(async () => {
      duty.work = 2;
      runner.wake();
      await flushEventLoop();
      assert.equal(duty.runs, runs);
    });
    await flushEventLoop();
    assert.equal(duty.work, 0);
    await assert.rejects(
      runner.runExclusively(async () => assert.fail('as asked')),
      /as asked/,
    );
    duty.work = 1;
    runner.wake();
    await flushEventLoop();
    assert.equal(duty.work, 0);
  });
});

describe('the next due moment', () => {
  it('is the earliest of all duties, or none', async () => {
    const [one, other, idle] = [new WatchedJob(), new WatchedJob(), new WatchedJob()];
    assert.equal(await startRunner([one, other, idle]).nextDue(), null);
    one.due = new Date('2030-02-01');
    other.due = new Date('2030-01-31');
    assert.deepEqual(await startRunner([one, other, idle]).nextDue(), new Date('2030-01-31'));
  });
});

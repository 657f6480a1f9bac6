import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { Duty } from '../../src/workers/duty.ts';
import { Runner } from '../../src/workers/runner.ts';

/** Far longer than any test: who needs the poll to get on, hangs. */
const NEVER_MS = 3_600_000;
const SOON_MS = 10_000;

/** A duty with so many pieces of work, whose runs can be watched and held. */
class Watched implements Duty {
  readonly name = 'watched';
  housekeeping?: true;
  holdsClock?: true;
  work = 0;
  runs = 0;
  atOnce = 0;
  mostAtOnce = 0;
  under = false;
  due: Date | null = null;
  fails = false;
  /** What each run waits for. */
  held: Promise<void> | undefined;
  #watchers: (() => void)[] = [];

  async run(): Promise<number> {
    this.runs += 1;
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    for (const seen of this.#watchers.splice(0)) seen();
    try {
      const found = this.work > 0 ? 1 : 0;
      await this.held;
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
    return this.under;
  }

  /** When it runs the next time. */
  nextRun(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }
}

let started: Runner | undefined;
function runnerOf(duties: readonly Duty[], pollMs = NEVER_MS): Runner {
  started = new Runner({ duties, pollMs, log: createLogger('silent') });
  return started;
}
afterEach(async () => {
  await started?.stop();
});

/** Lets everything that can go on do so. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a runner that was started', { timeout: 20_000 }, () => {
  it('works at once until nothing is left, then sleeps', async () => {
    const duty = new Watched();
    duty.work = 3;
    runnerOf([duty]).start();
    await turns();
    assert.deepEqual([duty.work, duty.runs], [0, 4]);
  });

  it('looks again when it is woken', async () => {
    const duty = new Watched();
    const runner = runnerOf([duty]);
    runner.start();
    await turns();
    duty.work = 2;
    runner.wake();
    await turns();
    assert.equal(duty.work, 0);
  });

  it('looks again after the poll interval, though nobody wakes it', async () => {
    const duty = new Watched();
    runnerOf([duty], 1).start();
    for (let n = 0; n < 3; n++) await duty.nextRun();
  });

  it('is not put to sleep by a look that began before it was woken', async () => {
    const duty = new Watched();
    const { promise, resolve } = Promise.withResolvers<void>();
    duty.held = promise;
    const runner = runnerOf([duty]);
    runner.start();
    await turns();
    assert.equal(duty.runs, 1);
    // The look has found nothing, and is not back yet.
    duty.work = 1;
    runner.wake();
    resolve();
    await turns();
    assert.equal(duty.work, 0);
  });

  it('goes on after a duty failed, and a duty that fails does not hold up another', async () => {
    const [failing, other] = [new Watched(), new Watched()];
    failing.fails = true;
    const runner = runnerOf([failing, other]);
    runner.start();
    await turns();
    assert.equal(failing.runs, 1);
    failing.fails = false;
    failing.work = 1;
    other.work = 1;
    runner.wake();
    await turns();
    assert.deepEqual([failing.work, other.work], [0, 0]);
  });

  it('does not wait with one duty for another', async () => {
    const [slow, quick] = [new Watched(), new Watched()];
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.held = promise;
    quick.work = 5;
    runnerOf([slow, quick]).start();
    await turns();
    assert.equal(quick.work, 0);
    resolve();
  });

  it('never runs a duty twice at a time, whoever asks', async () => {
    const duty = new Watched();
    duty.work = 50;
    const runner = runnerOf([duty]);
    runner.start();
    const deadline = Date.now() + SOON_MS;
    await Promise.all([runner.settle(SOON_MS), runner.settle(SOON_MS), runner.runDue(deadline)]);
    assert.deepEqual([duty.work, duty.mostAtOnce], [0, 1]);
  });
});

describe('a runner that is stopped', { timeout: 20_000 }, () => {
  it('lets what is under way finish, and begins nothing more', async () => {
    const duty = new Watched();
    duty.work = 5;
    const { promise, resolve } = Promise.withResolvers<void>();
    duty.held = promise;
    const runner = runnerOf([duty]);
    runner.start();
    await turns();
    let stopped = false;
    const stop = runner.stop().then(() => {
      stopped = true;
    });
    await turns();
    assert.ok(!stopped);
    resolve();
    await stop;
    assert.deepEqual([duty.runs, duty.work, duty.atOnce], [1, 4, 0]);
    runner.wake();
    await turns();
    assert.equal(duty.runs, 1);
  });

  it('is stopped at once when it sleeps', async () => {
    const runner = runnerOf([new Watched()]);
    runner.start();
    await turns();
    await runner.stop();
  });
});

describe('settling', { timeout: 20_000 }, () => {
  it('runs all due work until a whole round finds none', async () => {
    const [one, other] = [new Watched(), new Watched()];
    one.work = 3;
    other.work = 7;
    assert.equal(await runnerOf([one, other]).settle(SOON_MS), true);
    assert.deepEqual([one.work, other.work], [0, 0]);
  });

  it('sees work that one duty makes for another that has looked already', async () => {
    const first = new Watched();
    const second = new Watched();
    second.work = 1;
    const run = second.run.bind(second);
    second.run = async () => {
      const did = await run();
      first.work += did;
      return did;
    };
    assert.equal(await runnerOf([first, second]).settle(SOON_MS), true);
    assert.deepEqual([first.work, second.work], [0, 0]);
  });

  it('waits for what is under way and will finish by itself', async () => {
    const duty = new Watched();
    duty.under = true;
    const settled = runnerOf([duty]).settle(SOON_MS);
    for (let n = 0; n < 3; n++) await duty.nextRun();
    duty.under = false;
    assert.equal(await settled, true);
  });

  it('says so when the time is up', async () => {
    const busy = new Watched();
    busy.under = true;
    const runner = runnerOf([new Watched(), Object.assign(busy, { name: 'the busy one' })]);
    assert.equal(await runner.settle(60), false);
    assert.deepEqual(await runner.busyNames(), ['the busy one']);
    const endless = new Watched();
    endless.work = Number.POSITIVE_INFINITY;
    assert.equal(await runnerOf([endless]).settle(20), false);
    assert.equal(await runnerOf([endless]).runDue(Date.now() + 20), false);
  });

  it('counts a duty that fails as one that rests', async () => {
    const duty = new Watched();
    duty.fails = true;
    assert.equal(await runnerOf([duty]).settle(SOON_MS), true);
  });
});

describe('moving a clock through due dates', { timeout: 20_000 }, () => {
  it('asks each duty once more after the last piece of work, and none oftener', async () => {
    const duties = Array.from({ length: 5 }, () => new Watched());
    const [, second, , fourth] = duties as [Watched, Watched, Watched, Watched];
    second.work = 1;
    fourth.work = 1;
    assert.equal(await runnerOf(duties).runDue(Date.now() + SOON_MS), true);
    assert.deepEqual(
      duties.map((duty) => duty.runs),
      [2, 2, 2, 2, 1],
    );
  });

  it('leaves housekeeping for where it arrives', async () => {
    const [work, keeping] = [new Watched(), new Watched()];
    keeping.housekeeping = true;
    keeping.work = 2;
    const runner = runnerOf([work, keeping]);
    assert.equal(await runner.runDue(Date.now() + SOON_MS, { passing: true }), true);
    assert.deepEqual([work.runs, keeping.runs], [1, 0]);
    assert.equal(await runner.settle(SOON_MS), true);
    assert.equal(keeping.work, 0);
  });

  it('sees what is in flight only where that holds the clock', async () => {
    const [sending, installing] = [new Watched(), new Watched()];
    sending.holdsClock = true;
    installing.under = true;
    installing.due = new Date('2030-01-31');
    const runner = runnerOf([sending, installing]);
    assert.deepEqual(await runner.ahead(), { due: installing.due, inFlight: false });
    sending.under = true;
    assert.deepEqual(await runner.ahead(), { due: installing.due, inFlight: true });
  });

  it('keeps the loops still meanwhile, and wakes them afterwards', async () => {
    const duty = new Watched();
    const runner = runnerOf([duty]);
    runner.start();
    await turns();
    const { runs } = duty;
    await runner.alone(async () => {
      duty.work = 2;
      runner.wake();
      await turns();
      assert.equal(duty.runs, runs);
    });
    await turns();
    assert.equal(duty.work, 0);
    await assert.rejects(
      runner.alone(async () => assert.fail('as asked')),
      /as asked/,
    );
    duty.work = 1;
    runner.wake();
    await turns();
    assert.equal(duty.work, 0);
  });
});

describe('the next due moment', () => {
  it('is the earliest of all duties, or none', async () => {
    const [one, other, idle] = [new Watched(), new Watched(), new Watched()];
    assert.equal(await runnerOf([one, other, idle]).nextDue(), null);
    one.due = new Date('2030-02-01');
    other.due = new Date('2030-01-31');
    assert.deepEqual(await runnerOf([one, other, idle]).nextDue(), new Date('2030-01-31'));
  });
});

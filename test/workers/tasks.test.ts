/** Tasks, using the removal of unknown snapshots: which driver calls they make, when, and how often. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { newId } from '../../src/kernel/ids.ts';
import { releaseAllLeases } from '../../src/store/leases.ts';
import {
  claimTasks,
  delayTask,
  enqueueTask,
  finishTask,
  retryTask,
  type TaskRow,
} from '../../src/store/tasks.ts';
import { tasksJob } from '../../src/workers/tasks.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

let world: TestService;
let subject: string;

before(async () => {
  world = await startTestService({ poolSize: 12 });
});
after(() => world.close());
beforeEach(() => {
  subject = newId(new Date());
});
afterEach(async () => {
  mock.restoreAll();
  await world.db.run('delete from tasks');
});

const enqueue = (id = subject) =>
  enqueueTask(world.db, { kind: 'snapshot', subject: id, now: world.clock.now() });
const claim = (limit = 100, leaseS = 30) =>
  claimTasks(world.db, { leaseId: newId(new Date()), now: world.clock.now(), leaseS, limit });
const remainingTasks = () => world.db.rows('select kind, subject, revision, attempts, lease_id from tasks');
const createJob = () => tasksJob(world.service);
const removing = (answer: (id: string) => Promise<void>) =>
  mock.method(world.service.compute, 'removeSnapshot', answer);

async function claimOne(): Promise<TaskRow> {
  const [task] = await claim();
  assert.ok(task);
  return task;
}

describe('task queue', () => {
  it('a task that is enqueued repeatedly is one task, due at once', async () => {
    await enqueue();
    const later = {
      dueAt: new Date(world.clock.now().getTime() + 60_000),
      attempts: 4,
      fault: 'refused',
      now: world.clock.now(),
    };
    assert.ok(await delayTask(world.db, await claimOne(), later));
    assert.deepEqual(await claim(), []);
    await enqueue();
    await enqueue();
    const { revision, attempts } = await claimOne();
    assert.deepEqual([revision, attempts], [3, 0]);
  });

  it('a task is claimed by one of many concurrent workers, most overdue first, and never early', async () => {
    const all = Array.from({ length: 20 }, () => newId(new Date()));
    for (const id of all) {
      await enqueue(id);
      world.clock.advanceS(1);
    }
    assert.deepEqual(
      (await claim(1)).map((task) => task.subject),
      all.slice(0, 1),
    );
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(3)));
    assert.deepEqual(
      claims
        .flat()
        .map((task) => task.subject)
        .sort(),
      all.slice(1).sort(),
    );
  });

  it('a task that is enqueued again during its work is not finished and stays due', async () => {
    await enqueue();
    const task = await claimOne();
    await enqueue();
    assert.equal(await finishTask(world.db, task), false);
    assert.deepEqual(await claim(), [], 'its worker still holds the lease');
    const later = {
      dueAt: new Date(world.clock.now().getTime() + 60_000),
      attempts: 4,
      fault: 'refused',
      now: world.clock.now(),
    };
    assert.ok(await delayTask(world.db, task, later));
    const { revision, attempts } = await claimOne();
    assert.deepEqual([revision, attempts], [2, 0]);
  });

  it('a task that an operator retries during its work stays due, also if the work fails', async () => {
    await enqueue();
    const task = await claimOne();
    const now = world.clock.now();
    assert.equal(await retryTask(world.db, { ...task, now }), true);
    const later = new Date(now.getTime() + 60_000);
    await delayTask(world.db, task, { dueAt: later, attempts: 1, fault: 'busy', now });
    assert.equal((await claimOne()).subject, task.subject);
  });

  it('a task whose lease was lost can be neither finished nor delayed', async () => {
    await enqueue();
    const stale = await claimOne();
    await world.db.run(`update tasks set leased_until = clock_timestamp() - interval '1 second'`);
    const task = await claimOne();
    assert.equal(await finishTask(world.db, stale), false);
    assert.equal(
      await delayTask(world.db, stale, { dueAt: new Date(), attempts: 1, fault: null, now: new Date() }),
      false,
    );
    assert.ok(await finishTask(world.db, task));
    assert.deepEqual(await remainingTasks(), []);
  });

  it('a task is free again when a process that runs alone releases all leases', async () => {
    await enqueue();
    await claimOne();
    await releaseAllLeases(world.db);
    await claimOne();
  });
});

describe('tasksJob', () => {
  it('the task job runs due tasks and is idle afterwards', async () => {
    const remove = removing(async () => undefined);
    await enqueue();
    assert.equal(await createJob().run(), 1);
    assert.deepEqual(
      remove.mock.calls.map((call) => call.arguments),
      [[subject]],
    );
    assert.deepEqual(await remainingTasks(), []);
    assert.equal(await createJob().run(), 0);
    assert.deepEqual([await createJob().busy(), await createJob().nextDue()], [false, null]);
  });

  it('a failing task is retried with backoff, and the job is busy while a retry is near', async () => {
    const remove = removing(async () => {
      throw new Error('no answer');
    });
    await enqueue();
    const waits: number[] = [];
    for (let n = 0; n < 7; n++) {
      assert.equal(await createJob().run(), 1);
      const due = (await createJob().nextDue()) ?? assert.fail('the task was given up');
      const waitMs = due.getTime() - world.clock.now().getTime();
      waits.push(waitMs / 1_000);
      assert.equal(await createJob().busy(), waitMs < 1_500);
      assert.equal(await createJob().run(), 0, 'the task ran early');
      world.clock.moveTo(due);
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 30, 30]);
    remove.mock.restore();
    assert.equal(await createJob().run(), 1);
    assert.deepEqual(await remainingTasks(), []);
  });

  it('a task that is enqueued again during its run runs once more', async () => {
    let again = true;
    const remove = removing(async () => {
      if (again) await enqueue();
      again = false;
    });
    await enqueue();
    await createJob().run();
    assert.equal((await remainingTasks()).length, 1);
    await createJob().run();
    assert.equal(remove.mock.callCount(), 2);
    assert.deepEqual(await remainingTasks(), []);
  });

  it('a task that overslept its lease runs once more, because it may have acted last', async () => {
    let overslept = true;
    const remove = removing(async () => {
      if (!overslept) return;
      overslept = false;
      await world.db.run('delete from tasks');
    });
    await enqueue();
    await createJob().run();
    await createJob().run();
    assert.equal(remove.mock.callCount(), 2);
    assert.deepEqual(await remainingTasks(), []);
  });

  it('a slow task does not delay other tasks', async () => {
    const slow = Promise.withResolvers<void>();
    removing((id) => (id === subject ? slow.promise : Promise.resolve()));
    await enqueue();
    const running = createJob().run();
    const deadline = Date.now() + 5_000;
    while ((await remainingTasks())[0] === undefined || !(await createJob().busy()))
      assert.ok(Date.now() < deadline);
    for (let n = 0; n < 20; n++) await enqueue(newId(new Date()));
    while ((await remainingTasks()).length > 1) assert.ok(Date.now() < deadline, 'the other tasks wait');
    assert.equal(await createJob().busy(), true);
    slow.resolve();
    assert.equal(await running, 21);
    assert.deepEqual(await remainingTasks(), []);
  });
});

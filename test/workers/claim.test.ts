import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { newId } from '../../src/kernel/ids.ts';
import { claimOperations, finishOperation, type OperationRow } from '../../src/store/servers/operations.ts';
import { OPERATIONS, processClaimed } from '../../src/workers/claim.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await startTestService({ poolSize: 12 });
  await world.fixtures.addPlans();
  await world.fixtures.addHosts([100]);
  await world.fixtures.addAddresses(200);
  actor = await world.fixtures.addCustomer(1_000_000n);
});
after(() => world.close());
beforeEach(async () => {
  mock.restoreAll();
  await world.db.run('delete from operations');
  await world.db.run('update balances set servers = 0');
});

/** Creates operations due one second apart, the first one now; returns their ids, most overdue first. */
async function operations(count: number): Promise<string[]> {
  for (let n = 0; n < count; n++) {
    await deploy(world.service, actor, world.fixtures.buildOrder());
    world.clock.advanceS(1);
  }
  world.clock.advanceS(-count);
  const rows = await world.db.rows<{ id: string }>('select id from operations order by due_at');
  return rows.map(({ id }) => id);
}
const claim = (limit = 100, leaseS = 30) =>
  claimOperations(world.db, { leaseId: newId(new Date()), now: world.clock.now(), leaseS, limit });
const ids = (rows: readonly OperationRow[]) => rows.map(({ id }) => id).sort();

interface Lease {
  readonly lease_id: string | null;
  readonly left_s: number | null;
}
async function lease(): Promise<Lease> {
  const row = await world.db.row<Lease>(
    `select lease_id, extract(epoch from leased_until - clock_timestamp())::float8 as left_s
       from operations limit 1`,
  );
  assert.ok(row);
  return row;
}
/** Simulates that so many seconds of the database's time have passed. */
const leaseTimePasses = (seconds: number) =>
  world.db.run(`update operations set leased_until = leased_until - make_interval(secs => $1)`, [seconds]);

describe('claimOperations', () => {
  it('due operations are claimed most overdue first up to the limit, and never early', async () => {
    const [first = '', second = '', third = ''] = await operations(4);
    assert.deepEqual(ids(await claim(0)), []);
    assert.deepEqual(ids(await claim()), [first]);
    world.clock.advanceS(2);
    assert.deepEqual(ids(await claim(1)), [second]);
    assert.deepEqual(ids(await claim()), [third]);
    assert.deepEqual(ids(await claim()), []);
  });

  it('a due operation is claimed by one of many concurrent workers', async () => {
    const all = await operations(20);
    world.clock.advanceS(20);
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(3)));
    assert.deepEqual(ids(claims.flat()), all.toSorted());
  });

  it('a claimed operation carries the fields that its step needs', async () => {
    const [id = ''] = await operations(1);
    const [operation] = await claim();
    assert.ok(operation);
    const { lease_id, server_id, host, ...others } = operation;
    assert.ok(lease_id && server_id);
    assert.deepEqual(await world.db.row('select name as host from hosts'), { host });
    const created = world.clock.now();
    assert.deepEqual(others, {
      id,
      kind: 'provision',
      step: 'ensure',
      attempts: 0,
      tried_hosts: [],
      placed_at: created,
      last_fault: null,
      cause: null,
      action_id: id,
      never_started: false,
      payload_sealed: null,
      snapshot_id: null,
      due_at: created,
      generation: 1,
      created_at: created,
    });
  });
});

describe('processClaimed', () => {
  beforeEach(() => operations(1));

  it('a lease excludes other workers exactly until it expires', async () => {
    assert.equal((await claim(1, 30)).length, 1);
    await leaseTimePasses(29);
    assert.equal((await claim()).length, 0);
    await leaseTimePasses(1);
    assert.equal((await claim()).length, 1);
  });

  it("a lease expires by the database's clock, even if business time jumps", async () => {
    await claim();
    world.clock.advanceS(365 * 86_400);
    assert.equal((await claim()).length, 0);
  });

  it('a lease is released when the work is done or fails', async () => {
    let seen: string[] = [];
    const count = await processClaimed(OPERATIONS, world.service, 10, async (operations) => {
      seen = ids(operations);
      assert.equal((await claim()).length, 0);
    });
    assert.deepEqual([count, seen.length], [1, 1]);
    assert.equal((await lease()).lease_id, null);

    const mine = new Error('the step failed');
    const failing = processClaimed(OPERATIONS, world.service, 10, async () => {
      throw mine;
    });
    await assert.rejects(failing, mine);
    assert.equal((await lease()).lease_id, null);
  });

  it('a lease that another worker holds now is not released', async () => {
    const other = newId(new Date());
    await processClaimed(OPERATIONS, world.service, 10, async () => {
      await world.db.run('update operations set lease_id = $1', [other]);
    });
    assert.equal((await lease()).lease_id, other);
  });

  it('a lease is extended by a heartbeat at least three times before it would expire', async () => {
    let beat: (() => void) | undefined;
    let everyMs = 0;
    const stopped = mock.method(globalThis, 'clearInterval');
    mock.method(globalThis, 'setInterval', (run: () => void, ms: number) => {
      [beat, everyMs] = [run, ms];
      return undefined;
    });
    await processClaimed(OPERATIONS, world.service, 10, async () => {
      const { left_s: wholeS } = await lease();
      assert.ok(wholeS && everyMs * 3 <= Math.round(wholeS) * 1_000, 'the heartbeat is too slow');
      await leaseTimePasses(wholeS - 1);
      beat?.();
      const deadline = Date.now() + 5_000;
      while (((await lease()).left_s ?? 0) < 2)
        assert.ok(Date.now() < deadline, 'the lease was not extended');
    });
    assert.equal(stopped.mock.callCount(), 1);
  });

  it('a lease is found by an index, however many operations wait', async () => {
    const plan = await world.db.transaction(async (tx) => {
      await tx.run('set local enable_seqscan = off');
      return await tx.rows(
        'explain update operations set due_at = due_at where lease_id = gen_random_uuid()',
      );
    });
    assert.match(JSON.stringify(plan), /operations_by_lease/);
  });

  it('a lost lease does not allow a worker to finish', async () => {
    const [stale] = await claim();
    assert.ok(stale);
    await leaseTimePasses(60);
    const [operation] = await claim();
    assert.ok(operation);
    assert.equal(await finishOperation(world.db, stale), false);
    assert.equal(await finishOperation(world.db, operation), true);
  });
});

describe('an empty queue', () => {
  it('an empty queue starts no work', async () => {
    const work = mock.fn(async () => undefined);
    assert.equal(await processClaimed(OPERATIONS, world.service, 10, work), 0);
    assert.equal(work.mock.callCount(), 0);
  });
});

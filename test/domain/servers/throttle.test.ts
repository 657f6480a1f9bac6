import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { findServerForOperator } from '../../../src/domain/servers/operator/find.ts';
import { describeServer } from '../../../src/domain/servers/read.ts';
import { getTransfer } from '../../../src/domain/servers/traffic.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { serverColumns, serverFacts } from '../../../src/operator/format/server.ts';
import { sumSentTraffic } from '../../../src/store/servers/traffic.ts';
import { throttleJob } from '../../../src/workers/throttle.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import type { TestService } from '../../support/test-service.ts';
import { RegionWorld } from './region-world.ts';

const TIB = 1024 ** 4;

let region: RegionWorld;
let world: TestService;
let id: string;
let shown: string;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.reset();
  ({ id, shown } = await region.running());
  // Clear the metrics of other tests.
  await world.db.run('delete from metrics');
  await setAllowance(1);
});

const setAllowance = (tib: number) => world.db.run('update plans set transfer_tb = $1', [tib]);

/** Returns the start of the month `ahead` months from now. */
function month(ahead = 1): Date {
  const now = world.clock.now();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
}

/** Records that the server sends so many bytes in the hour that begins then. */
async function send(bytes: number, hour: Date): Promise<void> {
  await world.db.run(
    `insert into metrics (server_id, hour, cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps,
                          net_out_bps)
     values ($1, $2, 0, 0, 0, 0, 1e12, $3)`,
    [id, hour, bytes / 3600],
  );
}

/** Moves the clock there and runs the job to its end. */
async function roundAt(at: Date): Promise<void> {
  world.clock.moveTo(at);
  await world.db.run('delete from beats');
  const job = throttleJob(world.service);
  while ((await job.run()) > 0);
}

const throttled = async () => (await region.server(id)).throttled;
const tasks = async () => {
  const rows = await world.db.rows<{ kind: string }>('select kind from tasks where subject = $1', [id]);
  return rows.map(({ kind }) => kind);
};
const notes = async () => (await describeServer(world.service, region.actor, shown)).notes;
const later = (from: Date, hours: number) => new Date(from.getTime() + hours * HOUR_MS);

describe('a server that sends more than its plan includes', () => {
  it('a server over its allowance is throttled from the next hour until the month ends', async () => {
    const begin = month();
    await send(TIB / 2, begin);
    await send(TIB / 2, later(begin, 1));
    await roundAt(later(begin, 2));
    assert.deepEqual([await throttled(), await notes(), await tasks()], [false, [], []]);
    await send(1, later(begin, 2));
    await roundAt(later(begin, 3));
    assert.deepEqual([await throttled(), await tasks()], [true, ['traffic']]);
    const end = month();
    assert.deepEqual(await notes(), [
      'This server sent 1.00 TiB this month; its plan includes 1 TiB. ' +
        `Until ${end.toISOString().slice(0, 10)} (UTC) its traffic is limited to 10 Mbit/s. ` +
        'You are not charged for the extra transfer.',
    ]);
    const row = await findServerForOperator(world.service, shown);
    assert.equal(serverColumns(row).at(-1), 'throttled');
    const sent = serverFacts(row).find(([label]) => label === 'traffic');
    assert.equal(
      sent?.[1],
      `1.00 of 1 TiB sent since ${begin.toISOString().slice(0, 10)}; throttled until the month ends`,
    );
    await world.runUntilIdle();
    assert.deepEqual(await tasks(), []);
    await roundAt(new Date(end.getTime() - 1));
    assert.equal(await throttled(), true);
    await roundAt(end);
    assert.deepEqual([await throttled(), await notes(), await tasks()], [false, [], ['traffic']]);
    await world.assertInvariants();
  });

  it('a throttled server is unthrottled when its plan includes more', async () => {
    const begin = month();
    await send(1.5 * TIB, begin);
    await roundAt(later(begin, 1));
    assert.equal(await throttled(), true);
    await setAllowance(2);
    await roundAt(later(begin, 2));
    assert.equal(await throttled(), false);
  });

  it('a throttled server stays throttled after the metrics of the first day are deleted', async () => {
    let begin = month();
    while (new Date(begin.getTime() + 30 * DAY_MS).getUTCMonth() !== begin.getUTCMonth()) {
      begin = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1));
    }
    await send(1.5 * TIB, begin);
    await roundAt(later(begin, 1));
    await world.db.run('delete from metrics');
    await roundAt(new Date(begin.getTime() + 30 * DAY_MS));
    assert.equal(await throttled(), true);
  });

  it('a server is not throttled for received traffic or for traffic of the previous month', async () => {
    const begin = month();
    await send(2 * TIB, new Date(begin.getTime() - HOUR_MS));
    await send(0, begin);
    await roundAt(later(begin, 1));
    assert.deepEqual([await throttled(), await tasks()], [false, []]);
  });

  it('a server in its current hour is counted for the elapsed part of it', async () => {
    const begin = month();
    await send(2 * TIB, begin);
    await roundAt(later(begin, 0.5));
    assert.equal(await throttled(), false);
    await roundAt(later(begin, 0.6));
    assert.equal(await throttled(), true);
  });
});

describe('getTransfer', () => {
  it('the transfer of a server is what it sent this month, and only its owner reads it', async () => {
    const begin = month();
    await send(TIB / 4, begin);
    await roundAt(later(begin, 1));
    const { actor } = region;
    const transfer = await getTransfer(world.service, actor, shown);
    assert.deepEqual([transfer.usedTb, transfer.includedTb], ['0.25', 1]);
    world.clock.moveTo(new Date(begin.getTime() + 40 * DAY_MS));
    assert.equal((await getTransfer(world.service, actor, shown)).usedTb, '0.00');
    const other = { ...actor, customerId: newId(begin) };
    await assert.rejects(getTransfer(world.service, other, shown), { code: 'not_found' });
  });
});

describe('throttleJob', () => {
  it('the throttle job runs once an hour in one process', async () => {
    const begin = month();
    await roundAt(begin);
    await send(2 * TIB, begin);
    world.clock.moveTo(later(begin, 1));
    const jobs = [1, 2].map(() => throttleJob(world.service));
    const [one, other] = await Promise.all(jobs.map((job) => job.run()));
    assert.deepEqual([one, other].toSorted(), [0, 1]);
    assert.equal(await throttled(), true);
    await setAllowance(3);
    world.clock.moveTo(new Date(later(begin, 2).getTime() - 1));
    for (const job of jobs) assert.equal(await job.run(), 0);
    assert.equal(await throttled(), true);
  });

  it('the traffic sum is over the allowance exactly when the hours add up to more', async () => {
    const begin = month();
    const hours = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 });
    let last = begin;
    await fc.assert(
      fc.asyncProperty(hours, fc.integer({ min: 1, max: 12 }), async (quarters, allowed) => {
        await world.db.run('delete from metrics');
        await world.db.run('delete from transfers_out');
        await setAllowance(allowed / 4);
        for (const [n, some] of quarters.entries()) await send((some * TIB) / 4, later(begin, n));
        last = later(begin, quarters.length);
        const rows = await sumSentTraffic(world.db, { after: null, month: begin, now: last, limit: 1000 });
        const sent = quarters.reduce((sum, some) => sum + some, 0);
        assert.equal(rows.find((row) => row.server_id === id)?.over, sent > allowed);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('the traffic sum runs in batches and skips servers that are locked', async () => {
    const begin = month();
    const second = await region.running();
    const page = { month: begin, now: later(begin, 1), limit: 1 };
    await send(2 * TIB, begin);
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const [row] = await sumSentTraffic(world.db, { ...page, after });
      if (!row) break;
      seen.push(row.server_id);
      after = row.server_id;
    }
    assert.deepEqual(seen.slice(-2), [id, second.id]);
    await world.db.run('delete from transfers_out');
    await world.db.transaction(async (tx) => {
      await tx.run('select from servers where id = $1 for update', [id]);
      const rows = await sumSentTraffic(world.db, { ...page, after: null, limit: 1000 });
      assert.equal(rows.find((row) => row.server_id === id)?.over, false);
    });
    const all = await sumSentTraffic(world.db, { ...page, after: null, limit: 1000 });
    assert.equal(all.find((row) => row.server_id === id)?.over, true);
  });
});

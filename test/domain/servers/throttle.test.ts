import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { describeServer } from '../../../src/domain/servers/describe-server.ts';
import { findServerForOperator } from '../../../src/domain/servers/operator-servers.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { serverColumns, serverFacts } from '../../../src/operator/server-format.ts';
import { sumSentTraffic } from '../../../src/store/transfers-out.ts';
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
  // Of other tests.
  await world.db.run('delete from metrics');
  await includes(1);
});

const includes = (tib: number) => world.db.run('update plans set transfer_tb = $1', [tib]);

/** The first moment of the month `ahead` months from this one. */
function month(ahead = 1): Date {
  const now = world.clock.now();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
}

/** It sends so many bytes in the hour that begins then. */
async function sends(bytes: number, hour: Date): Promise<void> {
  await world.db.run(
    `insert into metrics (server_id, hour, cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps, net_out_bps)
     values ($1, $2, 0, 0, 0, 0, 1e12, $3)`,
    [id, hour, bytes / 3600],
  );
}

/** A whole round, as at the beginning of that hour. */
async function roundAt(at: Date): Promise<void> {
  world.clock.moveTo(at);
  await world.db.run('delete from beats');
  const duty = throttleJob(world.service);
  while ((await duty.run()) > 0);
}

const throttled = async () => (await region.server(id)).throttled;
const tasks = async () => {
  const rows = await world.db.rows<{ kind: string }>('select kind from tasks where subject = $1', [id]);
  return rows.map(({ kind }) => kind);
};
const notes = async () => (await describeServer(world.service, region.actor, shown)).notes;
const later = (from: Date, hours: number) => new Date(from.getTime() + hours * HOUR_MS);

describe('a server that sends more than its plan includes', () => {
  it('is slow from the next hour until the month ends, and says so', async () => {
    const begin = month();
    await sends(TIB / 2, begin);
    await sends(TIB / 2, later(begin, 1));
    await roundAt(later(begin, 2));
    assert.deepEqual([await throttled(), await notes(), await tasks()], [false, [], []]);
    await sends(1, later(begin, 2));
    await roundAt(later(begin, 3));
    assert.deepEqual([await throttled(), await tasks()], [true, ['traffic']]);
    const end = month();
    assert.deepEqual(await notes(), [
      `It has sent 1.00 TiB this month, and its plan includes 1 TiB: until ${end.toISOString().slice(0, 10)} ` +
        '(UTC) it sends and receives 10 Mbit/s at most. Nothing is charged for it.',
    ]);
    const row = await findServerForOperator(world.service, shown);
    assert.equal(serverColumns(row).at(-1), 'slow');
    const sent = serverFacts(row).find(([what]) => what === 'sent');
    assert.equal(
      sent?.[1],
      `1.00 of 1 TiB since ${begin.toISOString().slice(0, 10)}; slow until the month ends`,
    );
    await world.runUntilIdle();
    assert.deepEqual(await tasks(), []);
    await roundAt(new Date(end.getTime() - 1));
    assert.equal(await throttled(), true);
    await roundAt(end);
    assert.deepEqual([await throttled(), await notes(), await tasks()], [false, [], ['traffic']]);
    await world.assertInvariants();
  });

  it('is free again when its plan includes more', async () => {
    const begin = month();
    await sends(1.5 * TIB, begin);
    await roundAt(later(begin, 1));
    assert.equal(await throttled(), true);
    await includes(2);
    await roundAt(later(begin, 2));
    assert.equal(await throttled(), false);
  });

  it('stays slow though the hours of the month’s first day are removed on its last', async () => {
    let begin = month();
    while (new Date(begin.getTime() + 30 * DAY_MS).getUTCMonth() !== begin.getUTCMonth()) {
      begin = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1));
    }
    await sends(1.5 * TIB, begin);
    await roundAt(later(begin, 1));
    await world.db.run('delete from metrics');
    await roundAt(new Date(begin.getTime() + 30 * DAY_MS));
    assert.equal(await throttled(), true);
  });

  it('is not one that has received as much, or sent it last month', async () => {
    const begin = month();
    await sends(2 * TIB, new Date(begin.getTime() - HOUR_MS));
    await sends(0, begin);
    await roundAt(later(begin, 1));
    assert.deepEqual([await throttled(), await tasks()], [false, []]);
  });

  it('has sent of the running hour what has passed of it', async () => {
    const begin = month();
    await sends(2 * TIB, begin);
    await roundAt(later(begin, 0.5));
    assert.equal(await throttled(), false);
    await roundAt(later(begin, 0.6));
    assert.equal(await throttled(), true);
  });
});

describe('counting what servers send', () => {
  it('is done once an hour, by one process', async () => {
    const begin = month();
    await roundAt(begin);
    await sends(2 * TIB, begin);
    world.clock.moveTo(later(begin, 1));
    const duties = [1, 2].map(() => throttleJob(world.service));
    const [one, other] = await Promise.all(duties.map((duty) => duty.run()));
    assert.deepEqual([one, other].toSorted(), [0, 1]);
    assert.equal(await throttled(), true);
    await includes(3);
    world.clock.moveTo(new Date(later(begin, 2).getTime() - 1));
    for (const duty of duties) assert.equal(await duty.run(), 0);
    assert.equal(await throttled(), true);
  });

  it('adds up, whatever the hours, what is over and what is not', async () => {
    const begin = month();
    const hours = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 });
    let last = begin;
    await fc.assert(
      fc.asyncProperty(hours, fc.integer({ min: 1, max: 12 }), async (quarters, allowed) => {
        await world.db.run('delete from metrics');
        await world.db.run('delete from transfers_out');
        await includes(allowed / 4);
        for (const [n, some] of quarters.entries()) await sends((some * TIB) / 4, later(begin, n));
        last = later(begin, quarters.length);
        const rows = await sumSentTraffic(world.db, { after: null, month: begin, now: last, limit: 1000 });
        const sent = quarters.reduce((sum, some) => sum + some, 0);
        assert.equal(rows.find((row) => row.server_id === id)?.over, sent > allowed);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('goes in batches, and leaves out what is just being changed', async () => {
    const begin = month();
    const second = await region.running();
    const page = { month: begin, now: later(begin, 1), limit: 1 };
    await sends(2 * TIB, begin);
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
    assert.equal(
      (await sumSentTraffic(world.db, { ...page, after: null, limit: 1000 })).find(
        (row) => row.server_id === id,
      )?.over,
      true,
    );
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { extendLease, LEASE_S, newLeaseId } from '../../src/store/leases.ts';
import {
  listEndedProcesses,
  registerProcess,
  removeEndedProcess,
  removeOwnProcess,
} from '../../src/store/service/processes.ts';
import type { Job } from '../../src/workers/job.ts';
import { takeOverJob } from '../../src/workers/take-over.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** The lease ids of another process. */
const OTHER = {
  first: '0a0a0a0a-0a0a-0a0a-0000-000000000000',
  lease: '0a0a0a0a-0a0a-0a0a-7777-777777777777',
  last: '0a0a0a0a-0a0a-0a0a-ffff-ffffffffffff',
};

const OTHER_RANGE = { first_lease: OTHER.first, last_lease: OTHER.last };

describe('leases of a process that died', { timeout: 60_000 }, () => {
  let world: TestService;
  let other: pg.Client;
  let job: Job;

  before(async () => {
    world = await startTestService();
  });
  beforeEach(async () => {
    job = takeOverJob(world.service);
    other = await connect();
  });
  after(() => world.close());

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(world.db.settings);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** As `registerProcess` does in the other process. */
  async function registerOther(client: pg.Client): Promise<void> {
    await client.query('select pg_advisory_lock_shared(75661, hashtext($1))', [OTHER.first]);
    await client.query('insert into processes values ($1, $2) on conflict do nothing', [
      OTHER.first,
      OTHER.last,
    ]);
  }

  /** Adds a task with a lease that lasts for so long; returns its subject. */
  async function leaseTask(leaseId: string, leftS: number): Promise<string> {
    const subject = randomUUID();
    await world.db.run(
      `insert into tasks (kind, subject, due_at, lease_id, leased_until)
       values ('test', $1, now(), $2, clock_timestamp() + make_interval(secs => $3))`,
      [subject, leaseId, leftS],
    );
    return subject;
  }
  const leaseOf = async (subject: string) =>
    (
      await world.db.row<{ lease_id: string | null }>('select lease_id from tasks where subject = $1', [
        subject,
      ])
    )?.lease_id;
  const processes = async () =>
    (await world.db.rows<{ id: string }>('select first_lease as id from processes')).map(({ id }) => id);

  it('are released soon after its session ended, and no others are', async () => {
    await registerOther(other);
    const [theirs, ours] = [await leaseTask(OTHER.lease, LEASE_S), await leaseTask(newLeaseId(), LEASE_S)];
    await job.run();
    assert.deepEqual(await listEndedProcesses(world.db), []);
    const { rows } = await other.query('select pg_backend_pid() as pid');
    await world.db.run('select pg_terminate_backend($1::int)', [rows[0].pid]);
    while ((await leaseOf(theirs)) !== null) {
      await job.run();
      await pause(100);
    }
    assert.notEqual(await leaseOf(ours), null);
    assert.deepEqual(await processes(), []);
  });

  it('stay with a process that lost its session and still extends them', async () => {
    await registerOther(other);
    const task = await leaseTask(OTHER.lease, LEASE_S);
    await other.end();
    // Long enough that a lease which is not extended would be released.
    while ((await processes()).length > 0) {
      await extendLease(world.db, 'tasks', OTHER.lease, LEASE_S);
      await job.run();
      await pause(100);
    }
    assert.equal(await leaseOf(task), OTHER.lease);
  });

  it('stay with a process that reconnects soon', async () => {
    await registerOther(other);
    const task = await leaseTask(OTHER.lease, 1);
    await other.end();
    while ((await listEndedProcesses(world.db)).length === 0) await pause(20);
    await job.run();
    assert.equal(await leaseOf(task), OTHER.lease);
    const again = await connect();
    await registerOther(again);
    assert.equal(await removeEndedProcess(world.db, OTHER_RANGE), false);
    assert.equal(await leaseOf(task), OTHER.lease);
    await again.end();
    await world.db.run('delete from processes');
  });

  it('a process registers again after each reconnection, and removes its record when it stops', async () => {
    const session = world.db.withClient(other);
    await registerProcess(session);
    await registerProcess(session);
    assert.equal((await processes()).length, 1);
    await removeOwnProcess(world.db);
    assert.deepEqual(await processes(), []);
    await other.end();
  });
});

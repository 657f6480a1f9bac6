import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FIRST_PURGE_CURSOR, type PurgeCursor, purgeNext } from '../../src/domain/retention/purge.ts';
import { RETENTION, RETENTION_NAMES } from '../../src/domain/retention/rules.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { PURGES, purgeBatch } from '../../src/store/retention.ts';
import { retainJob } from '../../src/workers/retain.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { openRetentionRows, type RetentionRows } from './retention-rows.ts';

/** Tables of which nothing is removed for its age, and why their rows do not pile up, or may. */
const KEPT: Record<string, string> = {
  ...stay('the books', 'transfers', 'balances', 'topups', 'deposits', 'coins'),
  ...stay(
    'the books: whose an address is that was given out, for ever; as many as the operator imports',
    'address_pool',
  ),
  ...stay('goes when it is given out; no more than were refused at once', 'spare_indexes'),
  ...stay('the newest price alone, one for each coin and source', 'quotes'),
  ...stay('what a customer has; counted by quotas', 'customers', 'api_tokens', 'ssh_keys', 'servers'),
  ...stay('what a customer has; counted by quotas', 'volumes', 'snapshots', 'webhooks', 'firewall_groups'),
  ...stay(
    'goes with what it belongs to',
    'firewall_rules',
    'firewall_attachments',
    'samplings',
    'webhook_queues',
  ),
  ...stay('goes when the name is withdrawn', 'published_rdns'),
  ...stay('one for each customer', 'event_counters', 'totp_secrets'),
  ...stay('goes when it is no longer so; a thousand a look at most', 'findings'),
  ...stay('one for each kind of work', 'beats'),
  ...stay('goes with what it belongs to', 'transfers_out'),
  ...stay('goes when it is done', 'operations', 'tasks', 'volume_changes', 'image_uploads', 'reset_requests'),
  ...stay('the operator’s', 'service', 'switches', 'policies', 'regions', 'plans', 'plan_regions', 'hosts'),
  ...stay('the operator’s', 'machines', 'ip_blocks', 'ipv4_addresses', 'ipv6_prefixes', 'price_changes'),
  ...stay('which migrations ran', 'migration_files', 'kysely_migration', 'kysely_migration_lock'),
};

function stay(why: string, ...tables: string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, why]));
}

describe('what is kept for a time', () => {
  let world: TestService;
  let laid: RetentionRows;
  before(async () => {
    world = await startTestService();
    laid = await openRetentionRows(world);
  });
  after(() => world.close());

  const now = () => world.clock.now();
  const ago = (ms: number) => laid.ago(ms);

  /** Whole rounds until one finds nothing; how many rows went. */
  async function purgeAll(): Promise<number> {
    let all = 0;
    for (let last = -1; last !== 0; ) {
      last = 0;
      for (let place: PurgeCursor | null = FIRST_PURGE_CURSOR; place !== null; ) {
        const { gone, next }: Awaited<ReturnType<typeof purgeNext>> = await purgeNext(world.service, place);
        last += gone;
        place = next;
      }
      all += last;
    }
    return all;
  }

  for (const name of RETENTION_NAMES) {
    it(`is gone when its time is over, and not before: ${name}`, async () => {
      await purgeAll();
      const { insert, keptMs, goneMs } = laid.rules[name];
      const kept = await insert(ago(keptMs));
      const gone = [await insert(ago(goneMs)), await insert(ago(goneMs + 100 * DAY_MS))];
      assert.equal(await purgeAll(), gone.length);
      assert.equal(await laid.isThere(kept), true);
      for (const row of gone) assert.equal(await laid.isThere(row), false);
    });
  }

  it('is every table that grows, and never one of the books', async () => {
    const rows = await world.db.rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by name`,
    );
    const purged: string[] = Object.values(PURGES).map(({ table }) => table);
    const unsaid = rows.map(({ name }) => name).filter((name) => !purged.includes(name) && !KEPT[name]);
    assert.deepEqual(unsaid, [], 'say in `RETENTION`, or here, what becomes of their rows');
    assert.deepEqual(
      purged.filter((table) => KEPT[table] !== undefined),
      [],
    );
    assert.equal(new Set(purged).size, purged.length);
  });

  it('keeps a session that is used, and none that was not seen for a day', async () => {
    const used = await laid.session(ago(29 * DAY_MS), ago(DAY_MS - 1));
    const idle = await laid.session(ago(2 * DAY_MS), ago(DAY_MS));
    await purgeAll();
    assert.deepEqual([await laid.isThere(used), await laid.isThere(idle)], [true, false]);
  });

  it('keeps what is still to be sent, and the event that it is of, however old they are', async () => {
    const at = ago(60 * DAY_MS);
    const rows = [await laid.event(at, { seq: null })];
    for (const more of [
      { status: 'pending', due_at: at },
      { status: 'failed', due_at: at, attempt: 3 },
      // A replay of it is in the log, as long as that goes back.
      { status: 'delivered', on_request: true, created_at: ago(7 * DAY_MS), id: newId(ago(7 * DAY_MS)) },
    ]) {
      const id = newId(at);
      rows.push(await laid.event(at, { id }), await laid.delivery(at, { event_id: id, ...more }));
    }
    await purgeAll();
    for (const [n, row] of rows.entries()) assert.equal(await laid.isThere(row), true, `${n}`);
    await world.db.run(`update deliveries set due_at = null`);
    await world.db.run(`update events set seq = 0 where seq is null`);
    world.clock.moveTo(new Date(now().getTime() + 1));
    await purgeAll();
    const left = await world.db.rows(`select from events union all select from deliveries`);
    assert.equal(left.length, 0);
  });

  it('keeps the row of a deleted image while a server, a snapshot or its file needs it', async () => {
    const [ofServer, ofSnapshot, withFile] = [newId(now()), newId(now()), newId(now())];
    const rows = [
      await laid.deletedImage({ id: ofServer }),
      await laid.deletedImage({ id: ofSnapshot }),
      await laid.deletedImage({ id: withFile, blob_key: withFile }),
    ];
    const server = await laid.insertServer(ofServer);
    await world.db.run(
      `insert into snapshots (id, customer_id, server_id, region_id, disk_gb, image_id, generation, name, status, created_at)
       select $1, $2, $3, (select id from regions limit 1), 1, $4, 1, 'a', 'ready', $5`,
      [newId(now()), laid.customerId, laid.serverId, ofSnapshot, now()],
    );
    await purgeAll();
    for (const row of rows) assert.equal(await laid.isThere(row), true);
    await world.db.run(`delete from servers where id = $1`, [server.id]);
    await world.db.run(`delete from snapshots`);
    await world.db.run(`update images set blob_key = null where id = $1`, [withFile]);
    await purgeAll();
    for (const row of rows) assert.equal(await laid.isThere(row), false);
  });

  it('goes in batches that wait for nobody, whatever stands in between', async () => {
    await world.db.run('delete from deliveries');
    const count = 40;
    const at = ago(100 * DAY_MS);
    for (let n = 0; n < count; n++)
      await laid.delivery(at, n % 4 === 0 ? { due_at: at, status: 'pending' } : {});
    const rows = async () => (await world.db.rows('select from deliveries')).length;
    const batch = (from: string | null) =>
      purgeBatch(world.db, PURGES.deliveries, {
        ...{ from, until: newId(now()), now: now(), limit: 8 },
      });
    const held = await world.db.transaction(async (tx) => {
      await tx.rows(`select from deliveries where due_at is null order by id limit 3 for update`);
      let [from, gone]: [string | null, number] = [null, 0];
      for (;;) {
        const step = await batch(from);
        assert.ok(step.looked <= 8);
        gone += step.gone;
        if (step.looked < 8) return gone;
        from = step.reached;
      }
    });
    assert.equal(held, (count * 3) / 4 - 3);
    assert.equal(await purgeAll(), 3);
    assert.equal(await rows(), count / 4);
    await world.db.run(`delete from deliveries`);
  });

  it('is removed by two at a time without either removing what the other does', async () => {
    for (let n = 0; n < 300; n++) await laid.delivery(ago(8 * DAY_MS));
    const both = await Promise.all([purgeAll(), purgeAll()]);
    assert.equal(both[0] + both[1], 300);
  });

  it('is looked at by its duty, which no clock stops for and which rests between two rounds', async () => {
    let statements = 0;
    const row = world.db.row.bind(world.db);
    const counted: typeof row = async (...call) => {
      statements += 1;
      return await row(...call);
    };
    const db = { ...world.db, row: counted };
    const duty = retainJob({ ...world.service, db });
    await laid.delivery(ago(8 * DAY_MS));
    assert.deepEqual([await duty.run(), statements], [1, RETENTION_NAMES.length]);
    assert.deepEqual([await duty.run(), await duty.nextDue(), await duty.busy()], [0, null, false]);
    world.clock.moveTo(new Date(now().getTime() + 365 * DAY_MS));
    // A clock that races does not make it look at every step.
    assert.deepEqual([await duty.run(), statements], [0, RETENTION_NAMES.length]);
  });

  it('says of each rule how many rows it takes at once', () => {
    for (const rule of Object.values(RETENTION)) assert.ok(rule.batch >= 2 && rule.batch <= 1_000);
  });
});

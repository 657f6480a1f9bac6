import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { purgeExpired, RETENTION, RETENTION_NAMES } from '../../src/domain/upkeep/retention.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { PURGES, type Purge, purgeBatch } from '../../src/store/service/retention.ts';
import { retainJob } from '../../src/workers/retain.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { openRetentionRows, type RetentionRows } from './retention-rows.ts';

/** Tables without a retention, and why their rows do not pile up, or may. */
const KEPT: Record<string, string> = {
  ...stay('accounting', 'transfers', 'balances', 'topups', 'deposits', 'coins'),
  ...stay(
    'accounting: the owner of every address given out, permanently; as many as the operator imports',
    'address_pool',
  ),
  ...stay('deleted when reused; no more than concurrent failures', 'spare_indexes'),
  ...stay('one row', 'readiness'),
  ...stay('only the latest price per coin and source', 'quotes'),
  ...stay('customer resources, limited by quotas', 'customers', 'api_tokens', 'ssh_keys', 'servers'),
  ...stay(
    'customer resources, limited by quotas',
    'volumes',
    'snapshots',
    'webhooks',
    'firewall_groups',
    'alerts',
  ),
  ...stay(
    'deleted with their parent',
    'firewall_rules',
    'firewall_attachments',
    'samplings',
    'webhook_queues',
  ),
  ...stay('deleted when the name is withdrawn', 'published_rdns'),
  ...stay('one per server, deleted at its end', 'blackholes'),
  ...stay('one per customer', 'event_counters', 'totp_secrets'),
  ...stay('customer resources, limited by a constant', 'passkeys', 'saved_filters'),
  ...stay('of a customer, limited by a constant', 'customer_tags'),
  ...stay('deleted when resolved; at most a thousand per scan', 'findings'),
  ...stay('one per kind of work', 'beats'),
  ...stay('one per running process; the others remove those that ended', 'processes'),
  ...stay('one per coin, deleted by the recovery', 'address_marks'),
  ...stay('deleted with the old backups, by the job that makes them', 'database_backups'),
  ...stay('deleted with their parent', 'transfers_out', 'alert_servers', 'alert_firings', 'backup_policies'),
  ...stay('deleted when done', 'operations', 'tasks', 'volume_changes', 'image_uploads', 'reset_requests'),
  ...stay('one per customer and coupon, deleted with the account', 'coupon_redemptions'),
  ...stay('operator data', 'coupons', 'approval_rules', 'staff_passkeys'),
  ...stay('operator data', 'service', 'switches', 'policies', 'regions', 'plans', 'plan_regions', 'hosts'),
  ...stay('counted again', 'plan_payers'),
  ...stay('deleted with their parent', 'ticket_messages', 'ticket_files', 'legal_documents', 'abuse_files'),
  ...stay('operator data, limited by a constant', 'canned_answers', 'abuse_templates'),
  ...stay('operator data', 'backends', 'control_plane_identities'),
  ...stay('the operator’s published history, a few rows per incident', 'incidents', 'incident_updates'),
  ...stay('one per component, deleted when it is no longer measured', 'component_checks'),
  ...stay('one per host, deleted with it', 'host_facts'),
  ...stay('deleted with the machine, volume, or snapshot', 'placed_resources'),
  ...stay('those of ISO images a day after they were sent, others with the backend', 'backend_files'),
  ...stay('deleted when the copy that was left is gone', 'moves'),
  ...stay('one per snapshot, deleted with its object in the store', 'snapshot_copies'),
  ...stay('operator data', 'machines', 'ip_blocks', 'ipv4_addresses', 'ipv6_prefixes', 'price_changes'),
  ...stay('deleted after their audit row; the anchor is one row', 'audit_links', 'audit_anchor'),
  ...stay('applied migrations', 'migration_files', 'kysely_migration', 'kysely_migration_lock'),
};

function stay(why: string, ...tables: string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, why]));
}

describe('retention', () => {
  let world: TestService;
  let laid: RetentionRows;
  before(async () => {
    world = await startTestService();
    laid = await openRetentionRows(world);
  });
  after(() => world.close());

  const now = () => world.clock.now();
  const ago = (ms: number) => laid.ago(ms);

  /** Runs full passes until one finds nothing, and returns the number of deleted rows. */
  async function purgeAll(): Promise<number> {
    let all = 0;
    for (let last = -1; last !== 0; ) {
      last = 0;
      for (const rule of RETENTION_NAMES) {
        for await (const gone of purgeExpired(world.service, rule)) last += gone;
      }
      all += last;
    }
    return all;
  }

  for (const name of RETENTION_NAMES) {
    it(`rows of ${name} are deleted after their retention and not before`, async () => {
      await purgeAll();
      const { insert, keptMs, goneMs } = laid.rules[name];
      const kept = await insert(ago(keptMs));
      const gone = [await insert(ago(goneMs)), await insert(ago(goneMs + 100 * DAY_MS))];
      assert.equal(await purgeAll(), gone.length);
      assert.equal(await laid.isThere(kept), true);
      for (const row of gone) assert.equal(await laid.isThere(row), false);
    });
  }

  it('every growing table has a retention, and no accounting table has one', async () => {
    const rows = await world.db.rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by name`,
    );
    const purged: string[] = Object.values(PURGES).map(({ table }) => table);
    const unknown = rows.map(({ name }) => name).filter((name) => !purged.includes(name) && !KEPT[name]);
    assert.deepEqual(unknown, [], 'define the retention of these tables in `RETENTION` or list them here');
    assert.deepEqual(
      purged.filter((table) => KEPT[table] !== undefined),
      [],
    );
    const rules: Purge[] = Object.values(PURGES);
    assert.equal(new Set(rules.map(({ table, where }) => `${table} ${where}`)).size, rules.length);
  });

  it('active sessions are kept, and sessions that are idle for a day are deleted', async () => {
    const used = await laid.session(ago(29 * DAY_MS), ago(DAY_MS - 1));
    const idle = await laid.session(ago(2 * DAY_MS), ago(DAY_MS));
    await purgeAll();
    assert.deepEqual([await laid.isThere(used), await laid.isThere(idle)], [true, false]);
  });

  it('pending deliveries and their events are kept regardless of age', async () => {
    const at = ago(60 * DAY_MS);
    const rows = [await laid.event(at, { seq: null })];
    for (const more of [
      { status: 'pending', due_at: at },
      { status: 'failed', due_at: at, attempt: 3 },
      // Its replay stays in the log for the same time.
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

  it('a deleted image row is kept while a server, a snapshot, or its file needs it', async () => {
    const [ofServer, ofSnapshot, withFile] = [newId(now()), newId(now()), newId(now())];
    const rows = [
      await laid.deletedImage({ id: ofServer }),
      await laid.deletedImage({ id: ofSnapshot }),
      await laid.deletedImage({ id: withFile, blob_key: withFile }),
    ];
    const server = await laid.insertServer(ofServer);
    await world.db.run(
      `insert into snapshots
         (id, customer_id, server_id, region_id, disk_gb, image_id, generation, name, status, created_at)
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

  it('batches skip locked rows and make progress past them', async () => {
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

  it('two concurrent passes delete every row once', async () => {
    for (let n = 0; n < 300; n++) await laid.delivery(ago(8 * DAY_MS));
    const both = await Promise.all([purgeAll(), purgeAll()]);
    assert.equal(both[0] + both[1], 300);
  });

  it('the retention job runs regardless of the clock and rests between passes', async (t) => {
    // A second round may begin a second after the first one.
    const startedMs = performance.now();
    t.mock.method(performance, 'now', () => startedMs);
    let statements = 0;
    const row = world.db.row.bind(world.db);
    const counted: typeof row = async (...call) => {
      if (call[0].startsWith('with looked')) statements += 1;
      return await row(...call);
    };
    const db = { ...world.db, row: counted };
    const job = retainJob({ ...world.service, db });
    await laid.delivery(ago(8 * DAY_MS));
    assert.deepEqual([await job.run(), statements], [1, RETENTION_NAMES.length]);
    assert.deepEqual([await job.run(), await job.nextDue(), await job.busy()], [0, null, false]);
    world.clock.moveTo(new Date(now().getTime() + 365 * DAY_MS));
    // A racing clock does not make it run at every step.
    assert.deepEqual([await job.run(), statements], [0, RETENTION_NAMES.length]);
  });

  it('every retention rule has a sensible batch size', () => {
    for (const rule of Object.values(RETENTION)) assert.ok(rule.batch >= 2 && rule.batch <= 1_000);
  });
});

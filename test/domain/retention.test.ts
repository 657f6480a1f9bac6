import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { purgeNext, ROUND_BEGINS, type RoundPlace } from '../../src/domain/retention/purge.ts';
import { RETENTION, RETENTION_NAMES, type RetentionName } from '../../src/domain/retention/rules.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/kernel/time.ts';
import { PURGES, purgeBatch } from '../../src/store/retention.ts';
import { retainDuty } from '../../src/workers/retain.ts';
import { type TestService, testService } from '../support/service.ts';

/** Tables of which nothing is removed for its age, and why their rows do not pile up, or may. */
const KEPT: Record<string, string> = {
  ...stay('the books', 'transfers', 'balances', 'topups', 'deposits', 'coins'),
  ...stay('what a customer has; counted by quotas', 'customers', 'api_tokens', 'ssh_keys', 'servers'),
  ...stay('what a customer has; counted by quotas', 'volumes', 'snapshots', 'webhooks', 'firewall_groups'),
  ...stay(
    'goes with what it belongs to',
    'firewall_rules',
    'firewall_attachments',
    'samplings',
    'webhook_queues',
  ),
  ...stay('one for each customer', 'event_counters'),
  ...stay('goes when it is done', 'operations', 'tasks', 'volume_changes', 'image_uploads', 'reset_requests'),
  ...stay('the operator’s', 'service', 'switches', 'policies', 'regions', 'plans', 'plan_regions', 'hosts'),
  ...stay('the operator’s', 'machines', 'ip_blocks', 'ipv4_addresses', 'ipv6_prefixes', 'price_changes'),
  ...stay('which migrations ran', 'migration_files', 'kysely_migration', 'kysely_migration_lock'),
};

function stay(why: string, ...tables: string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, why]));
}

/** A row whose time is `at`; gives what finds it again. */
type Lay = (at: Date) => Promise<{ readonly table: string; readonly where: string }>;

describe('what is kept for a time', () => {
  let world: TestService;
  let customerId: string;
  let serverId: string;
  before(async () => {
    world = await testService();
    await world.stock.offer();
    ({ customerId } = await world.stock.customer());
    serverId = (await laidServer()).id;
  });
  after(() => world.close());

  const now = () => world.clock.now();
  const ago = (ms: number) => new Date(now().getTime() - ms);

  async function laidServer(imageId?: string): Promise<{ id: string }> {
    const id = newId(now());
    await world.db.run(
      `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb, disk_gb,
                            billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until, created_at, updated_at)
       select $1, $2, $3, 'a', 'running', p.id, r.id, coalesce($4, (select id from images limit 1)), 1, 1, 1, 1, 1, 1, $5, $5, $5
         from (select id from plans limit 1) p, (select id from regions limit 1) r`,
      [id, Math.floor(Math.random() * 1e9), customerId, imageId ?? null, now()],
    );
    return { id };
  }

  async function insert(
    table: string,
    row: Record<string, unknown>,
  ): Promise<{ table: string; where: string }> {
    const columns = Object.keys(row);
    const [made] = await world.db.rows<{ place: string }>(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})
       returning ctid::text as place`,
      Object.values(row),
    );
    return { table, where: `ctid = '${made?.place}'` };
  }
  const isThere = async ({ table, where }: { table: string; where: string }) =>
    (await world.db.rows(`select from ${table} where ${where}`)).length === 1;

  /** Whole rounds until one finds nothing; how many rows went. */
  async function purgeAll(): Promise<number> {
    let all = 0;
    for (let last = -1; last !== 0; ) {
      last = 0;
      for (let place: RoundPlace | null = ROUND_BEGINS; place !== null; ) {
        const { gone, next }: Awaited<ReturnType<typeof purgeNext>> = await purgeNext(world.service, place);
        last += gone;
        place = next;
      }
      all += last;
    }
    return all;
  }

  const delivery = (at: Date, more: Record<string, unknown> = {}) => {
    const id = newId(at);
    return insert('deliveries', {
      ...{ id, delivery_id: id, webhook_id: newId(at), customer_id: customerId, event_id: newId(at) },
      ...{ event_type: 'ping', attempt: 1, status: 'delivered', created_at: at, ...more },
    });
  };
  const event = (at: Date, more: Record<string, unknown> = {}) =>
    insert('events', {
      ...{ id: newId(at), customer_id: customerId, type: 'server.stopped', data: '{}', created_at: at },
      ...{ seq: BigInt(Math.floor(Math.random() * 1e12)), ...more },
    });
  const session = (createdAt: Date, seenAt: Date) =>
    insert('sessions', {
      ...{ id: newId(createdAt), digest: digest(), customer_id: customerId },
      ...{ created_at: createdAt, seen_at: seenAt },
    });
  const deletedImage = (more: Record<string, unknown> = {}) =>
    insert('images', {
      ...{ id: newId(now()), type: 'custom', family: 'custom', version: '1', arch: ['amd64'], size_gb: 1 },
      ...{ cloud_init: false, released_at: now(), customer_id: customerId, deleted_at: ago(1), ...more },
    });
  const digest = () => Buffer.from(newId(new Date()).replaceAll('-', ''), 'hex');

  /** Of each rule: how a row of this time is laid, and the ages of one that stays and of one that goes. */
  const RULES: Record<RetentionName, { lay: Lay; keptMs: number; goneMs: number }> = {
    audit: {
      lay: (at) =>
        insert('audit_events', {
          ...{ id: newId(at), customer_id: customerId, action: 'server.stop', request_id: 'req_x' },
          ...{ ip_country: 'XX', result: 'ok', created_at: at },
        }),
      keptMs: 90 * DAY_MS,
      goneMs: 90 * DAY_MS + 1,
    },
    deliveries: { lay: delivery, keptMs: 7 * DAY_MS, goneMs: 7 * DAY_MS + 1 },
    events: { lay: event, keptMs: 30 * DAY_MS, goneMs: 30 * DAY_MS + 1 },
    idempotency: {
      lay: (at) =>
        insert('idempotency', {
          ...{ customer_id: customerId, key_digest: digest(), fingerprint: 'k.x', answer: Buffer.of(1) },
          ...{ request_id: 'req_x', created_at: at },
        }),
      keptMs: DAY_MS,
      goneMs: DAY_MS + 1,
    },
    // Seen a moment ago, until it is 30 days old.
    sessions: { lay: (at) => session(at, now()), keptMs: 30 * DAY_MS - 1, goneMs: 30 * DAY_MS },
    metrics: {
      lay: (at) =>
        insert('metrics', {
          ...{ server_id: serverId, hour: at, cpu_pct: 1, ram_mb: 1, disk_read_bps: 1, disk_write_bps: 1 },
          ...{ net_in_bps: 1, net_out_bps: 1 },
        }),
      keptMs: 30 * DAY_MS,
      goneMs: 30 * DAY_MS + 1,
    },
    mails: {
      lay: (at) =>
        insert('mails', {
          ...{
            id: newId(at),
            customer_id: customerId,
            kind: 'low_balance',
            cause: newId(at),
            status: 'sent',
          },
          created_at: at,
        }),
      keptMs: 30 * DAY_MS,
      goneMs: 30 * DAY_MS + 1,
    },
    mailLinks: {
      lay: (at) =>
        insert('mail_links', {
          ...{
            digest: digest(),
            customer_id: customerId,
            purpose: 'confirm',
            email: 'a@b',
            email_key: 'a@b',
          },
          ...{ created_at: at, expires_at: at },
        }),
      keptMs: 7 * DAY_MS,
      goneMs: 7 * DAY_MS + 1,
    },
    consoleTickets: {
      lay: (at) =>
        insert('console_tickets', {
          ...{ digest: digest(), customer_id: customerId, server_id: serverId, read_only: true },
          expires_at: at,
        }),
      keptMs: 0,
      goneMs: 1,
    },
    // Real time.
    rateBuckets: {
      lay: (at) =>
        insert('rate_buckets', {
          token_id: newId(at),
          bucket: 'general',
          tat: new Date(Date.now() - (now().getTime() - at.getTime())),
        }),
      keptMs: DAY_MS - MINUTE_MS,
      goneMs: DAY_MS + 1,
    },
    windows: {
      lay: (at) =>
        insert('maintenance_windows', {
          ...{ id: newId(new Date(at.getTime() - HOUR_MS)), starts_at: new Date(at.getTime() - HOUR_MS) },
          ends_at: at,
        }),
      keptMs: 90 * DAY_MS,
      goneMs: 90 * DAY_MS + 1,
    },
    deletedImages: { lay: (at) => deletedImage({ deleted_at: at }), keptMs: 0, goneMs: 1 },
  };

  for (const name of RETENTION_NAMES) {
    it(`is gone when its time is over, and not before: ${name}`, async () => {
      await purgeAll();
      const { lay, keptMs, goneMs } = RULES[name];
      const kept = await lay(ago(keptMs));
      const gone = [await lay(ago(goneMs)), await lay(ago(goneMs + 100 * DAY_MS))];
      assert.equal(await purgeAll(), gone.length);
      assert.equal(await isThere(kept), true);
      for (const row of gone) assert.equal(await isThere(row), false);
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
    const used = await session(ago(29 * DAY_MS), ago(DAY_MS - 1));
    const idle = await session(ago(2 * DAY_MS), ago(DAY_MS));
    await purgeAll();
    assert.deepEqual([await isThere(used), await isThere(idle)], [true, false]);
  });

  it('keeps what is still to be sent, and the event that it is of, however old they are', async () => {
    const at = ago(60 * DAY_MS);
    const rows = [await event(at, { seq: null })];
    for (const more of [
      { status: 'pending', due_at: at },
      { status: 'failed', due_at: at, attempt: 3 },
      // A replay of it is in the log, as long as that goes back.
      { status: 'delivered', on_request: true, created_at: ago(7 * DAY_MS), id: newId(ago(7 * DAY_MS)) },
    ]) {
      const id = newId(at);
      rows.push(await event(at, { id }), await delivery(at, { event_id: id, ...more }));
    }
    await purgeAll();
    for (const [n, row] of rows.entries()) assert.equal(await isThere(row), true, `${n}`);
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
      await deletedImage({ id: ofServer }),
      await deletedImage({ id: ofSnapshot }),
      await deletedImage({ id: withFile, blob_key: withFile }),
    ];
    const server = await laidServer(ofServer);
    await world.db.run(
      `insert into snapshots (id, customer_id, server_id, region_id, disk_gb, image_id, generation, name, status, created_at)
       select $1, $2, $3, (select id from regions limit 1), 1, $4, 1, 'a', 'ready', $5`,
      [newId(now()), customerId, serverId, ofSnapshot, now()],
    );
    await purgeAll();
    for (const row of rows) assert.equal(await isThere(row), true);
    await world.db.run(`delete from servers where id = $1`, [server.id]);
    await world.db.run(`delete from snapshots`);
    await world.db.run(`update images set blob_key = null where id = $1`, [withFile]);
    await purgeAll();
    for (const row of rows) assert.equal(await isThere(row), false);
  });

  it('goes in batches that wait for nobody, whatever stands in between', async () => {
    await world.db.run('delete from deliveries');
    const count = 40;
    const at = ago(100 * DAY_MS);
    for (let n = 0; n < count; n++) await delivery(at, n % 4 === 0 ? { due_at: at, status: 'pending' } : {});
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
    for (let n = 0; n < 300; n++) await delivery(ago(8 * DAY_MS));
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
    const duty = retainDuty({ ...world.service, db });
    await delivery(ago(8 * DAY_MS));
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

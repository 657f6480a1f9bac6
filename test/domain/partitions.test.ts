import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { partitionFindings } from '../../src/domain/health/partitions.ts';
import { tendPartitions } from '../../src/domain/upkeep/partitions.ts';
import { RETENTION } from '../../src/domain/upkeep/retention.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import {
  addPartition,
  PARTITIONED,
  PARTITIONED_NAMES,
  type PartitionedName,
  readPartitions,
} from '../../src/store/service/partitions.ts';
import { waitUntil } from '../http/v1/upload-world.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { openRetentionRows, type RetentionRows } from './retention-rows.ts';

describe('partitions', () => {
  let world: TestService;
  let laid: RetentionRows;
  before(async () => {
    world = await startTestService();
    laid = await openRetentionRows(world);
  });
  after(() => world.close());
  afterEach(async () => {
    for (const { purge } of Object.values(PARTITIONED)) await world.db.run(`truncate ${purge.table}`);
    // The other partitions expire, or are later than any that is added.
    pass(2 * 365 * DAY_MS);
    await tend();
  });

  const now = () => world.clock.now();
  const later = (ms: number) => new Date(now().getTime() + ms);
  const pass = (ms: number) => world.clock.moveTo(later(ms));
  const partitionsOf = async (name: PartitionedName) =>
    (await readPartitions(world.db, PARTITIONED[name])).partitions;

  async function tend(service = world.service): Promise<number> {
    let removed = 0;
    for await (const each of tendPartitions(service)) removed += each;
    return removed;
  }

  /** The number of rows of the table, by the partition that has them. */
  async function rowsBy(name: PartitionedName): Promise<Record<string, number>> {
    const { table } = PARTITIONED[name].purge;
    const rows = await world.db.rows<{ name: string; n: number }>(
      `select c.relname as name, count(*)::int as n from ${table} t join pg_class c on c.oid = t.tableoid
        group by 1 order by 1`,
    );
    return Object.fromEntries(rows.map(({ name: partition, n }) => [partition, n]));
  }

  /** Resolves once another session waits for a lock. */
  async function startsWaiting(done: Promise<unknown>): Promise<{ done: Promise<unknown> }> {
    done.catch(() => undefined);
    await waitUntil(async () => {
      const waiting = await world.db.row(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting !== undefined;
    });
    return { done };
  }

  for (const name of PARTITIONED_NAMES) {
    const { widthMs } = PARTITIONED[name];
    const { keepMs } = RETENTION[name];

    it(`rows of ${name} go with their partition once the newest of them may go, and not before`, async () => {
      await tend();
      const [current, next] = await partitionsOf(name);
      assert.ok(current && next && current.untilMs === next.fromMs);
      assert.ok(current.fromMs <= now().getTime() && now().getTime() < current.untilMs);
      await laid.rules[name].insert(new Date(current.fromMs + 1));
      await laid.rules[name].insert(new Date(current.fromMs));
      await laid.rules[name].insert(new Date(current.untilMs));
      assert.deepEqual(await rowsBy(name), { [current.name]: 2, [next.name]: 1 });
      world.clock.moveTo(new Date(current.untilMs + keepMs - 1));
      await tend();
      assert.equal((await rowsBy(name))[current.name], 2);
      world.clock.moveTo(new Date(current.untilMs + keepMs));
      await tend();
      assert.deepEqual(await rowsBy(name), { [next.name]: 1 });
      assert.ok((await partitionsOf(name)).length <= keepMs / widthMs + 3);
    });

    it(`${name}: a row that is inserted while its partition is added goes to that partition`, async () => {
      await tend();
      const fromMs = (await partitionsOf(name)).at(-1)?.untilMs ?? assert.fail();
      const { added, inserted } = await world.db.transaction(async (tx) => ({
        added: await addPartition(tx, PARTITIONED[name], fromMs),
        inserted: await startsWaiting(laid.rules[name].insert(new Date(fromMs))),
      }));
      await inserted.done;
      assert.deepEqual(await rowsBy(name), { [added]: 1 });
    });

    it(`${name}: no row is refused by a clock that jumps a year, there and back`, async () => {
      for (let n = 0; n < 6; n++) {
        await tend();
        await laid.rules[name].insert(now());
        pass((n % 2 === 0 ? 365 : -364) * DAY_MS);
        await laid.rules[name].insert(later(n + 1));
      }
      assert.ok(Object.values(await rowsBy(name)).reduce((sum, n) => sum + n) >= 6);
      await tend();
      const at = now().getTime();
      const partitions = await partitionsOf(name);
      assert.ok(partitions.some(({ fromMs, untilMs }) => fromMs <= at + widthMs && at + widthMs < untilMs));
      assert.ok(partitions.length <= keepMs / widthMs + 3, `${partitions.length}`);
    });
  }

  it('a delivery to be sent and its event keep their partitions, and nothing else in them', async () => {
    await tend();
    const [at, event_id] = [now(), newId(now())];
    await laid.event(at, { id: event_id });
    await laid.event(at);
    await laid.delivery(at, { event_id, status: 'failed', due_at: at });
    await laid.delivery(at);
    const [events] = await partitionsOf('events');
    const [deliveries] = await partitionsOf('deliveries');
    assert.ok(events && deliveries);
    pass(60 * DAY_MS);
    await tend();
    assert.deepEqual(await rowsBy('events'), { [events.name]: 1 });
    assert.deepEqual(await rowsBy('deliveries'), { [deliveries.name]: 1 });
    await world.db.run('update deliveries set due_at = null');
    await tend();
    await tend();
    assert.deepEqual([await rowsBy('events'), await rowsBy('deliveries')], [{}, {}]);
    for (const kept of [events, deliveries])
      assert.ok(!(await partitionsOf('events')).some(({ name }) => name === kept.name));
  });

  it('an event without a number keeps its partition', async () => {
    await tend();
    await laid.event(now(), { seq: null });
    pass(60 * DAY_MS);
    await tend();
    assert.deepEqual(Object.values(await rowsBy('events')), [1]);
  });

  it('a partition that is in use is dropped by a later round', async () => {
    await tend();
    await laid.rules.audit.insert(now());
    pass(365 * DAY_MS);
    await world.db.transaction(async (tx) => {
      await tx.rows('select from audit_events');
      await tend();
      assert.deepEqual(Object.values(await rowsBy('audit')), [1]);
    });
    await tend();
    assert.deepEqual(await rowsBy('audit'), {});
  });

  it('a large default partition is not read under a lock when one is added', async () => {
    const service = { ...world.service, settings: { ...world.service.settings, mode: 'live' as const } };
    for (const { name } of await partitionsOf('audit')) await world.db.run(`drop table partitions.${name}`);
    await world.db.run(
      `insert into audit_events (id, action, request_id, ip_country, result, note, created_at)
       select new_id($1), 'server.stop', 'req_x', 'XX', 'ok', repeat('x', 1900), $1
         from generate_series(1, 40000)`,
      [now()],
    );
    await world.db.run(
      'alter table partitions.audit_events add constraint outside_next check (id is null) not valid',
    );
    await tend(service);
    const [next, ...others] = await partitionsOf('audit');
    assert.ok(next && others.length === 0 && next.fromMs > now().getTime());
    assert.deepEqual(await rowsBy('audit'), { audit_events: 40_000 });
    const constraints = await world.db.rows(`select from pg_constraint where conname = 'outside_next'`);
    assert.equal(constraints.length, 0);
    await laid.rules.audit.insert(now());
    await laid.rules.audit.insert(new Date(next.fromMs));
    assert.deepEqual(await rowsBy('audit'), { audit_events: 40_001, [next.name]: 1 });
  });

  it('doctor warns without a partition of the next period, and mentions rows outside theirs', async () => {
    const levels = async () => (await partitionFindings(world.service)).map(({ level }) => level);
    await tend();
    assert.deepEqual(await levels(), ['ok']);
    pass(30 * DAY_MS);
    await laid.event(now());
    assert.deepEqual(await levels(), [...PARTITIONED_NAMES.map(() => 'warn'), 'note']);
    await tend();
    assert.deepEqual(await levels(), ['note']);
  });

  it('a new partition is like the default one', async () => {
    await tend();
    const constraints = `select string_agg(pg_get_constraintdef(k.oid), ','
                                           order by pg_get_constraintdef(k.oid))
      from pg_constraint k where k.conrelid = c.oid`;
    const indexes = `select string_agg(d, ',' order by d)
      from (select regexp_replace(pg_get_indexdef(x.indexrelid), 'INDEX .* USING', '') as d
              from pg_index x where x.indrelid = c.oid) as defined`;
    const columns = `select string_agg(concat_ws(' ', attname, attnotnull, attoptions, attstorage), ','
                                       order by attname)
      from pg_attribute a where a.attrelid = c.oid and attnum > 0`;
    const shapes = await world.db.rows<{ parent: string; shapes: bigint; partitions: bigint }>(
      `select i.inhparent::regclass::text as parent, count(*) as partitions,
              count(distinct concat_ws(' ', c.reloptions, (${columns}), (${indexes}), (${constraints})))
                as shapes
         from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relkind = 'r' group by 1`,
    );
    assert.equal(shapes.length, 5);
    for (const { parent, shapes: n, partitions } of shapes)
      assert.deepEqual([n, partitions > 1n], [1n, true], parent);
  });
});

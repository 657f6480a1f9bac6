import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { deleteAlert, updateAlert } from '../../../../src/domain/servers/alerts/change.ts';
import { evaluateAlerts } from '../../../../src/domain/servers/alerts/evaluate.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { formatRfc3339 } from '../../../../src/kernel/time.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import type { Alert } from '../../../../src/spec/schemas/alert.ts';
import { type AlertsWorld, alertsWorld, runMinute, shown } from './alerts-world.ts';

describe('the evaluation of alerts', () => {
  let world: AlertsWorld;
  let one: string;
  let two: string;
  let alert: Alert | undefined;
  const fired = (id: string) => `alert.fired ${shown(id)}`;
  const resolved = (id: string) => `alert.resolved ${shown(id)}`;
  const firing = async (of: Alert) => (await world.read(of)).firing.map(({ server }) => server);
  const setStatus = (id: string, status: string) =>
    world.db.run('update servers set status = $2 where id = $1', [id, status]);

  before(async () => {
    world = await alertsWorld();
    [one, two] = [await world.order(), await world.order()];
    await world.pass(1);
  });
  after(() => world.close());
  beforeEach(async () => {
    await world.db.run('delete from alerts');
    await world.db.run('delete from mails');
    world.loads.clear();
    await world.pass(6);
    await world.events();
    alert = undefined;
  });
  const busy = (id: string, cpuPct = 95) => world.loads.set(id, { cpuPct });

  it('an alert fires when each minute of its window exceeds the value, and ends otherwise', async () => {
    alert = await world.create({ servers: [shown(one), shown(two)] });
    busy(one);
    await world.pass(4);
    assert.deepEqual(await world.events(), []);
    await world.pass(1);
    assert.deepEqual(await world.events(), [fired(one)]);
    const since = formatRfc3339(world.clock.now());
    assert.deepEqual((await world.read(alert)).firing, [{ server: shown(one), since }]);
    await world.pass(3);
    assert.deepEqual(await world.events(), []);
    busy(one, 90);
    await world.pass(1);
    assert.deepEqual(await world.events(), [resolved(one)]);
    assert.deepEqual(await firing(alert), []);
    busy(one);
    await world.pass(4);
    assert.deepEqual(await world.events(), []);
    await world.world.assertInvariants();
  });

  it('values are compared in the unit of their metric, and below works as above', async () => {
    const ram = await world.db.row<{ ram_mb: number }>('select ram_mb from servers where id = $1', [one]);
    world.loads.set(one, { ramMb: (ram?.ram_mb ?? 0) / 2, diskWriteBps: 5_000, netOutBps: 70_000 });
    const expected: [Partial<Parameters<AlertsWorld['create']>[0]>, boolean][] = [
      [{ metric: 'ram_pct', value: 49.9 }, true],
      [{ metric: 'ram_pct', value: 50 }, false],
      [{ metric: 'ram_pct', compare: 'lt', value: 50.1 }, true],
      [{ metric: 'disk_write_bps', value: 4_999 }, true],
      [{ metric: 'disk_write_bps', value: 5_000 }, false],
      [{ metric: 'net_out_bps', value: 69_000 }, true],
      [{ metric: 'cpu_pct', compare: 'lt', value: 1 }, true],
      [{ metric: 'cpu_pct', value: 0 }, false],
    ];
    const alerts: Alert[] = [];
    for (const [body] of expected) alerts.push(await world.create({ ...body, servers: [shown(one)] }));
    await world.pass(6);
    for (const [index, [body, fires]] of expected.entries()) {
      const found = alerts[index] ?? assert.fail();
      assert.deepEqual(await firing(found), fires ? [shown(one)] : [], JSON.stringify(body));
    }
  });

  it('a missing minute keeps an alert from firing, but does not end it; no samples at all do', async () => {
    alert = await world.create({ servers: [shown(one)] });
    busy(one);
    await world.pass(3);
    world.loads.set(one, null);
    await world.pass(1);
    busy(one);
    // The samples of the missing minute arrive later, and then the window is complete.
    await world.pass(1);
    assert.deepEqual(await world.events(), [fired(one)]);
    world.loads.set(one, null);
    await world.pass(2);
    assert.deepEqual(await world.events(), []);
    await world.pass(3);
    assert.deepEqual(await world.events(), [resolved(one)]);
    await world.pass(10);
    assert.deepEqual(await world.events(), []);
  });

  it('an alert never fires from less than its window', async () => {
    alert = await world.create({ servers: [shown(one)], window: '10m' });
    busy(one);
    await world.pass(9);
    assert.deepEqual(await world.events(), []);
    await world.pass(1);
    assert.deepEqual(await world.events(), [fired(one)]);
  });

  it('labels select servers as they are now', async () => {
    const label = (id: string, labels: Record<string, string>) =>
      patchServer(world.service, world.actor, shown(id), { labels });
    await label(one, { tier: 'web', env: 'prod' });
    alert = await world.create({ label_selector: 'tier=web' });
    for (const id of [one, two]) busy(id);
    await world.pass(6);
    assert.deepEqual(await world.events(), [fired(one)]);
    await label(two, { tier: 'web' });
    await label(one, { env: 'prod' });
    await world.pass(1);
    assert.deepEqual(await world.events(), [resolved(one), fired(two)]);
    await label(two, {});
  });

  it('stopping a server ends its alerts, and so does deleting it', async () => {
    alert = await world.create({});
    const gone = await world.order();
    for (const id of [one, gone]) busy(id);
    await world.pass(7);
    assert.deepEqual((await world.events()).toSorted(), [fired(one), fired(gone)].toSorted());
    await setStatus(one, 'stopped');
    await world.pass(1);
    assert.deepEqual(await world.events(), [resolved(one)]);
    await setStatus(one, 'running');
    const listed = await world.create({ servers: [shown(gone), shown(two)] });
    await destroyServer(world.service, world.actor, shown(gone));
    await world.world.runUntilIdle();
    assert.deepEqual(await world.events(), [resolved(gone)]);
    assert.deepEqual((await world.read(listed)).servers, [shown(two)]);
    await world.world.assertInvariants();
  });

  it('disabling, a new rule, and deleting resolve in the same commit; a new name does not', async () => {
    const alerts = [await world.create({}), await world.create({}), await world.create({})];
    const [disabled, changed, deleted] = alerts.map(({ id }) => id);
    busy(one);
    await world.pass(6);
    assert.deepEqual(await world.events(), [fired(one), fired(one), fired(one)]);
    const patch = (id: string | undefined, body: object) =>
      updateAlert(world.service, world.actor, id ?? '', body);
    await patch(disabled, { name: 'other', value: 90, servers: [shown(one)] });
    assert.deepEqual(await world.events(), []);
    assert.deepEqual((await patch(disabled, { enabled: false })).firing, []);
    await patch(changed, { value: 91 });
    await deleteAlert(world.service, world.actor, deleted ?? '');
    assert.deepEqual(await world.events(), [resolved(one), resolved(one), resolved(one)]);
    await world.pass(1);
    // The changed rule is true for the window as well.
    assert.deepEqual(await world.events(), [fired(one)]);
    await world.world.assertInvariants();
  });

  it('processes that evaluate at the same time record each change once, with one mail', async () => {
    await Promise.all(Array.from({ length: 5 }, () => world.create({})));
    for (const id of [one, two]) busy(id);
    await world.pass(4);
    world.clock.advanceS(60);
    await runMinute(world.service);
    await world.events();
    await world.db.run('delete from alert_firings');
    await world.db.run('delete from mails');
    const evaluate = async () => {
      for await (const _ of evaluateAlerts(world.service));
    };
    await Promise.all(Array.from({ length: 4 }, evaluate));
    assert.equal((await world.events()).length, 10);
    assert.equal(await world.mails(), 1);
  });

  it('mails are one a run, and at most ten an hour', async () => {
    await world.create({ servers: [shown(one)] });
    for (let flap = 0; flap < LIMITS.alertMailsPerHour + 2; flap++) {
      busy(one);
      await world.pass(5);
      await world.db.run('update mails set created_at = $1', [world.clock.now()]);
      busy(one, 0);
      await world.pass(1);
    }
    assert.equal(await world.mails(), LIMITS.alertMailsPerHour);
  });
});

describe('alerts on what is not measured by the minute', () => {
  let world: AlertsWorld;
  let id: string;
  before(async () => {
    world = await alertsWorld();
    id = await world.order();
    await world.pass(6);
  });
  after(() => world.close());

  it('an alert on the transfer fires while the month’s share is above the value', async () => {
    await world.create({ metric: 'transfer_pct', value: 80, window: '1h' });
    const setTransfer = (share: number, month: string) =>
      world.db.run(
        `insert into transfers_out (server_id, month, bytes)
         select s.id, $3::date, (p.transfer_tb * 1099511627776 * $2::numeric)::bigint
           from servers s join plans p on p.id = s.plan_id where s.id = $1
         on conflict (server_id) do update set month = excluded.month, bytes = excluded.bytes`,
        [id, share, month],
      );
    const month = world.clock.now().toISOString().slice(0, 8);
    await setTransfer(0.79, `${month}01`);
    await world.pass(1);
    assert.deepEqual(await world.events(), []);
    await setTransfer(0.81, `${month}01`);
    await world.pass(2);
    assert.deepEqual(await world.events(), [`alert.fired ${shown(id)}`]);
    // A month that has ended.
    await setTransfer(0.9, '2029-12-01');
    await world.pass(1);
    assert.deepEqual(await world.events(), [`alert.resolved ${shown(id)}`]);
    await world.db.run('delete from alerts');
  });

  it('an unreachable alert fires when a server that should run was not seen for the window', async () => {
    const alert = await world.create({ metric: 'unreachable' });
    assert.deepEqual([alert.compare, alert.value], [null, null]);
    await world.pass(2);
    const host = await world.db.row<{ name: string }>('select name from hosts');
    await world.world.simulator.setHostDown(host?.name ?? '', true);
    await world.pass(7);
    assert.deepEqual(await world.events(), []);
    await world.pass(1);
    assert.deepEqual(await world.events(), [`alert.fired ${shown(id)}`]);
    await world.world.simulator.setHostDown(host?.name ?? '', false);
    await world.pass(1);
    assert.deepEqual(await world.events(), [`alert.resolved ${shown(id)}`]);
  });

  it('neither a machine without metrics that runs nor an outage of the service is unreachable', async () => {
    world.loads.set(id, null);
    await world.pass(10);
    assert.deepEqual(await world.events(), []);
    world.loads.clear();
    world.clock.advanceS(3_600);
    await world.pass(2);
    assert.deepEqual(await world.events(), []);
  });
});

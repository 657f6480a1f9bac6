/** The module `server`: options of an order, and resizes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Account, startAccount, WEB } from './support/account.ts';
import { SKIP_SLOW } from './support/ansible.ts';

describe('orders and resizes of the Ansible module server', { skip: SKIP_SLOW }, () => {
  let account: Account;
  before(async () => {
    if (!SKIP_SLOW) account = await startAccount();
  });
  after(() => account?.close());

  const run = (options: object) => account.modules.run('server', options);
  const check = (options: object) => account.modules.check('server', options);
  const get = async (path: string) => (await account.api.get(path)).body;
  const makeVolume = async (name: string) =>
    (await account.api.post('/volumes', { name, size_gb: 10, region: 'par' })).body.id;

  it('a new server with state=stopped is not powered on, and has its volumes from the order', async () => {
    const data = await makeVolume('data');
    const wanted = { ...WEB, name: 'web-1', state: 'stopped', volumes: ['data'] };
    const predicted = await check(wanted);
    assert.deepEqual([predicted.changed, predicted.server.status], [true, 'stopped']);
    const { server, diff } = await run(wanted);
    assert.equal(server.status, 'stopped');
    assert.deepEqual([diff.after.volumes, diff.after.status], [['data'], 'stopped']);
    assert.equal((await get(`/volumes/${data}`)).attached_to, server.id);
    const starts = await get(`/servers/${server.id}/actions`);
    assert.deepEqual(
      starts.data.map(({ command }: { command: string }) => command),
      ['server.create'],
    );
    const again = await run(wanted);
    assert.deepEqual([again.changed, again.diff.before], [false, again.diff.after]);
  });

  it('backups are ordered with a server, changed, turned off, and on again for their price', async () => {
    await account.world.opened.db.run('update plans set backup_percent = 20');
    const weekly = { every: 'week', weekday: 'sunday', hour_utc: 3 };
    const wanted = { ...WEB, name: 'kept', state: 'stopped', backups: weekly };
    assert.equal((await check(wanted)).changed, true);
    const { server, diff } = await run(wanted);
    assert.deepEqual([server.price_usd_cycle, diff.after.backups], [8.82, { ...weekly, enabled: true }]);
    const policy = () => get(`/servers/${server.id}/backup-policy`);
    const again = await run(wanted);
    assert.deepEqual([again.changed, again.diff.before], [false, again.diff.after]);
    const daily = { name: 'kept', backups: { every: 'day', keep: 2 } };
    const predicted = await check(daily);
    const keep = { before: predicted.diff.before.backups.keep, after: predicted.diff.after.backups.keep };
    assert.deepEqual([predicted.changed, keep, (await policy()).keep], [true, { before: 7, after: 2 }, 7]);
    const changed = await run(daily);
    assert.deepEqual([changed.changed, changed.server.price_usd_cycle], [true, 8.82]);
    const off = await run({ name: 'kept', backups: { enabled: false } });
    assert.deepEqual([off.changed, off.server.price_usd_cycle], [true, 7.35]);
    const { enabled, every, weekday, hour_utc } = await policy();
    assert.deepEqual([enabled, every, weekday, hour_utc], [false, 'day', null, 3]);
    assert.equal((await run({ name: 'kept', backups: { enabled: false } })).changed, false);
    assert.equal((await run({ name: 'kept', labels: { env: 'prod' } })).diff.after.backups, undefined);
    const on = await run({ name: 'kept', backups: {}, plan: 's2' });
    assert.deepEqual([on.changed, on.server.plan, (await policy()).enabled], [true, 's2', true]);
    for (const [backups, problem] of [
      [{ every: 'week' }, 'backups: weekly backups require weekday'],
      [{ weekday: 'sunday' }, 'backups: weekday requires every=week'],
    ] as const) {
      const { failed, changed: isChanged, msg } = await run({ name: 'kept', backups });
      assert.deepEqual([failed, isChanged, msg], [true, false, problem]);
    }
    await run({ name: 'kept', state: 'absent' });
    await account.world.opened.db.run('update plans set backup_percent = 0');
  });

  it('volumes are added to an existing server, and never taken from another one', async () => {
    const logs = await makeVolume('logs');
    const wanted = { name: 'web-1', volumes: ['data', 'logs'] };
    assert.equal((await check(wanted)).changed, true);
    assert.equal((await get(`/volumes/${logs}`)).attached_to, null);
    const added = await run(wanted);
    assert.deepEqual([added.changed, added.diff.before.volumes], [true, ['data']]);
    assert.equal((await run(wanted)).changed, false);
    const { failed, changed, msg } = await run({ ...WEB, name: 'web-2', volumes: ['logs'] });
    assert.deepEqual([failed, changed], [true, false]);
    assert.match(msg, /^volumes: the volume logs is attached to the server srv_\w+; detach it first$/);
  });

  it('another plan resizes a stopped server, and a running one only with allow_restart', async () => {
    const resized = await run({ name: 'web-1', plan: 's2' });
    assert.equal(resized.failed ?? false, false, resized.msg);
    assert.deepEqual([resized.changed, resized.server.plan, resized.server.status], [true, 's2', 'stopped']);
    await run({ name: 'web-1', state: 'running' });
    const wanted = { name: 'web-1', plan: 's1' };
    for (const attempt of [run, check]) {
      const { failed, changed, msg } = await attempt({ ...wanted, labels: { env: 'lost' } });
      assert.deepEqual([failed, changed], [true, false]);
      assert.match(
        msg,
        /^cannot change plan of a running server: plan is s2, not s1; set allow_restart=true/,
      );
    }
    const allowed = { ...wanted, allow_restart: true };
    const predicted = await check(allowed);
    assert.deepEqual([predicted.changed, predicted.diff.after.plan], [true, 's1']);
    const { changed, server, diff } = await run(allowed);
    assert.deepEqual([changed, server.plan, server.status], [true, 's1', 'running']);
    assert.deepEqual([diff.before.plan, diff.after.plan, server.action], ['s2', 's1', null]);
    assert.equal((await run(allowed)).changed, false);
    for (const attempt of [run, check]) {
      const refused = await attempt({ ...allowed, plan: 'd9' });
      assert.deepEqual([refused.failed, refused.changed], [true, false]);
      assert.match(refused.msg, /^plan: the server web-1 cannot be resized from s1 to d9: /);
    }
    const stopped = await run({ ...wanted, plan: 's2', state: 'stopped' });
    assert.deepEqual([stopped.server.plan, stopped.server.status], ['s2', 'stopped']);
  });

  it('a snapshot is the image of a new server, and is not compared later', async () => {
    const { id } = await get('/servers').then(({ data }) => data[0]);
    await run({ name: 'web-1', state: 'running' });
    const snapshot = (await account.api.post(`/servers/${id}/snapshots`, { name: 'golden' })).body.id;
    await account.world.settle();
    const wanted = { ...WEB, name: 'copy', image: snapshot, rebuild: true };
    const { changed, server } = await run(wanted);
    assert.deepEqual([changed, server.status], [true, 'running']);
    assert.equal((await run(wanted)).changed, false);
  });
});

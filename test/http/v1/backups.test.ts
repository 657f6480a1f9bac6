/** Backups of servers on a schedule (API 1.7, "Backups"). */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { backupWindow, nextBackupAt } from '../../../src/domain/snapshots/backups/schedule.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { newId, parseId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

const DAY_S = 86_400;
const DAILY = { enabled: true, every: 'day', hour_utc: 3, keep: 2 };

let world: World;
let api: V1Client;
let order: JsonBody;
let server: string;

before(async () => {
  world = await startWorld(NO_RATES);
  await advanceToNoon();
  const customer = await world.customer();
  await world.addBalance(customer, 1_000_000n);
  api = V1Client.forApp(world.http, await createApiToken(customer));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key], billing_months: 12 };
});
after(() => world.close());
beforeEach(async () => {
  server = (await api.post('/servers', order)).body.id;
  await world.settle();
});
// The faults of one test are for its own server.
afterEach(async () => {
  await api.delete(`/servers/${server}`);
  await world.settle();
});

/** At any other time, the hour of a backup could be the present one. */
async function advanceToNoon(): Promise<void> {
  const now = world.opened.clock.now().getTime() / 1_000;
  await world.advance(DAY_S - (Math.floor(now) % DAY_S) + DAY_S / 2);
}

const path = () => `/servers/${server}/backup-policy`;
async function setPolicy(body: object): Promise<JsonBody> {
  const { status, body: policy, text } = await api.put(path(), body);
  assert.equal(status, 200, text);
  await world.settle();
  return policy;
}
const policy = async () => (await api.get(path())).body;
const backups = async (): Promise<JsonBody[]> =>
  (await api.get(`/snapshots?filter[server]=${server}&filter[type]=backup&sort=created_at`)).body.data;
/** The next backup ran, and the following one has not. */
const runNext = () => world.advance(DAY_S);
const serverIs = (status: string) =>
  world.opened.db.run(`update servers set status = $1, suspended_reason = $2 where id = $3`, [
    status,
    status === 'suspended' ? 'operator' : null,
    parseId('server', server),
  ]);
const failSnapshots = (times: number) =>
  world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times });
async function failures(): Promise<JsonBody[]> {
  const rows = await world.opened.db.rows<{ data: { backup_policy: JsonBody } }>(
    `select data from events where type = 'backup.failed' order by place`,
  );
  return rows.map(({ data }) => data.backup_policy).filter((each) => each.server === server);
}
/** Mails are sent at once, and then have no data. */
async function countMails(): Promise<number> {
  const rows = await world.opened.db.rows(`select from mails where kind = 'backups_failed'`);
  return rows.length;
}
async function assertConsistent(): Promise<void> {
  const broken = (await verify(world.opened.service)).filter(({ broken: rows }) => rows > 0n);
  assert.deepEqual(broken, []);
}

describe('the backup policy', () => {
  it('is disabled at first, and shows the hour of the next backup once enabled', async () => {
    const { window, ...before } = await policy();
    assert.equal(window, null);
    assert.deepEqual(before, {
      ...{ object: 'backup_policy', server, enabled: false, every: 'day', weekday: null, hour_utc: 0 },
      ...{ keep: 7, price_usd_cycle: 0, price_usd_now: 0, last: null },
    });
    const after = await setPolicy(DAILY);
    const start = new Date(after.window.start);
    assert.deepEqual([start.getUTCHours(), start.getUTCMinutes()], [3, 0]);
    assert.equal(Date.parse(after.window.end) - start.getTime(), 3_600_000);
    assert.ok(Date.parse(after.window.end) > world.opened.clock.now().getTime());
    assert.deepEqual(await policy(), after);
    const off = await setPolicy({ enabled: false });
    assert.deepEqual([off.enabled, off.window], [false, null]);
    await assertConsistent();
  });

  it('names each invalid field', async () => {
    const items = async (body: object) => assertApiError(await api.put(path(), body), 400, 'invalid_request');
    assert.deepEqual(await items({}), [{ field: 'enabled', issue: 'required' }]);
    assert.deepEqual(await items({ enabled: true, every: 'week' }), [
      { field: 'weekday', issue: 'required' },
    ]);
    const [daily] = await items({ enabled: true, weekday: 'sunday' });
    assert.deepEqual([daily.field, daily.issue], ['weekday', 'invalid_value']);
    const [keep] = await items({ enabled: true, keep: 31 });
    assert.deepEqual([keep.field, keep.issue, keep.max], ['keep', 'max', 30]);
    const [hour] = await items({ enabled: true, hour_utc: 24 });
    assert.deepEqual([hour.field, hour.issue, hour.max], ['hour_utc', 'max', 23]);
    assert.deepEqual((await policy()).enabled, false);
  });

  it('is not found for a server of another customer', async () => {
    const other = V1Client.forApp(world.http, await createApiToken(await world.customer(30)));
    assertApiError(await other.get(path()), 404, 'not_found');
    assertApiError(await other.put(path(), DAILY), 404, 'not_found');
  });
});

describe('the schedule', () => {
  it('starts every backup within its hour, on its day, after the time given', () => {
    for (let day = 0; day < 400; day += 1) {
      const after = new Date(Date.UTC(2027, 0, 1, 0, 17 * day));
      const id = newId(after);
      const weekly = { every: 'week', weekday: 'sunday', hour_utc: day % 24 } as const;
      const daily = { every: 'day', weekday: null, hour_utc: day % 24 } as const;
      for (const [schedule, days] of [
        [daily, 1],
        [weekly, 7],
      ] as const) {
        const at = nextBackupAt(id, schedule, after);
        assert.ok(at > after && at.getTime() - after.getTime() <= days * DAY_S * 1_000);
        assert.equal(at.getUTCHours(), schedule.hour_utc);
        assert.ok(schedule.every === 'day' || at.getUTCDay() === 0);
        assert.ok(backupWindow(at).end > at);
      }
    }
  });
});

describe('backups', () => {
  it('are snapshots that replace the oldest one when they are ready, except protected ones', async () => {
    await setPolicy(DAILY);
    const first = () => runNext().then(backups);
    const [oldest] = await first();
    assert.deepEqual([oldest?.type, oldest?.status], ['backup', 'ready']);
    await api.patch(`/snapshots/${oldest?.id}`, { protection: { delete: true } });
    for (let n = 0; n < 3; n += 1) await runNext();
    const kept = await backups();
    assert.equal(kept.length, 2);
    assert.ok(kept.some(({ id }) => id === oldest?.id));
    const { last } = await policy();
    assert.equal(last.status, 'success');
    assert.ok(kept.every(({ status }) => status === 'ready'));
    await assertConsistent();
  });

  it('the oldest one stays while the new one fails', async () => {
    await setPolicy({ ...DAILY, keep: 1 });
    await runNext();
    const [ready] = await backups();
    await failSnapshots(1);
    await runNext();
    const seen = await backups();
    assert.deepEqual(
      seen.map(({ status }) => status),
      ['ready', 'error'],
    );
    assert.equal(seen[0]?.id, ready?.id);
    assert.equal((await policy()).last.status, 'error');
    await runNext();
    assert.deepEqual(
      (await backups()).map(({ status }) => status),
      ['ready'],
    );
    await assertConsistent();
  });

  it('do not count as snapshots of the quotas', async () => {
    const used = async () =>
      (await api.get('/account/limits')).body.data.find((each: JsonBody) => each.name === 'snapshots').used;
    const before = await used();
    await setPolicy(DAILY);
    await runNext();
    assert.equal((await backups()).length, 1);
    assert.equal(await used(), before);
  });

  it('restore a server like any snapshot', async () => {
    await setPolicy(DAILY);
    await runNext();
    const [{ id } = assert.fail('no backup')] = await backups();
    assert.equal((await api.post(`/servers/${server}/restore`, { snapshot: id })).status, 202);
    await world.settle();
    assert.equal((await api.get(`/servers/${server}`)).body.status, 'running');
  });

  it('two misses in a row send one event and one mail', async () => {
    await setPolicy({ ...DAILY, hour_utc: 5 });
    await runNext();
    const before = await countMails();
    await failSnapshots(3);
    await runNext();
    assert.deepEqual(await failures(), []);
    await runNext();
    await runNext();
    const [told, ...more] = await failures();
    assert.deepEqual(more, []);
    assert.equal(told?.last.status, 'error');
    assert.equal(await countMails(), before + 1);
    await runNext();
    assert.equal((await policy()).last.status, 'success');
    await failSnapshots(2);
    await runNext();
    await runNext();
    assert.equal((await failures()).length, 2);
  });

  it('a server misses its backup if it is busy for the whole hour, but not while suspended', async () => {
    await setPolicy(DAILY);
    await serverIs('installing');
    await runNext();
    assert.equal((await policy()).last.status, 'missed');
    await serverIs('suspended');
    for (let n = 0; n < 3; n += 1) await runNext();
    assert.deepEqual([(await backups()).length, await failures()], [0, []]);
    await serverIs('running');
    await runNext();
    assert.equal((await policy()).last.status, 'success');
  });

  it('expire after their server is deleted', async () => {
    await setPolicy(DAILY);
    await runNext();
    const [{ id } = assert.fail('no backup')] = await backups();
    assert.equal((await api.delete(`/servers/${server}`)).status, 202);
    await world.settle();
    const { expires_at } = (await api.get(`/snapshots/${id}`)).body;
    const days = (Date.parse(expires_at) - world.opened.clock.now().getTime()) / (DAY_S * 1_000);
    assert.ok(days > 29.9 && days <= 30, String(days));
    await world.advance(31 * DAY_S);
    assertApiError(await api.get(`/snapshots/${id}`), 404, 'not_found');
    await assertConsistent();
  });
});

/** `skerry apply`: the backup policy of a server, and its price. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonBody } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { openShop, type Shop } from './support/shop.ts';

const NO_RATES = { SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' };
/** Of s1, with backups for 20% of it, rounded up. */
const PLAN_USD = 7.35;
const BACKUPS_USD = 1.47;
const WEEKLY = '{ every: week, weekday: sunday, hour_utc: 3, keep: 4 }';

function fileOf(backups: string | null, plan = 's1'): string {
  const more = backups === null ? '' : `, backups: ${backups}`;
  return `project: shop
ssh_keys: [{ name: laptop, public_key_file: id.pub }]
servers:
  - { name: web-1, plan: ${plan}, region: par, image: debian-12, ssh_keys: [laptop]${more} }
`;
}

describe('skerry apply with backups', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld(NO_RATES);
    await world.opened.db.run('update plans set backup_percent = 20');
    shop = await openShop(world);
  });
  after(() => world.close());

  const apply = async (text: string, ...words: readonly string[]): Promise<string> => {
    shop.write(text);
    const { code, stdout, stderr } = await shop.apply(...words);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  const costOf = async (text: string): Promise<JsonBody> => {
    const { steps, cost } = JSON.parse(await apply(text, '--dry-run', '-o', 'json'));
    return { ...cost, reasons: steps[0]?.reasons };
  };
  const findServer = async () => (await shop.named('/servers'))['web-1'] ?? assert.fail('no server');
  const findPolicy = async () => {
    const { id } = await findServer();
    const { enabled, every, weekday, hour_utc, keep } = (await shop.api.get(`/servers/${id}/backup-policy`))
      .body;
    return [enabled, every, weekday, hour_utc, keep];
  };

  it('a new server is ordered with its backups, whose price the plan contains', async () => {
    const cost = await costOf(fileOf(WEEKLY));
    assert.deepEqual([cost.charged_usd, cost.monthly_usd], [PLAN_USD + BACKUPS_USD, PLAN_USD + BACKUPS_USD]);
    assert.equal((await costOf(fileOf('{ enabled: false }'))).charged_usd, PLAN_USD);
    assert.match(await apply(fileOf(WEEKLY), '--yes'), /create\n +plan s1 .*\n +it is backed up/);
    assert.equal((await findServer()).price_usd_cycle, PLAN_USD + BACKUPS_USD);
    assert.deepEqual(await findPolicy(), [true, 'week', 'sunday', 3, 4]);
    const { amount_usd: charged } = (await shop.api.get('/billing/ledger')).body.data[0];
    assert.equal(charged, -(PLAN_USD + BACKUPS_USD));
    assert.match(await apply(fileOf(WEEKLY), '--yes'), /nothing to do/);
  });

  it('without backups in the file, the policy is neither read nor changed', async () => {
    assert.match(await apply(fileOf(null), '--yes'), /nothing to do/);
    assert.deepEqual(await findPolicy(), [true, 'week', 'sunday', 3, 4]);
  });

  it('another schedule is a change without a charge, and omitted members stay', async () => {
    const { charged_usd, reasons } = await costOf(fileOf('{ keep: 5 }'));
    const before = 'every sunday at 03:00 UTC, keep 4';
    const expected = [`backups: ${before} → every sunday at 03:00 UTC, keep 5`];
    assert.deepEqual([charged_usd, reasons], [0, expected]);
    await apply(fileOf('{ every: day, keep: 5 }'), '--yes');
    assert.deepEqual(await findPolicy(), [true, 'day', null, 3, 5]);
    assert.match(await apply(fileOf('{ keep: 5 }'), '--yes'), /nothing to do/);
  });

  it('backups are turned off and on again for the price that the plan shows', async () => {
    const off = await costOf(fileOf('{ enabled: false }'));
    assert.deepEqual([off.charged_usd, off.monthly_usd], [0, PLAN_USD]);
    const shown = await apply(fileOf('{ enabled: false }'), '--yes');
    assert.match(
      shown,
      /every day at 03:00 UTC, keep 5 → off .*\n +the price of backups .* comes back to the balance/,
    );
    assert.equal((await findServer()).price_usd_cycle, PLAN_USD);
    const on = await costOf(fileOf('{}'));
    assert.ok(on.charged_usd > 1.4 && on.charged_usd <= BACKUPS_USD + 0.01, String(on.charged_usd));
    assert.equal(on.monthly_usd, PLAN_USD + BACKUPS_USD);
    const { code, stderr } = await shop.apply();
    assert.deepEqual([code, /charge USD 1\.4\d now/.test(stderr)], [11, true], stderr);
    await apply(fileOf('{}'), '--yes');
    const { amount_usd: charged } = (await shop.api.get('/billing/ledger')).body.data[0];
    assert.ok(-charged > 0 && -charged <= on.charged_usd, String(charged));
    assert.deepEqual(await findPolicy(), [true, 'day', null, 3, 5]);
    assert.match(await apply(fileOf('{}'), '--yes'), /nothing to do/);
  });

  it('with a resize, backups are turned off by the next run', async () => {
    const text = fileOf('{ enabled: false, keep: 6 }', 's2');
    const shown = await apply(text, '--resize', '--yes');
    assert.match(shown, /backups of server web-1 are turned off by the next run, after the resize/);
    assert.deepEqual(await findPolicy(), [true, 'day', null, 3, 5]);
    await apply(text, '--resize', '--yes');
    const { plan } = await findServer();
    assert.deepEqual([plan, await findPolicy()], ['s2', [false, 'day', null, 3, 6]]);
  });

  it('a replacement keeps omitted members, but no policy that the file omits', async () => {
    assert.match(await apply(fileOf(null), '--dry-run'), /its backup policy is not carried over/);
    await apply(fileOf('{}'), '--yes');
    await world.settle();
    const server = await findServer();
    assert.deepEqual([server.plan, server.price_usd_cycle], ['s1', PLAN_USD + BACKUPS_USD]);
    assert.deepEqual(await findPolicy(), [true, 'day', null, 3, 6]);
  });

  it('a weekday that does not fit is reported with its place', async () => {
    for (const [backups, problem] of [
      ['{ every: week }', 'weekday: is required for weekly backups'],
      ['{ weekday: sunday }', 'weekday: requires every: week'],
      ['{ hour_utc: 24 }', 'hour_utc: is not a whole number from 0 to 23'],
    ] as const) {
      shop.write(fileOf(backups));
      const { code, stderr } = await shop.apply('--dry-run');
      assert.deepEqual([code, stderr.includes(`servers[0].backups.${problem}`)], [2, true], stderr);
    }
  });
});

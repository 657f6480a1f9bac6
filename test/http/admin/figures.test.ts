import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { measureFigures } from '../../../src/domain/staff/figures.ts';
import { HOUR_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Series {
  readonly name: string;
  readonly part: string | null;
  readonly total: number | null;
  readonly points: readonly (readonly [number, number])[];
}

describe('the figures of the business', () => {
  let world: StaffWorld;
  let owner: Person;

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
  });
  after(() => world.close());

  async function measure(): Promise<void> {
    for await (const _ of measureFigures(world.opened.service));
  }

  async function read(period: string): Promise<Map<string, Series>> {
    const { status, body } = await world.api(owner.token, 'GET', `/figures?period=${period}`);
    assert.equal(status, 200, JSON.stringify(body));
    const series = body.series as Series[];
    return new Map(series.map((row) => [row.part === null ? row.name : `${row.name} ${row.part}`, row]));
  }

  it('adds up what customers did, by the hour', async () => {
    const customer = await world.customer(80);
    const ordered = await customer.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
      root_password: 'a root password',
    });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
    const { service } = world.opened;
    const ledger = await service.db.row<{ charged: bigint; balance: bigint; topups: bigint }>(
      `select (select sum(amount_cents)::bigint from transfers where type = 'charge') as charged,
              (select sum(amount_cents)::bigint from transfers where type = 'topup') as topups,
              (select sum(balance_cents)::bigint from balances) as balance`,
    );
    await measure();
    const first = await read('day');
    const dollars = (cents: bigint | undefined) => Number(cents) / 100;
    assert.equal(first.get('charges')?.total, dollars(ledger?.charged));
    assert.equal(first.get('topups')?.total, dollars(ledger?.topups));
    assert.equal(first.get('balances')?.total, dollars(ledger?.balance));
    assert.ok(dollars(ledger?.topups) > 0);
    assert.equal(first.get('sign_ups')?.total, 1);
    assert.equal(first.get('servers_created')?.total, 1);
    assert.equal(first.get('servers par')?.total, 1);
    assert.equal(first.get('mrr')?.total, dollars(ledger?.charged));
    assert.ok((first.get('revenue')?.total ?? 0) > 0);
    const coins = [...first.values()].filter(({ name, part }) => name === 'topups' && part !== null);
    assert.equal(
      coins.reduce((sum, { total }) => sum + (total ?? 0), 0),
      dollars(ledger?.topups),
    );
    await measure();
    assert.deepEqual(await read('day'), first, 'counting an hour again changes nothing');
  });

  it('keeps them in the hour in which they happened', async () => {
    const before = await read('month');
    await world.advance((3 * HOUR_MS) / SECOND_MS);
    await measure();
    const after = await read('month');
    assert.equal(after.get('charges')?.total, before.get('charges')?.total);
    const day = await read('day');
    assert.equal(day.get('sign_ups')?.points.at(-4)?.[1], 1);
    assert.equal(day.get('sign_ups')?.points.at(-1)?.[1], 0);
  });

  it('offers charts, their values, and CSV to staff only', async () => {
    owner = await world.person('owner', 'second-owner@host.example');
    const page = await owner.browser.get('/?period=year');
    assert.equal(page.status, 200);
    assert.match(page.text, /Sum of balances/);
    const csv = await owner.browser.get('/figures.csv?period=day');
    assert.match(csv.text, /^figure,part,start,value\r\n/);
    assert.match(csv.text, /\ncharges,,\d{4}-\d\d-\d\dT/);
    const values = await owner.browser.get('/figures/money.json?period=day');
    assert.deepEqual(JSON.parse(values.text).names, ['Top-ups credited', 'Charges', 'Revenue recognized']);
    assert.equal((await owner.browser.get('/figures/money.png?period=day')).status, 200);
    assert.equal((await owner.browser.get('/figures/else.png')).status, 404);
    const stranger = await world.stranger().get('/figures.csv');
    assert.equal(stranger.status, 303);
    assert.match(stranger.location ?? '', /^\/sign-in/);
  });

  it('shows how much each region has left', async () => {
    const { body } = await world.api(owner.token, 'GET', '/capacity');
    const regions = body.regions as { region: string; used_ram_mb: number; ipv4_used: number }[];
    const par = regions.find(({ region }) => region === 'par');
    assert.ok((par?.used_ram_mb ?? 0) > 0 && par?.ipv4_used === 1, JSON.stringify(regions));
  });

  it('refuses an unknown period', async () => {
    const { status, body } = await world.api(owner.token, 'GET', '/figures?period=decade');
    assert.equal(status, 400, JSON.stringify(body));
  });
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { announcePrice, cancelPrice, listPrices } from '../../../src/domain/billing/prices.ts';
import { listRenewals } from '../../../src/domain/billing/renewals.ts';
import { sweepCalendar } from '../../../src/domain/billing/sweep.ts';
import { startServer } from '../../../src/domain/servers/operations/power.ts';
import { describeServer } from '../../../src/domain/servers/read.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { S1 } from '../../support/fixtures.ts';
import { refusalMessage } from '../fixture.ts';
import { CalendarWorld } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());

const announce = (usdMonth: string, at?: Date) =>
  announcePrice(world.service, { plan: 's1', usdMonth, ...(at ? { at: at.toISOString() } : {}) });

test('an announced price applies to cycles that begin 30 days later, and not before', async () => {
  const actor = await world.customer(10_000n);
  const other = await world.customer(10_000n);
  const soon = await world.running(actor);
  const early = await world.ordered(other, { autoRenew: false });
  await world.advanceDays(2);
  const { paid_until: end } = await world.server(soon);
  // The next renewal is 26 days away and costs the old price.
  const { effectiveAt, id } = await announce('12.50');
  assert.equal(effectiveAt.getTime(), world.now.getTime() + 30 * DAY_MS);
  const later = await world.running(actor);
  await Promise.all([1, 2].map(() => sweepCalendar(world.service)));
  await world.runDueWork();
  assert.deepEqual(await world.mails(actor), ['price_change']);
  assert.deepEqual(await world.mails(other), []);
  await world.advanceTo(new Date(end.getTime() + HOUR_MS));
  assert.deepEqual(await world.charges(soon), [500, 500]);
  assert.equal(await refusalMessage(cancelPrice(world.service, 'prc_none')), NOT_FOUND);
  await world.advanceDays(62);
  assert.deepEqual(await world.charges(soon), [500, 500, 1250, 1250]);
  assert.equal((await world.server(soon)).price_cents_cycle, 1_250n);
  // A later order pays the catalog price of its time.
  assert.deepEqual(await world.charges(later), [500, 500, 500]);
  assert.equal(await world.status(early), 'gone');
  assert.deepEqual(await world.mails(actor), ['price_change']);
  assert.match(await refusalMessage(cancelPrice(world.service, id)), /in effect since/);
  await world.world.assertInvariants();
});

const NOT_FOUND = 'announcement not found: `skerryd prices list` shows the ids';

test('a canceled price never applies, and invalid announcements are rejected with a reason', async () => {
  const actor = await world.customer(10_000n);
  const id = await world.running(actor, { billingMonths: 3 });
  const at = new Date(world.now.getTime() + 40 * DAY_MS);
  const cancelled = await announce('99', at);
  assert.match(await refusalMessage(announce('98', at)), /is already announced for/);
  await cancelPrice(world.service, cancelled.id);
  await world.advance(1_000);
  assert.match(await refusalMessage(cancelPrice(world.service, cancelled.id)), /already canceled/);
  await announce('4', at);
  assert.match(await refusalMessage(announce('0')), /above 0/);
  assert.match(await refusalMessage(announce('1.005')), /2 decimals/);
  assert.match(
    await refusalMessage(announce('5', new Date(world.now.getTime() + 29 * DAY_MS))),
    /at least 30 days/,
  );
  assert.match(
    await refusalMessage(announcePrice(world.service, { plan: 'x9', usdMonth: '5' })),
    /plan x9 not found/,
  );
  assert.deepEqual(
    (await listPrices(world.service)).map((row) => row.state),
    ['announced', 'cancelled', 'in force'],
  );
  await world.advanceTo(new Date((await world.server(id)).paid_until.getTime() + HOUR_MS));
  assert.deepEqual(await world.charges(id), [1125, 900]);
});

test('a server that resumes pays the price of that moment, and the warning uses it', async () => {
  const actor = await world.customer(500n + 400n);
  const id = await world.running(actor);
  await announce('4.50');
  await world.advanceDays(24);
  assert.equal((await world.events(id, 'billing.low_balance')).length, 1);
  await world.advanceDays(8);
  assert.equal(await world.status(id), 'suspended balance');
  await world.pay(actor, 50n);
  await world.advance(10_000);
  assert.deepEqual([await world.status(id), await world.charges(id)], ['running', [500, 450]]);
  await patchServer(world.service, actor, formatId('server', id), { auto_renew: false });
});

test('the announced price of a suspended server is charged, and a paid server does not wait', async () => {
  const actor = await world.customer(4_000n);
  const plan = { ...S1, id: 's2', price_cents_month: 2_000n };
  const ended = await world.running(actor, { plan, autoRenew: false });
  const waits = await world.running(actor, { plan });
  await world.advanceDays(5);
  await announcePrice(world.service, { plan: 's2', usdMonth: '35.00' });
  await world.advanceDays(31);
  const forecasts = async (id: string) =>
    (await describeServer(world.service, actor, formatId('server', id))).nextCycleUsd;
  assert.deepEqual([await forecasts(ended), await forecasts(waits)], [35, 35]);
  await world.pay(actor, 3_500n);
  await sweepCalendar(world.service);
  // Charged, but not powered on yet.
  assert.equal(await world.status(waits), 'suspended balance');
  assert.deepEqual((await listRenewals(world.service, actor, { days: 0 })).items, []);
  await world.pay(actor, 3_500n);
  await startServer(world.service, actor, formatId('server', ended));
  await world.runDueWork();
  assert.deepEqual(await world.charges(waits), [2000, 3500]);
  assert.deepEqual(await world.charges(ended), [2000, 3500]);
});

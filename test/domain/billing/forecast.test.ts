import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { announcePrice } from '../../../src/domain/billing/prices.ts';
import { listRenewals } from '../../../src/domain/billing/renewals.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { S1 } from '../../support/fixtures.ts';
import { CalendarWorld } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());

test('the 90-day forecast matches the calendar, including announced prices', async () => {
  // Three first cycles, two more, and a remainder.
  const actor = await world.customer(500n * 5n + 2_000n + 700n);
  const ids = [
    await world.running(actor, { plan: { ...S1, id: 's2', price_cents_month: 2_000n } }),
    await world.running(actor),
    await world.running(actor, { autoRenew: false }),
    await world.running(actor),
  ];
  await world.ordered(await world.customer(10_000n));
  await announcePrice(world.service, { plan: 's1', usdMonth: '6.50' });
  const ahead = await listRenewals(world.service, actor, { days: 90 });
  const predicted = ids.map((id) => {
    const own = ahead.items.filter(({ server }) => server === formatId('server', id));
    return own.map(({ outcome, price_usd: price }) => `${outcome} ${price}`);
  });
  assert.deepEqual(predicted, [
    ['short 20'],
    ['renews 5', 'renews 6.5', 'short 6.5'],
    ['ends 5'],
    ['renews 5', 'short 6.5'],
  ]);
  // All renewals except the ending server's: 3 × 20 + 2 × (5 + 6.50 + 6.50), minus the balance of 17.
  assert.deepEqual([ahead.total_usd, ahead.missing_usd], [96, 79]);
  const none = await listRenewals(world.service, await world.customer(), { days: 90 });
  assert.deepEqual(none, { items: [], total_usd: 0, missing_usd: 0 });

  await world.advanceDays(40);
  assert.deepEqual(await statuses(ids), ['suspended balance', 'running', 'suspended not_renewed', 'running']);
  const waiting = await listRenewals(world.service, actor, { days: 0 });
  assert.deepEqual(
    waiting.items.map(({ server, outcome }) => [server, outcome]),
    [[formatId('server', ids[0] ?? ''), 'waits']],
  );
  await world.advanceDays(50);
  const charges = await Promise.all(ids.map((id) => world.charges(id)));
  assert.deepEqual(charges.slice(1), [[500, 500, 650], [500], [500, 500]]);
});

async function statuses(ids: readonly string[]): Promise<string[]> {
  return await Promise.all(ids.map((id) => world.status(id)));
}

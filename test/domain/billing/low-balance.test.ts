import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { CalendarWorld } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());

const low = (id: string) => world.events(id, 'billing.low_balance');

async function toWindow(id: string): Promise<Date> {
  const { paid_until: end } = await world.server(id);
  const from = new Date(end.getTime() - 7 * DAY_MS);
  await world.advanceTo(new Date(from.getTime() - HOUR_MS));
  assert.deepEqual(await low(id), []);
  await world.advanceTo(new Date(from.getTime() + HOUR_MS));
  return end;
}

async function twoServers(cents: bigint): Promise<{ actor: CustomerActor; first: string; second: string }> {
  const actor = await world.customer(1_000n + cents);
  const first = await world.running(actor);
  const second = await world.running(actor);
  return { actor, first, second };
}

test('a low balance is announced once per cycle, with the balance and the server', async () => {
  const actor = await world.customer(500n + 499n);
  const id = await world.running(actor);
  await toWindow(id);
  assert.equal((await low(id)).length, 1);
  const event = await world.world.db.row<{ data: Record<string, Record<string, unknown>> }>(
    `select data from events where type = 'billing.low_balance' and customer_id = $1`,
    [actor.customerId],
  );
  assert.deepEqual(Object.keys(event?.data ?? {}).sort(), ['balance', 'server']);
  assert.equal(event?.data.balance?.usd, 4.99);
  assert.equal(event?.data.server?.id, formatId('server', id));
  await world.pay(actor, 100n);
  await world.ordered(await world.customer(500n));
  await world.advanceDays(6);
  assert.equal((await low(id)).length, 1);
  await world.advanceDays(2);
  assert.equal((await low(id)).length, 1);
  // The next cycle.
  await toNextWindow(id);
  assert.equal((await low(id)).length, 2);
  assert.deepEqual(await world.mails(actor), ['low_balance', 'low_balance']);
});

async function toNextWindow(id: string): Promise<void> {
  const { paid_until: end } = await world.server(id);
  await world.advanceTo(new Date(end.getTime() - 6 * DAY_MS));
}

test('a balance must cover renewals up to the cycle end; later ones warn after a debit', async () => {
  const { actor, first, second } = await twoServers(999n);
  await toWindow(second);
  assert.deepEqual([(await low(first)).length, (await low(second)).length], [0, 1]);
  await world.advanceDays(2);
  await world.pay(actor, 600n);
  await world.advance(1_000);
  assert.deepEqual([(await low(first)).length, (await low(second)).length], [0, 1]);
  const gone = await world.ordered(actor);
  await world.advance(1_000);
  assert.deepEqual([(await low(first)).length, (await low(second)).length], [0, 1]);
  await world.ordered(actor);
  await world.advance(1_000);
  // The balance still pays the first, whose cycle ends before the other's.
  assert.deepEqual([(await low(first)).length, (await low(second)).length], [0, 1]);
  await world.ordered(actor);
  await world.advance(1_000);
  assert.deepEqual(
    [(await low(first)).length, (await low(second)).length, (await low(gone)).length],
    [1, 1, 0],
  );
});

test('a server with renewal off does not count, and its end is announced once per cycle', async () => {
  const { actor, first, second } = await twoServers(500n);
  await patchServer(world.service, actor, formatId('server', first), { auto_renew: false });
  const end = await toWindow(second);
  assert.deepEqual(await world.mails(actor), ['server_ends']);
  await world.advanceDays(6);
  assert.deepEqual([(await low(first)).length, (await low(second)).length], [0, 0]);
  // Turning renewal on and off again announces the end of the next cycle.
  await patchServer(world.service, actor, formatId('server', first), { auto_renew: true });
  await world.pay(actor, 500n);
  await world.advanceTo(new Date(end.getTime() + HOUR_MS));
  assert.equal(await world.status(first), 'running');
  await patchServer(world.service, actor, formatId('server', first), { auto_renew: false });
  await toNextWindow(first);
  const notices = (await world.mails(actor)).filter((kind) => kind === 'server_ends');
  assert.equal(notices.length, 2);
});

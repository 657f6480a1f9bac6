/** Refunds of servers that were renewed after their host was lost. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sweepCalendar } from '../../../../src/domain/billing/sweep.ts';
import { loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { credit } from '../../../../src/domain/ledger/transfer.ts';
import { refundUnusedTime } from '../../../../src/domain/servers/billing/charge.ts';
import { placeLegalHold, releaseServer } from '../../../../src/domain/servers/operator/controls.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { mulDiv } from '../../../../src/kernel/money.ts';
import { addMonths, DAY_MS } from '../../../../src/kernel/time.ts';
import { queuedMails } from '../../../support/queued-mails.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(() => region.reset([1]));
afterEach(() => lost.world.assertInvariants());

/** Runs the calendar at a time until it had this effect. */
async function bill(at: Date, reached: () => Promise<boolean>): Promise<void> {
  lost.world.clock.moveTo(at);
  for (let n = 0; n < 10; n++) {
    await sweepCalendar(lost.world.service);
    if (await reached()) return;
  }
  assert.fail('the calendar has no effect');
}

async function renew(id: string): Promise<void> {
  const { paid_until: end } = await region.server(id);
  await bill(new Date(end.getTime() + DAY_MS), async () => (await region.server(id)).paid_until > end);
}

async function changePrice(id: string, cents: bigint): Promise<void> {
  const prices = 'price_cents_month = $2, price_cents_cycle = $2';
  await lost.world.db.run(`update servers set ${prices} where id = $1`, [id, cents]);
}

async function mailedRefund(): Promise<bigint | null | undefined> {
  const row = await lost.world.db.row<{ email: string }>('select email from customers where id = $1', [
    region.customerId,
  ]);
  const mails = await queuedMails(lost.world.service, 'server_lost', row?.email ?? '');
  return mails.find(({ data }) => data.refundedCents !== null)?.data.refundedCents;
}

async function refunds(id: string): Promise<bigint[]> {
  const rows = await lost.world.db.rows<{ amount_cents: bigint }>(
    `select amount_cents from transfers where type = 'refund' and resource_id = $1 order by fact`,
    [id],
  );
  return rows.map(({ amount_cents }) => amount_cents);
}

describe('a server of a lost host', () => {
  it('is refunded from the loss on if it waited for room past the end of its cycle', async () => {
    const { service, clock } = lost.world;
    const { id } = await region.running();
    const { created_at: start, paid_until: end, price_cents_cycle: price } = await region.server(id);
    clock.advanceS((20 * DAY_MS) / 1000);
    const host = await lost.hostOf(id);
    const lostAt = clock.now();
    await lost.lose(host, 'rebuild');
    await region.runDueWork();
    await changePrice(id, price + 123n);
    await renew(id);
    await renew(id);
    const before = await region.balance();
    await loseHost(service, host, 'refund');
    await lost.workUntil(async () => await region.isGone(id));
    const ofFirst = mulDiv(
      price,
      BigInt(end.getTime() - lostAt.getTime()),
      BigInt(end.getTime() - start.getTime()),
      'half_up',
    );
    const expected = [ofFirst, price + 123n, price + 123n];
    assert.deepEqual(await refunds(id), expected);
    const total = expected.reduce((sum, cents) => sum + cents);
    assert.equal((await region.balance()) - before, total);
    assert.equal(await mailedRefund(), total);
  });

  it('is refunded from the loss on if it was under a legal hold past the end of its cycle', async () => {
    const { service, clock, db } = lost.world;
    const { id, shown } = await region.running();
    const { paid_until: end, price_cents_cycle: price } = await region.server(id);
    await placeLegalHold(service, shown, 'order 7');
    clock.moveTo(new Date(end.getTime() - 1));
    await lost.lose(await lost.hostOf(id), 'refund');
    await renew(id);
    await releaseServer(service, shown, { freeze: false, hold: true });
    const server = await region.server(id);
    const values = { since: end, reason: 'its machine was lost', now: clock.now() };
    await db.transaction(async (tx) => {
      assert.equal(await refundUnusedTime(tx, server, values), price);
      assert.equal(await refundUnusedTime(tx, server, values), 0n);
    });
    await lost.workUntil(async () => await region.isGone(id));
    assert.deepEqual(await refunds(id), [price]);
  });

  it('is not refunded for the time between two cycles in which it was suspended', async () => {
    const { service, clock, db } = lost.world;
    const { id, shown } = await region.running();
    const { paid_until: end, price_cents_cycle: price, created_at: start } = await region.server(id);
    await placeLegalHold(service, shown, 'order 7');
    const lostAt = new Date(end.getTime() - 10 * DAY_MS);
    clock.moveTo(lostAt);
    await lost.lose(await lost.hostOf(id), 'refund');
    const left = await region.balance();
    const movement = { customerId: region.customerId, account: 'adjustments', type: 'adjustment' } as const;
    const description = 'test';
    // Its customer has no money at the end of the cycle, and pays a week later.
    await db.run('update servers set auto_renew = false where id = $1', [id]);
    await bill(end, async () => (await region.server(id)).status === 'suspended');
    await region.runDueWork();
    await db.run(`update servers set auto_renew = true, suspended_reason = 'balance' where id = $1`, [id]);
    const fact = `adjustment:${newId(clock.now())}`;
    const now = clock.now();
    await db.transaction((tx) => credit(tx, { ...movement, amountCents: 1n, description, fact }, now));
    const paidAt = new Date(end.getTime() + 7 * DAY_MS);
    await bill(paidAt, async () => (await region.server(id)).paid_until > end);
    const resumed = await region.server(id);
    assert.deepEqual(resumed.paid_until, addMonths(paidAt, 1, paidAt.getUTCDate()));
    await releaseServer(service, shown, { freeze: false, hold: true });
    await lost.workUntil(async () => await region.isGone(id));
    const ofFirst = mulDiv(
      price,
      BigInt(end.getTime() - lostAt.getTime()),
      BigInt(end.getTime() - start.getTime()),
      'half_up',
    );
    assert.deepEqual(await refunds(id), [ofFirst, price]);
    assert.equal(await region.balance(), left + 1n + ofFirst);
  });
});

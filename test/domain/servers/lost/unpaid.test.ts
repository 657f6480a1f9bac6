/** Suspended servers whose host is lost: only paid ones are installed again. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sweepCalendar } from '../../../../src/domain/billing/sweep.ts';
import { loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { credit } from '../../../../src/domain/ledger/transfer.ts';
import { moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { startServer } from '../../../../src/domain/servers/operations/power.ts';
import { placeLegalHold, releaseServer } from '../../../../src/domain/servers/operator/controls.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { addMonths, DAY_MS } from '../../../../src/kernel/time.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(() => region.reset([1, 1]));
afterEach(() => lost.world.assertInvariants());

/** A server that was suspended at the end of its cycle. */
async function suspended(reason: 'balance' | 'not_renewed') {
  const { service, clock, db } = lost.world;
  const { id, shown } = await region.running();
  await db.run('update servers set auto_renew = false where id = $1', [id]);
  clock.moveTo((await region.server(id)).paid_until);
  for (let n = 0; n < 10 && (await region.server(id)).status !== 'suspended'; n++)
    await sweepCalendar(service);
  const change = 'suspended_reason = $2, auto_renew = $3';
  await db.run(`update servers set ${change} where id = $1`, [id, reason, reason === 'balance']);
  await db.run('update balances set moved = false where customer_id = $1', [region.customerId]);
  await region.runDueWork();
  return { id, shown };
}

const graceOf = async (id: string) =>
  await lost.world.db.row('select status, destroy_at, bill_at from servers where id = $1', [id]);

async function lostEvents(): Promise<number> {
  return (await region.events()).filter((type) => type === 'server.lost').length;
}

async function pay(): Promise<void> {
  const { db, clock } = lost.world;
  const now = clock.now();
  const movement = { customerId: region.customerId, account: 'adjustments', type: 'adjustment' } as const;
  const paid = { ...movement, amountCents: 1n, description: 'test', fact: `adjustment:${newId(now)}` };
  await db.transaction((tx) => credit(tx, paid, now));
  for (let n = 0; n < 5; n++) await sweepCalendar(lost.world.service);
}

describe('a suspended server that is not paid and whose host is lost', () => {
  for (const reason of ['balance', 'not_renewed'] as const) {
    it(`stays suspended and is installed again once it is paid (${reason})`, async () => {
      const { service, clock } = lost.world;
      const { id, shown } = await suspended(reason);
      const grace = await graceOf(id);
      const host = (await region.machine(id))?.host ?? assert.fail();
      await lost.lose(host, 'rebuild');
      await region.runDueWork();
      clock.advanceS(700);
      await region.runDueWork();
      await loseHost(service, host, 'rebuild');
      await region.runDueWork();
      assert.deepEqual(await graceOf(id), grace);
      assert.equal(await lostEvents(), 1);
      clock.advanceS((2 * DAY_MS) / 1000);
      const before = await region.balance();
      const paidAt = clock.now();
      if (reason === 'balance') await pay();
      else await startServer(service, region.actor, shown);
      await lost.workUntil(async () => (await region.server(id)).status === 'running');
      const server = await region.server(id);
      assert.deepEqual(server.paid_until, addMonths(paidAt, 1, paidAt.getUTCDate()));
      const paid = reason === 'balance' ? 1n : 0n;
      assert.equal(await region.balance(), before + paid - server.price_cents_cycle);
      assert.notEqual(await lost.hostOf(id), host);
      assert.equal(await lostEvents(), 1);
    });
  }

  it('is deleted at the end of its grace period', async () => {
    const { service, clock } = lost.world;
    const { id } = await suspended('not_renewed');
    await lost.lose((await region.machine(id))?.host ?? assert.fail(), 'rebuild');
    await region.runDueWork();
    clock.advanceS((15 * DAY_MS) / 1000);
    for (let n = 0; n < 10; n++) {
      await sweepCalendar(service);
      clock.advanceS(DAY_MS / 1000);
    }
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
  });
});

describe('a server under a legal hold whose move had switched to a lost host', () => {
  it('keeps its copy on the source until the hold is lifted', async () => {
    const { service, faults, simulator, clock } = lost.world;
    const { id, shown } = await region.running();
    const fault = { driver: 'compute', operation: 'moves.takeOver' } as const;
    await faults.set({ ...fault, times: 1_000 });
    await moveServer(service, shown, null);
    await lost.workUntil(async () => (await findMove(lost.world.db, id))?.state === 'switched');
    await placeLegalHold(service, shown, 'order 7');
    const move = (await findMove(lost.world.db, id)) ?? assert.fail();
    await lost.lose(move.to_name ?? '', 'refund');
    for (let n = 0; n < 3; n++) {
      await region.runDueWork();
      clock.advanceS(601);
    }
    assert.equal((await findMove(lost.world.db, id))?.state, 'switched');
    const copy = async () => (await simulator.moves()).find(({ machineId }) => machineId === id)?.source;
    assert.notEqual(await copy(), 'gone');
    await faults.set({ ...fault, times: 0 });
    await releaseServer(service, shown, { freeze: false, hold: true });
    clock.advanceS(601);
    const isSettled = async () => (await findMove(lost.world.db, id)) === undefined;
    await lost.workUntil(async () => (await region.isGone(id)) && (await isSettled()));
  });
});

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { resizeServer } from '../../../../src/domain/servers/resize/resize.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import { S1 } from '../../../support/fixtures.ts';
import { S2 } from '../resize/resize-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let id: string;
let shown: string;
before(async () => {
  lost = await LostWorld.open();
});
after(() => lost.world.close());
beforeEach(async () => {
  await lost.region.reset([4, 4]);
  await lost.world.fixtures.addPlans([lost.region.regionId], [S2]);
  for (const { id: plan, price_cents_month: cents } of [S1, S2])
    await lost.world.db.run('update plans set price_cents_month = $2 where id = $1', [plan, cents]);
  ({ id, shown } = await lost.region.running());
});
afterEach(() => lost.world.assertInvariants());

const resize = (plan: string) =>
  resizeServer(lost.world.service, lost.region.actor, shown, { plan, restart: true });

it('a server is refunded what was really paid for the rest of its cycle', async () => {
  await resize('s2');
  await lost.world.runUntilIdle();
  const { paid_until: end, paid_from: from, paid_cents: cents } = await lost.region.server(id);
  lost.world.clock.advanceS((5 * DAY_MS) / 1000);
  const before = await lost.region.balance();
  const now = lost.world.clock.now();
  await lost.lose(await lost.hostOf(id), 'refund');
  await lost.workUntil(() => lost.region.isGone(id));
  assert.ok(from && cents !== null);
  const rest = Number(cents) * ((end.getTime() - now.getTime()) / (end.getTime() - from.getTime()));
  assert.equal(await lost.region.balance(), before + BigInt(Math.round(rest)));
});

for (const servers of ['refund', 'rebuild'] as const) {
  it(`a resize under way ends with its host, and its money comes back (${servers})`, async () => {
    const before = await lost.region.balance();
    await resize('s2');
    await lost.region.runDueWork();
    await lost.lose(await lost.hostOf(id), servers);
    if (servers === 'refund') {
      await lost.workUntil(() => lost.region.isGone(id));
      // Nearly all of the cycle is left.
      assert.equal(await lost.region.balance(), before + 500n);
      return;
    }
    await lost.workUntil(async () => {
      const { status } = await lost.region.server(id);
      return status === 'running' && !(await lost.isOnLostHost(id));
    });
    await lost.world.runUntilIdle();
    const { plan_id, ram_mb } = await lost.region.server(id);
    assert.deepEqual([plan_id, ram_mb], ['s1', 1024]);
    assert.equal(await lost.region.balance(), before);
  });
}

it('a server on a lost host is not resized', async () => {
  await lost.lose(await lost.hostOf(id), 'refund');
  await assert.rejects(resize('s2'), (error) => error instanceof Failure && error.code === 'out_of_stock');
  await lost.workUntil(() => lost.region.isGone(id));
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FloodWorld, INTO, startFloodWorld } from './flood-world.ts';

describe('floods that blackhole their address', () => {
  let at: FloodWorld;
  before(async () => {
    at = await startFloodWorld({
      ...{ SKERRY_FLOOD_BLACKHOLE: 'true', SKERRY_FLOOD_BLACKHOLE_MINUTES: '10' },
      ...{ SKERRY_FLOOD_SAMPLES: '2', SKERRY_FLOOD_OUT_PPS: '0' },
    });
  });
  after(() => at.world.close());

  it('each time they come back at once, the blackhole lasts twice as long', async () => {
    await at.flood(INTO);
    await at.samples(2);
    for (const minutes of [10, 20, 40]) {
      assert.deepEqual(await at.blackholed(), [4], `${minutes}`);
      await at.world.advance((minutes - 1) * 60);
      assert.deepEqual(await at.blackholed(), [4], `${minutes}`);
      // The blackhole ends within this minute, and two samples are above the limit again.
      await at.samples(9);
    }
    const flood = await at.latest();
    assert.deepEqual([flood.state, flood.blackholes], ['blackholed', 4]);
    assert.equal((await at.floods()).length, 1);
  });

  it('a flood that comes back later is a new one, with the first duration', async () => {
    await at.flood(null);
    await at.staff('POST', `/servers/${at.server.id}/lift_blackhole`, { reason: 'it stopped' });
    await at.world.advance(301);
    await at.samples(1);
    assert.deepEqual([(await at.latest()).state, (await at.latest()).lifted_by], ['ended', 'staff']);
    await at.flood({ ...INTO, family: 6 });
    await at.samples(2);
    assert.equal((await at.floods()).length, 2);
    assert.deepEqual([(await at.latest()).blackholes, await at.blackholed()], [1, [6]]);
    await at.world.advance(601);
    await at.flood(null);
    await at.staff('POST', `/servers/${at.server.id}/lift_blackhole`, { reason: 'it stopped' });
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), []);
  });

  it('a limit of 0 watches nothing', async () => {
    await at.flood({ direction: 'out', family: 4, packetsPerS: 10_000_000 });
    await at.samples(3);
    assert.deepEqual(await at.floods('?direction=out'), []);
    await at.flood(null);
  });

  it('are in the export of their account, and deleted with it', async () => {
    const admin = await at.world.person('owner');
    const id = encodeURIComponent(at.owner.email);
    const exported = await fetch(`${at.world.console}/admin/v1/customers/${id}/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'they asked' }),
    });
    const text = await exported.text();
    assert.match(text, /"floods"/, text.slice(0, 300));
    assert.match(text, /"peak_packets_per_s":\s*"?250000/);
    const deleted = await at.world.api(admin.token, 'POST', `/customers/${id}/delete`, {
      ...{ destroy_servers: true, reason: 'they asked' },
    });
    assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
    await at.world.settle();
    assert.deepEqual(await at.floods(), []);
    const left = 'select (select count(*) from floods) + (select count(*) from blackholes) as n';
    assert.equal((await at.world.opened.db.row<{ n: bigint }>(left))?.n, 0n);
  });
});

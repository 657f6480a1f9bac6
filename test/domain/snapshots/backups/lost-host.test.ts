/** A lost host returns the amount that was paid for the rest of the cycle, backups included. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { refundUnusedTime } from '../../../../src/domain/servers/billing/charge.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import { lockServer } from '../../../../src/store/servers/servers.ts';
import { QuotesWorld } from '../../billing/quotes/quotes-world.ts';

let quotes: QuotesWorld;
before(async () => {
  quotes = await QuotesWorld.open(100_000n);
  await quotes.setPrice(1000n);
  await quotes.setBackupShare(20);
});
after(() => quotes.world.close());

/** Loses the host now, and returns the cents that come back. */
async function lose({ id }: Server): Promise<bigint> {
  const { db, clock } = quotes.world;
  return await db.transaction(async (tx) => {
    const server = (await lockServer(tx, parseId('server', id) ?? '')) ?? assert.fail('no server');
    const now = clock.now();
    return await refundUnusedTime(tx, server, { since: now, reason: 'its machine was lost', now });
  });
}

/** Returns the cents that are paid less from here on. */
async function spent(work: () => Promise<Server>): Promise<{ server: Server; cents: bigint }> {
  const before = await quotes.balance();
  const server = await work();
  return { server, cents: before - (await quotes.balance()) };
}

for (const [first, then, paid] of [
  [true, false, 1000n],
  [false, true, 1200n],
] as const) {
  it(`backups turned ${then ? 'on' : 'off'} before the first run are a part of the refund`, async () => {
    const { server, cents } = await spent(async () => {
      const ordered = await quotes.create({ auto_renew: false, ...(first ? { backups: {} } : {}) });
      await quotes.setBackups(ordered.id, { enabled: then });
      await quotes.install(ordered.id);
      return ordered;
    });
    assert.equal(cents, paid);
    assert.equal(await lose(server), paid);
  });
}

it('backups turned off after the end of a cycle do not raise what comes back of it', async () => {
  const { server, cents } = await spent(async () => {
    const ordered = await quotes.create({ auto_renew: false, backups: {} });
    await quotes.install(ordered.id);
    await quotes.setBackups(ordered.id, { enabled: false });
    return ordered;
  });
  assert.equal(cents, 1000n);
  const lostAt = quotes.world.clock.now();
  quotes.world.clock.moveTo(new Date(server.paid_until));
  await quotes.setBackups(server.id, { enabled: true });
  quotes.world.clock.moveTo(lostAt);
  assert.equal(await lose(server), 1000n);
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { OffsetClock } from '../../../src/kernel/clock.ts';
import type { AddressPool } from '../../../src/ports/chain.ts';
import { addToPool, countFreeAddresses, createAddressPool } from '../../../src/store/topups/addresses.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';

const NOW = new Date('2030-05-01T12:00:00Z');

let scratch: ScratchDatabase;
let pool: AddressPool;
const clock = new OffsetClock();
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 20 });
  pool = createAddressPool(scratch.db, 'SOL', clock);
});
after(async () => {
  await scratch.close();
});
beforeEach(async () => {
  await scratch.db.run('delete from address_pool');
});

async function add(count: number, from = 0): Promise<string[]> {
  const addresses = Array.from({ length: count }, (_, i) => `address-${String(i + from).padStart(4, '0')}`);
  await addToPool(scratch.db, 'SOL', addresses, NOW);
  return addresses;
}

describe('a pool of addresses', () => {
  it('the pool gives out addresses in order, and always the same one to an invoice', async () => {
    const addresses = await add(3);
    const [first, second] = [randomUUID(), randomUUID()];
    assert.equal((await pool.allocate(first))?.address, addresses[0]);
    assert.equal((await pool.allocate(second))?.address, addresses[1]);
    assert.equal((await pool.allocate(first))?.address, addresses[0]);
    assert.equal((await pool.allocate(randomUUID()))?.address, addresses[2]);
    assert.equal(await pool.allocate(randomUUID()), null);
    assert.equal((await pool.allocate(second))?.address, addresses[1]);
  });

  it('a hundred concurrent callers each receive a different address', async () => {
    await add(100);
    const taken = await Promise.all(Array.from({ length: 100 }, () => pool.allocate(randomUUID())));
    assert.equal(new Set(taken.map((each) => each?.address)).size, 100);
    assert.ok(taken.every((each) => each !== null));
    assert.equal(await pool.countFree(1), 0);
  });

  it('concurrent calls for one invoice receive the same address', async () => {
    await add(50);
    for (let i = 0; i < 5; i++) {
      const id = randomUUID();
      const taken = await Promise.all(Array.from({ length: 20 }, () => pool.allocate(id)));
      assert.equal(new Set(taken.map((each) => each?.address)).size, 1);
    }
    assert.deepEqual([await pool.countFree(1_000), await pool.countFree(10)], [45, 10]);
  });

  it('a rejected address is not given out again', async () => {
    const addresses = await add(2);
    const id = randomUUID();
    await pool.reject((await pool.allocate(id))?.address ?? '');
    assert.equal((await pool.allocate(id))?.address, addresses[1]);
    assert.equal(await pool.allocate(randomUUID()), null);
  });

  it('watched addresses are listed page by page, newest first, with their marks', async () => {
    await add(25);
    const taken: string[] = [];
    for (let i = 0; i < 20; i++) {
      // Some of them at the same time.
      if (i % 3 === 0) clock.offsetMs += 60_000;
      taken.push((await pool.allocate(randomUUID()))?.address ?? '');
    }
    await pool.saveMark(taken[4] ?? '', 'mark');
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<AddressPool['listWatched']>> = await pool.listWatched({
        after,
        limit: 6,
      });
      seen.push(...page.map(({ address }) => address));
      for (const { address, mark } of page) assert.equal(mark, address === taken[4] ? 'mark' : null);
      after = page.at(-1)?.address ?? null;
      if (after === null) break;
    }
    assert.deepEqual([...seen].sort(), [...taken].sort());
    assert.ok(taken.slice(18).includes(seen[0] ?? ''));
  });

  it('an import adds each address once, returns existing ones, and leaves them unchanged', async () => {
    const [first = '', second = ''] = await add(2);
    const id = randomUUID();
    await pool.allocate(id);
    const known = await addToPool(scratch.db, 'SOL', ['new', first, second, 'other', 'new'], NOW);
    assert.deepEqual(known, [first, second, 'new']);
    assert.equal((await pool.allocate(id))?.address, first);
    assert.equal(await countFreeAddresses(scratch.db, 'SOL', 1_000), 3);
    assert.equal(await countFreeAddresses(scratch.db, 'BTC', 1_000), 0);
    const order = [
      await pool.allocate(randomUUID()),
      await pool.allocate(randomUUID()),
      await pool.allocate(randomUUID()),
    ];
    assert.deepEqual(
      order.map((each) => each?.address),
      [second, 'new', 'other'],
    );
  });
});

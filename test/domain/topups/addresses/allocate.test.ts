/** Addresses are used sparingly: failed orders use none, and unpaid ones are limited. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { allocateAddress } from '../../../../src/domain/topups/addresses/allocate.ts';
import { createTopup } from '../../../../src/domain/topups/create.ts';
import { cancelTopup } from '../../../../src/domain/topups/end.ts';
import type { Clock } from '../../../../src/kernel/clock.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { TimeoutError } from '../../../../src/kernel/timeout.ts';
import type { AddressPool, Deposit } from '../../../../src/ports/chain.ts';
import { addToPool, countFreeAddresses, createAddressPool } from '../../../../src/store/topups/addresses.ts';
import { allocateIndex, initializeCursor } from '../../../../src/store/topups/coins.ts';
import { ScriptedChain } from '../../../support/scripted-chain.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

const ORDER = { coin: 'BTC', amountCents: 10_000n } as const;
const SOL = { coin: 'SOL', amountCents: 10_000n } as const;

/** Takes a pool address before it queries its node, like Solana. */
class PoolChain extends ScriptedChain {
  readonly #pool: AddressPool;
  constructor(pool: AddressPool, clock: Clock) {
    super('SOL', clock);
    this.#pool = pool;
  }
  override async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    const taken = await this.#pool.allocate(invoice.id);
    if (taken === null) throw new Error('no address is left');
    await super.allocate(invoice);
    return { address: taken.address, uri: '' };
  }
}

describe('addresses of top-ups', () => {
  let world: TopupWorld;
  let sol: PoolChain;
  before(async () => {
    world = await TopupWorld.start({
      chains: ({ clock, db }) => {
        sol = new PoolChain(createAddressPool(db, 'SOL', clock), clock);
        return new Map([
          ['BTC', new ScriptedChain('BTC', clock)],
          ['ETH', new ScriptedChain('ETH', clock)],
          ['SOL', sol],
        ]);
      },
    });
    const addresses = Array.from({ length: 200 }, (_, i) => `sol-${i}`);
    await addToPool(world.db, 'SOL', addresses, world.clock.now());
  });
  after(() => world.close());

  const free = () => countFreeAddresses(world.db, 'SOL', 1_000);
  /** Returns the number of indexes in use. */
  async function taken(coin: string): Promise<number> {
    const row = await world.db.row<{ n: number }>(
      `select next_index - (select count(*)::int from spare_indexes where coin = code) as n
         from coins where code = $1`,
      [coin],
    );
    return row?.n ?? 0;
  }

  it('the first address of a coin sets the cursor to the end of the chain', async () => {
    world.btc.mine(30);
    const { height } = world.btc;
    await createTopup(world.service, await world.createCustomer(), ORDER);
    // Regardless of how late the first read is.
    world.btc.mine(500);
    await world.runUntilIdle();
    assert.equal(world.btc.polls[0], `${height}:${'0'.repeat(64)}`);
    assert.equal(world.chains.size, 3);
  });

  it('the first address of a coin is unavailable while the node does not report its height', async () => {
    const actor = await world.createCustomer();
    world.eth.failures.health = 1;
    const order = { ...ORDER, coin: 'ETH' } as const;
    await assert.rejects(createTopup(world.service, actor, order), { code: 'unavailable' });
    assert.match((await createTopup(world.service, actor, order)).deposit_address, /-0$/);
    // Only the first order asks.
    world.eth.failures.health = 1;
    assert.match((await createTopup(world.service, actor, order)).deposit_address, /-1$/);
    world.eth.failures.health = 0;
  });

  it('the first address of a coin is unavailable while the node is still syncing', async () => {
    const actor = await world.createCustomer();
    const order = { ...ORDER, coin: 'LTC' } as const;
    const begun = async () =>
      await world.db.row(
        `select cursor, (select count(*)::int from spare_indexes where coin = code) as spare
           from coins where code = 'LTC'`,
      );
    const ltc = new ScriptedChain('LTC', world.clock);
    ltc.ok = false;
    world.chains.set('LTC', ltc);
    try {
      await assert.rejects(createTopup(world.service, actor, order), { code: 'unavailable' });
      assert.deepEqual(await begun(), { cursor: null, spare: 1 });
      ltc.ok = true;
      assert.match((await createTopup(world.service, actor, order)).deposit_address, /-0$/);
      assert.deepEqual(await begun(), { cursor: `${ltc.height}:${'0'.repeat(64)}`, spare: 0 });
      // Later orders do not set the cursor.
      ltc.ok = false;
      await createTopup(world.service, actor, order);
    } finally {
      world.chains.delete('LTC');
    }
  });

  it('orders that fail on the node use neither an index nor a pool address', async () => {
    const actor = await world.createCustomer();
    const [numbers, pooled] = [await taken('BTC'), await free()];
    for (let round = 0; round < 3; round++) {
      world.btc.failures.allocate = 10;
      sol.failures.allocate = 10;
      const tries = [ORDER, SOL].flatMap((order) =>
        Array.from({ length: 10 }, () => createTopup(world.service, actor, order)),
      );
      for (const outcome of await Promise.allSettled(tries)) assert.equal(outcome.status, 'rejected');
    }
    assert.deepEqual([await taken('BTC'), await free()], [numbers, pooled]);
    const made = await createTopup(world.service, actor, ORDER);
    const next = await createTopup(world.service, actor, ORDER);
    assert.notEqual(made.deposit_address, next.deposit_address);
    assert.equal(await taken('BTC'), numbers + 2);
  });

  it('rejected concurrent orders keep no address', async () => {
    const actor = await world.createCustomer();
    const [numbers, pooled] = [await taken('BTC'), await free()];
    for (let i = 0; i < 19; i++) await createTopup(world.service, actor, ORDER);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, () => createTopup(world.service, actor, SOL)),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.deepEqual([await taken('BTC'), await free()], [numbers + 19, pooled - 1]);
  });

  it('an address stays in use if the commit fails, because the invoice may exist', async () => {
    const actor = await world.createCustomer();
    const pooled = await free();
    await assert.rejects(
      createTopup(
        world.service,
        { ...actor, saveResponse: async (tx) => void (await tx.run('select * from no_such_table')) },
        SOL,
      ),
    );
    assert.equal(await free(), pooled - 1);
  });

  it('canceled invoices have a daily limit, which is lower for pool coins', async () => {
    const actor = await world.createCustomer();
    const pooled = await free();
    const live = { ...world.service, settings: { ...world.service.settings, mode: 'live' } } as const;
    const makeAndCancel = async (order: typeof ORDER | typeof SOL, service: Service = live) => {
      const { order_ref } = await createTopup(service, actor, order);
      await cancelTopup(service, actor, order_ref);
    };
    for (let i = 0; i < 20; i++) await makeAndCancel(SOL);
    await assert.rejects(makeAndCancel(SOL), { code: 'limit_reached', extras: { limit: 20, used: 20 } });
    assert.equal(await free(), pooled - 20);
    const paid = await createTopup(world.service, actor, ORDER);
    for (let i = 0; i < 29; i++) await makeAndCancel(ORDER);
    await assert.rejects(makeAndCancel(ORDER), { code: 'limit_reached', extras: { limit: 50, used: 50 } });
    // A payment makes room.
    world.btc.pay(paid.deposit_address, 200_000n);
    world.btc.mine();
    await world.runUntilIdle();
    await makeAndCancel(ORDER);
    await assert.rejects(makeAndCancel(ORDER), { code: 'limit_reached' });
    // Simulated addresses are free.
    await makeAndCancel(ORDER, world.service);
    world.clock.advanceMinutes(24 * 60);
    await makeAndCancel(SOL);
  });

  it('a first invoice that fails leaves no cursor, and the next one sets it', async () => {
    const { db } = world;
    const cursor = async () =>
      (await db.row<{ cursor: string | null }>(`select cursor from coins where code = 'XMR'`))?.cursor;
    await allocateIndex(db, 'XMR');
    await initializeCursor(db, 'XMR', 100);
    assert.ok((await allocateIndex(db, 'XMR')).isUnread);
    await initializeCursor(db, 'XMR', 900);
    assert.match((await cursor()) ?? '', /^900:0+$/);
  });

  for (const how of ['fails', 'responds too late'] as const) {
    it(`a node that hangs times out, and its index is returned once it ${how}`, async () => {
      const late = Promise.withResolvers<Deposit>();
      const chain = new ScriptedChain('BTC', world.clock);
      chain.allocate = () => late.promise;
      const wanted = { id: newId(world.clock.now()), coin: 'BTC', amountUnits: 1n } as const;
      const numbers = await taken('BTC');
      await assert.rejects(allocateAddress(world.service, chain, wanted, 500), TimeoutError);
      assert.equal(await taken('BTC'), numbers + 1);
      if (how === 'fails') late.reject(new Error('no response'));
      else late.resolve({ address: 'late', uri: '' });
      for (const deadline = Date.now() + 5_000; (await taken('BTC')) > numbers; )
        assert.ok(Date.now() < deadline);
    });
  }
});

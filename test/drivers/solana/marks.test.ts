/** How far addresses of Solana were read: nothing is forgotten, whoever dies when, and nothing is read without end. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../src/domain/verify/verify.ts';
import { advanceMark, formatMark, type Mark, parseMark } from '../../../src/drivers/chain/solana/mark.ts';
import { formatPosition, parsePosition } from '../../../src/drivers/chain/solana/position.ts';
import type { PollResult } from '../../../src/ports/chain.ts';
import { addToPool } from '../../../src/store/address-pool.ts';
import type { TopupRow } from '../../../src/store/topups.ts';
import { IS_FULL_RUN, PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { type SolanaWorld, startSolana, walletAddresses } from './solana-world.ts';

/** As small as they can be, so that every bound is met. */
const TIGHT = { pageSize: 3, maxTransactions: 4, recentAddresses: 2, olderAddresses: 2 };

let sol: SolanaWorld;
before(async () => {
  sol = await startSolana({ limits: TIGHT });
});
after(async () => {
  await sol.close();
});

async function credited(topup: TopupRow): Promise<bigint> {
  await sol.world.runUntilIdle();
  return (await sol.world.reloadTopup(topup)).credited_cents;
}

/** A poll whose driver is gone before anything was written. */
async function die(): Promise<void> {
  const row = await sol.world.db.row<{ cursor: string | null }>(
    `select cursor from coins where code = 'SOL'`,
  );
  await sol.world.chains.get('SOL')?.poll({ cursor: row?.cursor ?? null });
  sol.restart();
}

describe('marks', () => {
  it('are read as they are written', () => {
    const marks: Mark[] = [
      { base: null, gap: null },
      { base: 'a', gap: null },
      { base: 'a', gap: { head: 'c', before: 'b' } },
      { base: null, gap: { head: 'c', before: 'b' } },
    ];
    for (const mark of marks) assert.deepEqual(parseMark(formatMark(mark)), mark);
    assert.deepEqual(parseMark(null), marks[0]);
  });

  it('do not move by what is not final', () => {
    const mark = { base: 'a', gap: null };
    const waiting = { signature: 'b', failed: false, final: false };
    assert.deepEqual(advanceMark(mark, [waiting], 10), { mark, more: false });
    const final = { signature: 'c', failed: true, final: true };
    assert.deepEqual(advanceMark(mark, [waiting, final], 10).mark, { base: 'c', gap: null });
  });
});

describe('positions', () => {
  it('are read as they are written', () => {
    const position = { slot: 5, blockhash: 'h', resume: null, turn: 'x' };
    const text = formatPosition(position);
    assert.deepEqual(parsePosition(text), position);
    assert.equal(parsePosition(null), null);
    assert.equal(parsePosition('5:h'), null);
  });
});

describe('a driver of Solana', () => {
  it('that dies between a poll and the end of its work loses nothing', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    await die();
    await die();
    assert.equal(await credited(topup), 5_000n);
  });

  it('tells again what it told until that is kept, whoever told it and whoever asks', async () => {
    const { address } = (await sol.pool.allocate(randomUUID())) ?? assert.fail();
    await sol.world.runUntilIdle();
    const signature = sol.stub.pay(address, 7n);
    sol.stub.finalize();
    const first = sol.world.chains.get('SOL') ?? assert.fail();
    sol.restart();
    const second = sol.world.chains.get('SOL') ?? assert.fail();
    const tells = ({ observations }: PollResult) => observations.some(({ txid }) => txid === signature);
    const lost = await first.poll({ cursor: null });
    const kept = await second.poll({ cursor: null });
    assert.deepEqual([lost, kept].map(tells), [true, true]);
    assert.equal(tells(await first.poll({ cursor: lost.cursor })), true);
    await kept.commit?.();
    assert.equal(tells(await first.poll({ cursor: kept.cursor })), false);
    assert.equal(tells(await second.poll({ cursor: kept.cursor })), false);
  });
});

describe('an address of Solana', () => {
  it('with more than fit at once is read to its end though another process reads on each time', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    const part = topup.deposit_units / 10n;
    for (let i = 0; i < 10; i++) sol.stub.pay(topup.deposit_address, part);
    sol.stub.finalize();
    for (let i = 0; i < 12; i++) {
      sol.restart();
      await sol.world.watchJob.run();
    }
    assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 5_000n);
  });

  it('with more transactions than fit at once is read to its end', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    const part = topup.deposit_units / 10n;
    for (let i = 0; i < 20; i++) sol.stub.pay(topup.deposit_address, i % 2 === 0 ? part : 0n);
    sol.stub.finalize();
    assert.equal(await credited(topup), 5_000n);
  });

  it('is read again where the node forgot how far it was read', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    const part = topup.deposit_units / 10n;
    for (let i = 0; i < 5; i++) sol.stub.pay(topup.deposit_address, part);
    sol.stub.finalize();
    await sol.world.watchJob.run();
    for (let i = 0; i < 5; i++) sol.stub.pay(topup.deposit_address, part);
    await sol.pool.saveMark(topup.deposit_address, `nobody>knows>these`);
    sol.stub.finalize();
    assert.equal(await credited(topup), 5_000n);
  });

  it('whose transactions cannot be read is asked again, and keeps no other waiting', async () => {
    const [topup, other] = [
      await sol.world.createInvoice(50, 'SOL'),
      await sol.world.createInvoice(40, 'SOL'),
    ];
    const hushed = sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.unreadable.add(hushed);
    sol.stub.pay(other.deposit_address, other.deposit_units, { version: 7 });
    sol.stub.pay(other.deposit_address, other.deposit_units);
    sol.stub.finalize();
    assert.equal(await credited(other), 4_000n);
    assert.equal(await credited(topup), 0n);
    const health = await sol.world.chains.get('SOL')?.health();
    assert.match(health?.detail ?? '', /listed and cannot be read/);
    sol.stub.unreadable.clear();
    assert.equal(await credited(topup), 5_000n);
  });
});

type Step =
  | { readonly do: 'pay'; readonly which: number; readonly failed: boolean }
  | { readonly do: 'invoice' | 'finalize' | 'look' | 'die' | 'restart' | 'age' };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pay'), which: fc.nat(50), failed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('invoice') }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constantFrom('finalize', 'look', 'die') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart', 'age') }) },
) as fc.Arbitrary<Step>;

describe('payments on Solana', () => {
  it('are each credited once, whenever drivers die between a poll and the end of its work', async (t) => {
    const { world, stub } = sol;
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        made += 40;
        await addToPool(world.db, 'SOL', walletAddresses(`run ${made}`, 40), world.clock.now());
        const topups = [await world.createInvoice(50, 'SOL')];
        const paid = new Map<string, bigint>();
        for (const step of steps) {
          if (step.do === 'invoice') topups.push(await world.createInvoice(50, 'SOL'));
          else if (step.do === 'pay') {
            const topup = topups[step.which % topups.length] ?? assert.fail();
            stub.pay(topup.deposit_address, topup.deposit_units, { failed: step.failed });
            if (!step.failed) paid.set(topup.id, (paid.get(topup.id) ?? 0n) + 1n);
          } else if (step.do === 'finalize') stub.finalize();
          else if (step.do === 'look') await world.watchJob.run();
          else if (step.do === 'die') await die();
          else if (step.do === 'restart') sol.restart();
          else world.clock.advanceMinutes(8 * 24 * 60);
        }
        stub.finalize();
        // Old addresses have turns: within one round each was looked at.
        for (let i = 0; i < 2_000 && !(await allPaid(topups, paid)); i++) await world.watchJob.run();
        await world.runUntilIdle();
        for (const topup of topups) {
          const keys = (await world.deposits(topup)).map(({ key }) => key);
          assert.equal(BigInt(keys.length), paid.get(topup.id) ?? 0n);
          assert.equal((await world.reloadTopup(topup)).status, keys.length > 0 ? 'credited' : 'pending');
        }
      }),
      seededRuns(t, IS_FULL_RUN ? PROPERTY_RUNS : 5),
    );
    assert.deepEqual(
      (await verify(world.service)).filter(({ broken }) => broken > 0n),
      [],
    );
  });

  async function allPaid(topups: readonly TopupRow[], paid: ReadonlyMap<string, bigint>): Promise<boolean> {
    for (const topup of topups) {
      const deposits = await sol.world.deposits(topup);
      const final = deposits.filter(({ state }) => state === 'final').length;
      if (BigInt(final) !== (paid.get(topup.id) ?? 0n)) return false;
    }
    return true;
  }
});

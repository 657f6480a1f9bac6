/** Marks of Solana addresses: no payment is lost when a process dies, and no address is read endlessly. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../../src/domain/verify/verify.ts';
import {
  advanceMark,
  formatMark,
  formatPosition,
  type Mark,
  parseMark,
  parsePosition,
} from '../../../../src/drivers/chain/solana/position.ts';
import type { PollResult } from '../../../../src/ports/chain.ts';
import { addToPool } from '../../../../src/store/topups/addresses.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { IS_FULL_RUN, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { type SolanaWorld, startSolana, walletAddresses } from './solana-world.ts';

/** The smallest possible limits, so that every limit is reached. */
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

/** Polls with a driver that dies before anything is saved. */
async function pollAndDie(): Promise<void> {
  const row = await sol.world.db.row<{ cursor: string | null }>(
    `select cursor from coins where code = 'SOL'`,
  );
  await sol.world.chains.get('SOL')?.poll({ cursor: row?.cursor ?? null });
  sol.restart();
}

describe('Solana marks', () => {
  it('a mark survives formatting and parsing', () => {
    const marks: Mark[] = [
      { base: null, gap: null },
      { base: 'a', gap: null },
      { base: 'a', gap: { head: 'c', before: 'b' } },
      { base: null, gap: { head: 'c', before: 'b' } },
    ];
    for (const mark of marks) assert.deepEqual(parseMark(formatMark(mark)), mark);
    assert.deepEqual(parseMark(null), marks[0]);
  });

  it('a mark does not advance to a transaction that is not final', () => {
    const mark = { base: 'a', gap: null };
    const waiting = { signature: 'b', failed: false, final: false };
    assert.deepEqual(advanceMark(mark, [waiting], 10), { mark, more: false });
    const final = { signature: 'c', failed: true, final: true };
    assert.deepEqual(advanceMark(mark, [waiting, final], 10).mark, { base: 'c', gap: null });
  });
});

describe('Solana positions', () => {
  it('a position survives formatting and parsing', () => {
    const position = { slot: 5, blockhash: 'h', resume: null, turn: 'x' };
    const text = formatPosition(position);
    assert.deepEqual(parsePosition(text), position);
    assert.equal(parsePosition(null), null);
    assert.equal(parsePosition('5:h'), null);
  });
});

describe('restarts of the Solana driver', () => {
  it('a driver that dies between a poll and saving it loses nothing', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    await pollAndDie();
    await pollAndDie();
    assert.equal(await credited(topup), 5_000n);
  });

  it('a payment is reported by every driver until a mark is saved', async () => {
    const { address } = (await sol.pool.allocate(randomUUID())) ?? assert.fail();
    await sol.world.runUntilIdle();
    const signature = sol.stub.pay(address, 7n);
    sol.stub.finalize();
    const first = sol.world.chains.get('SOL') ?? assert.fail();
    sol.restart();
    const second = sol.world.chains.get('SOL') ?? assert.fail();
    const reports = ({ observations }: PollResult) => observations.some(({ txid }) => txid === signature);
    const unsaved = await first.poll({ cursor: null });
    const saved = await second.poll({ cursor: null });
    assert.deepEqual([unsaved, saved].map(reports), [true, true]);
    assert.equal(reports(await first.poll({ cursor: unsaved.cursor })), true);
    await saved.commit?.();
    assert.equal(reports(await first.poll({ cursor: saved.cursor })), false);
    assert.equal(reports(await second.poll({ cursor: saved.cursor })), false);
  });
});

describe('Solana address scans', () => {
  it('an address with several pages is read to the end by alternating processes', async () => {
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

  it('an address with more transactions than the limit is read to the end', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    const part = topup.deposit_units / 10n;
    for (let i = 0; i < 20; i++) sol.stub.pay(topup.deposit_address, i % 2 === 0 ? part : 0n);
    sol.stub.finalize();
    assert.equal(await credited(topup), 5_000n);
  });

  it('an address is read again if the node no longer knows its mark', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    const part = topup.deposit_units / 10n;
    for (let i = 0; i < 5; i++) sol.stub.pay(topup.deposit_address, part);
    sol.stub.finalize();
    await sol.world.watchJob.run();
    for (let i = 0; i < 5; i++) sol.stub.pay(topup.deposit_address, part);
    await sol.pool.saveMark(topup.deposit_address, `none>knows>these`);
    sol.stub.finalize();
    assert.equal(await credited(topup), 5_000n);
  });

  it('an address with unreadable transactions is retried and does not block the others', async () => {
    const [topup, other] = [
      await sol.world.createInvoice(50, 'SOL'),
      await sol.world.createInvoice(40, 'SOL'),
    ];
    const unreadable = sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.unreadable.add(unreadable);
    sol.stub.pay(other.deposit_address, other.deposit_units, { version: 7 });
    sol.stub.pay(other.deposit_address, other.deposit_units);
    sol.stub.finalize();
    assert.equal(await credited(other), 4_000n);
    assert.equal(await credited(topup), 0n);
    const health = await sol.world.chains.get('SOL')?.health();
    assert.match(health?.detail ?? '', /listed transactions cannot be read/);
    sol.stub.unreadable.clear();
    assert.equal(await credited(topup), 5_000n);
  });
});

type Step =
  | { readonly do: 'pay'; readonly which: number; readonly failed: boolean }
  | { readonly do: 'invoice' | 'finalize' | 'poll' | 'die' | 'restart' | 'age' };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pay'), which: fc.nat(50), failed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('invoice') }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constantFrom('finalize', 'poll', 'die') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart', 'age') }) },
) as fc.Arbitrary<Step>;

describe('random scripts on Solana', () => {
  it('each Solana payment is credited once, even if drivers die before saving a poll', async (t) => {
    const { world, stub } = sol;
    let createdAddresses = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        createdAddresses += 40;
        const addresses = walletAddresses(`run ${createdAddresses}`, 40);
        await addToPool(world.db, 'SOL', addresses, world.clock.now());
        const topups = [await world.createInvoice(50, 'SOL')];
        const paid = new Map<string, bigint>();
        for (const step of steps) {
          if (step.do === 'invoice') topups.push(await world.createInvoice(50, 'SOL'));
          else if (step.do === 'pay') {
            const topup = topups[step.which % topups.length] ?? assert.fail();
            stub.pay(topup.deposit_address, topup.deposit_units, { failed: step.failed });
            if (!step.failed) paid.set(topup.id, (paid.get(topup.id) ?? 0n) + 1n);
          } else if (step.do === 'finalize') stub.finalize();
          else if (step.do === 'poll') await world.watchJob.run();
          else if (step.do === 'die') await pollAndDie();
          else if (step.do === 'restart') sol.restart();
          else world.clock.advanceMinutes(8 * 24 * 60);
        }
        stub.finalize();
        // Old addresses are scanned in rotation: after one rotation each was read.
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

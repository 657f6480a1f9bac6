/** Thousands of outputs to one invoice cost their sender little, so they must cost the service little. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { getTopup } from '../../../../src/domain/topups/read.ts';
import { bookCredits, SINGLE_CREDITS_MAX } from '../../../../src/domain/topups/settlement/credits.ts';
import { worthCents } from '../../../../src/domain/topups/settlement/pricing.ts';
import { verify } from '../../../../src/domain/verify/verify.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import type { Database, Sql } from '../../../../src/kernel/sql.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import type { DepositRow } from '../../../../src/store/topups/deposits.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { watchJob } from '../../../../src/workers/watch.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
  world.btc.terse = true;
});
after(() => world.close());

const OUTPUTS = 2_000;
/** 0.45 cents at 50,000 dollars per bitcoin. */
const DUST_UNITS = 9n;

/** Counts the statements of one poll of the chains. */
async function countReads(): Promise<number> {
  let statements = 0;
  const of = (sql: Sql): Sql => {
    statements += 1;
    return sql;
  };
  const counted = (sql: Sql): Sql => ({
    rows: (text, values) => of(sql).rows(text, values),
    row: (text, values) => of(sql).row(text, values),
    run: (text, values) => of(sql).run(text, values),
  });
  const db: Database = {
    ...counted(world.db),
    transaction: (work) => world.db.transaction((tx) => work(counted(tx))),
  };
  await watchJob({ ...world.service, db } as Service, { runWaitMaxMs: 60_000 }).run();
  return statements;
}

async function dustTopup(outputs = OUTPUTS): Promise<TopupRow> {
  const topup = await world.createInvoice(30);
  for (let n = 0; n < outputs; n++) world.btc.pay(topup.deposit_address, DUST_UNITS);
  return topup;
}

test('dust outputs are credited for their joint worth, in few statements per block', async () => {
  const topup = await dustTopup();
  const waiting = await countReads();
  assert.ok(waiting < 100, `${waiting} statements while pending`);
  world.btc.mine();
  const credited = await countReads();
  assert.ok(credited < 100 + 3 * SINGLE_CREDITS_MAX, `${credited} statements for the credits`);
  const worth = (BigInt(OUTPUTS) * DUST_UNITS * 5_000_000n) / 100_000_000n;
  assert.equal(await world.balance(topup), worth);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  const entries = await world.ledgerEntries(topup);
  assert.ok(entries.length <= SINGLE_CREDITS_MAX + 1);
  world.btc.mine();
  const next = await countReads();
  assert.ok(next < 100, `${next} statements for the next block`);
  const deposits = await world.deposits(topup);
  assert.ok(deposits.every(({ confirmations }) => confirmations === 2));
  world.btc.reorg(2, { drop: true });
  const back = await countReads();
  assert.ok(back < 100 + 4 * SINGLE_CREDITS_MAX, `${back} statements to take them back`);
  assert.equal(await world.balance(topup), 0n);
  const broken = (await verify(world.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});

test('responses and events list the oldest transactions only', async () => {
  const topup = await dustTopup(LIMITS.topupTxidsMax + 50);
  world.btc.mine();
  await world.runUntilIdle();
  const oldest = (await world.deposits(topup)).map(({ txid }) => txid).slice(0, LIMITS.topupTxidsMax);
  const actor = { ...(await world.createCustomer()), customerId: topup.customer_id };
  assert.deepEqual((await getTopup(world.service, actor, formatId('topup', topup.id))).txids, oldest);
  for (const event of await world.topupEvents(topup)) assert.deepEqual(event.topup.txids, oldest);
});

test('a larger payment is credited separately, and the rest share a credit', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  for (let n = 0; n < 150; n++) world.btc.pay(topup.deposit_address, 20_000n);
  world.btc.mine(2);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).credited_cents, 10_000n + 150n * 1_000n);
  const credits = (await world.ledgerEntries(topup)).filter(({ type }) => type === 'topup');
  assert.equal(credits.length, 1 + SINGLE_CREDITS_MAX + 1);
  assert.equal(credits.at(-1)?.cents, 50n * 1_000n);
  world.btc.reorg(2, { drop: true });
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
});

test('the work per payment does not grow with their number', async () => {
  const topup = await world.createInvoice(30);
  world.btc.pay(topup.deposit_address, 1n);
  await world.runUntilIdle();
  const [one] = await world.deposits(topup);
  assert.ok(one);
  for (const mayCredit of [true, false]) {
    const looks = async (count: number) => {
      let seen = 0;
      const due = Array.from({ length: count }, () =>
        watched(one, () => {
          seen += 1;
        }),
      );
      // Worth so little that nothing is booked.
      const dear = { ...topup, deposit_units: 10n ** 12n, rate_usd: '0.000001' };
      assert.equal(worthCents(dear, due), 0n);
      seen = 0;
      await bookCredits(world.db, dear, { kept: due, fallen: [], due, mayCredit }, world.clock.now());
      return seen / count;
    };
    assert.ok((await looks(2_000)) <= (await looks(SINGLE_CREDITS_MAX)) + 1);
  }
});

/** Returns the payment with a getter that reports reads of its amount. */
function watched(deposit: DepositRow, notice: () => void): DepositRow {
  const { amount_units: units } = deposit;
  return Object.defineProperty({ ...deposit }, 'amount_units', {
    enumerable: true,
    get: () => {
      notice();
      return units;
    },
  });
}

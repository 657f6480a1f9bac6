import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, test } from 'node:test';
import { ledgerEntryObject } from '../../../src/domain/ledger/object.ts';
import {
  charge,
  credit,
  HOUSE,
  type Movement,
  reverse,
  type Transfer,
} from '../../../src/domain/ledger/transfer.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { sqlState } from '../../../src/store/connections/errors.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

let world: TestService;
let customerId: string;
let facts = 0;

before(async () => {
  world = await startTestService();
});
after(() => world.close());
beforeEach(async () => {
  customerId = (await world.fixtures.addCustomer()).customerId;
});

const now = () => world.clock.now();
const balance = () => readBalance(world.db, customerId);
const movement = (amountCents: bigint, wanted: Partial<Movement> = {}): Movement => ({
  customerId,
  // An adjustment needs no resource; other types belong to a server or a deposit.
  account: 'adjustments',
  amountCents,
  type: 'adjustment',
  description: 'test',
  fact: `fact:${facts++}`,
  ...wanted,
});
const give = (cents: bigint, wanted: Partial<Movement> = {}): Promise<Transfer> =>
  credit(world.db, movement(cents, wanted), now());
const take = (cents: bigint, wanted: Partial<Movement> = {}): Promise<Transfer> =>
  charge(world.db, movement(cents, wanted), now());
const undo = (transferId: string): Promise<Transfer> =>
  reverse(world.db, { transferId, description: 'taken back' }, now());

async function count(): Promise<number> {
  const row = await world.db.row<{ n: number }>(
    'select count(*)::int as n from transfers where customer_id = $1',
    [customerId],
  );
  return row?.n ?? 0;
}
async function failsAs(state: string, work: () => Promise<unknown>): Promise<void> {
  const [balanceBefore, countBefore] = [await balance(), await count()];
  await assert.rejects(work(), (error: unknown) => {
    assert.equal(sqlState(error), state);
    return true;
  });
  assert.deepEqual([await balance(), await count()], [balanceBefore, countBefore]);
}

describe('a credit', () => {
  it('a credit adds to the balance from a house account', async () => {
    const booked = await give(3_000n);
    assert.deepEqual(booked, { id: booked.id, amountCents: 3_000n, balanceAfterCents: 3_000n });
    assert.equal(await balance(), 3_000n);
    const row = await world.db.row(
      'select debit_account, credit_account, amount_cents, balance_after_cents from transfers where id = $1',
      [booked.id],
    );
    assert.deepEqual(row, {
      debit_account: HOUSE.adjustments,
      credit_account: customerId,
      amount_cents: 3_000n,
      balance_after_cents: 3_000n,
    });
  });

  it('a credit for a fact that is already booked fails and changes nothing', async () => {
    await give(100n, { fact: 'output:a:0' });
    await failsAs('23505', () => give(100n, { fact: 'output:a:0' }));
    await failsAs('23505', () => take(1n, { fact: 'output:a:0' }));
  });

  it('concurrent credits for one fact are booked once', async () => {
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, () => give(100n, { fact: `same:${customerId}` })),
    );
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.deepEqual([await balance(), await count()], [100n, 1]);
  });

  it('a credit of zero or less is rejected', async () => {
    await give(100n);
    for (const cents of [0n, -1n]) {
      await failsAs('23514', () => give(cents));
      await failsAs('23514', () => take(cents));
    }
  });

  it('a credit to an unknown account is an error, not a lack of balance', async () => {
    const unknown = newId(now());
    await assert.rejects(
      give(100n, { customerId: unknown }),
      (error: unknown) => !(error instanceof Failure),
    );
    await assert.rejects(undo(unknown), /transfer to reverse not found/);
  });
});

describe('a charge', () => {
  it('a charge can take the balance down to its last cent', async () => {
    await give(500n);
    assert.equal((await take(499n)).balanceAfterCents, 1n);
    const last = await take(1n);
    assert.deepEqual([last.amountCents, last.balanceAfterCents], [-1n, 0n]);
  });

  it('amounts beyond 32 bits are booked', async () => {
    assert.equal((await give(5_000_000_000n)).balanceAfterCents, 5_000_000_000n);
    assert.equal((await take(4_999_999_999n)).balanceAfterCents, 1n);
  });

  it('a charge above the balance is rejected and takes nothing', async () => {
    await give(500n);
    await assert.rejects(take(501n), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, 'insufficient_balance');
      assert.deepEqual(error.extras, { need: 5.01 });
      return true;
    });
    assert.deepEqual([await balance(), await count()], [500n, 1]);
  });

  it('concurrent charges succeed only while the balance lasts', async () => {
    await give(7n * 500n + 499n);
    const ends = await Promise.allSettled(Array.from({ length: 30 }, () => take(500n)));
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 7);
    assert.equal(await balance(), 499n);
    await world.assertInvariants();
  });
});

describe('a reversal', () => {
  it('a reversal books the opposite of a transfer and references it', async () => {
    const original = await give(3_000n);
    const reversed = await undo(original.id);
    assert.deepEqual([reversed.amountCents, reversed.balanceAfterCents], [-3_000n, 0n]);
    const row = await world.db.row(
      'select type, reverses, debit_account, credit_account, fact from transfers where id = $1',
      [reversed.id],
    );
    assert.deepEqual(row, {
      type: 'reversal',
      reverses: original.id,
      debit_account: customerId,
      credit_account: HOUSE.adjustments,
      fact: `reversal:${original.id}`,
    });
  });

  it('a reversal of a charge restores the balance', async () => {
    await give(500n);
    const charged = await take(200n);
    assert.equal((await undo(charged.id)).amountCents, 200n);
    assert.equal(await balance(), 500n);
  });

  it('a transfer is reversed at most once', async () => {
    const original = await give(3_000n);
    await undo(original.id);
    await failsAs('23505', () => undo(original.id));
    const other = await give(100n);
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => undo(other.id)));
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await balance(), 0n);
  });

  it('a reversal may make the balance negative, and nothing can be bought until it is repaid', async () => {
    const original = await give(1_000n);
    await take(900n);
    assert.equal((await undo(original.id)).balanceAfterCents, -900n);
    await assert.rejects(take(1n), Failure);
    await give(900n);
    await assert.rejects(take(1n), Failure);
    await give(1n);
    assert.equal((await take(1n)).balanceAfterCents, 0n);
    await world.assertInvariants();
  });
});

describe('a transfer', () => {
  it('the database rejects updates and deletes of transfers', async () => {
    const { id } = await give(100n);
    await failsAs('SK002', () => world.db.run('update transfers set amount_cents = 1 where id = $1', [id]));
    await failsAs('SK002', () => world.db.run('delete from transfers where id = $1', [id]));
    await failsAs('SK002', () => world.db.run('truncate transfers cascade'));
    await failsAs('SK002', () => world.db.run('update transfers set description = description where false'));
  });

  it('a transfer needs a customer on one side and two different sides', async () => {
    const insert = (debit: string, credited: string) =>
      world.db.run(
        `insert into transfers
           (id, debit_account, credit_account, amount_cents, customer_id, type, description, fact,
            balance_after_cents, created_at, booked_at)
         values ($1, $2, $3, 1, $4, 'adjustment', '', $1::uuid::text, 1, now(), now())`,
        [newId(now()), debit, credited, customerId],
      );
    await failsAs('23514', () => insert(HOUSE.deposits, HOUSE.revenue));
    await failsAs('23514', () => insert(customerId, customerId));
  });

  it('a transfer in a rolled-back transaction leaves the balance unchanged', async () => {
    const mine = new Error('changed my mind');
    await assert.rejects(
      world.db.transaction(async (tx) => {
        await credit(tx, movement(100n), now());
        assert.equal(await readBalance(tx, customerId), 100n);
        throw mine;
      }),
      mine,
    );
    assert.deepEqual([await balance(), await count()], [0n, 0]);
  });
});

test('a ledger entry in the REST shape is signed, in dollars, and names its resource', () => {
  const [id, serverId] = [newId(now()), newId(now())];
  const entry = ledgerEntryObject({
    id,
    type: 'charge',
    amountCents: -1130n,
    balanceAfterCents: -5n,
    resource: { kind: 'server', id: serverId },
    description: 's2 in par, 3 months',
    createdAt: new Date('2030-01-31T12:00:00.999Z'),
  });
  assert.deepEqual(entry, {
    id: formatId('ledgerEntry', id),
    object: 'ledger_entry',
    type: 'charge',
    amount_usd: -11.3,
    balance_after_usd: -0.05,
    resource: formatId('server', serverId),
    description: 's2 in par, 3 months',
    created_at: '2030-01-31T12:00:00Z',
  });
});

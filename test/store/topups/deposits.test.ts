import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { type DepositRow, listDeposits, saveDeposits } from '../../../src/store/topups/deposits.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';

const TOPUP = randomUUID();
const SEEN: DepositRow = {
  coin: 'ETH',
  key: 'seen',
  topup_id: TOPUP,
  txid: 'tx-1',
  amount_units: 123_456_789_012_345_678_901_234_567_890n,
  state: 'mempool',
  confirmations: 0,
  height: null,
  block_hash: null,
  included_at: null,
  rate_at_inclusion: null,
  quotes_at_inclusion: [],
  agreed: false,
  held: false,
  refunded_at: null,
  credits: 0,
  credited_cents: null,
  credit_transfer_id: null,
  first_seen_at: new Date('2030-05-01T12:00:00.123Z'),
};
const CREDITED: DepositRow = {
  ...SEEN,
  key: 'paid {"a,b"}',
  state: 'final',
  confirmations: 12,
  height: 7_000_000,
  block_hash: '0xabc',
  included_at: new Date('2030-05-01T12:01:00Z'),
  rate_at_inclusion: '2500.50',
  quotes_at_inclusion: [
    { source: 'a "quoted\\" {name}', usd: '2500', at: '2030-05-01T12:00:00Z' },
    { source: 'b', usd: '2501', at: '2030-05-01T12:00:01Z' },
  ],
  agreed: true,
  credits: 2,
  credited_cents: 9_007_199_254_740_993n,
  credit_transfer_id: randomUUID(),
  first_seen_at: new Date('2030-05-01T12:00:01Z'),
};

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 1 });
  // The rows that deposits refer to do not matter here.
  await scratch.db.run(
    `alter table deposits drop constraint deposits_topup_id_fkey,
                          drop constraint deposits_credit_transfer_id_fkey`,
  );
});
after(() => scratch.close());

it('deposits are stored and changed without loss', async () => {
  await saveDeposits(scratch.db, [SEEN, CREDITED]);
  assert.deepEqual(await listDeposits(scratch.db, TOPUP), [SEEN, CREDITED]);
  const refunded = {
    ...CREDITED,
    key: SEEN.key,
    first_seen_at: SEEN.first_seen_at,
    refunded_at: new Date(0),
  };
  await saveDeposits(scratch.db, [refunded]);
  assert.deepEqual(await listDeposits(scratch.db, TOPUP), [refunded, CREDITED]);
});

it('a deposit that lacks a property is rejected', async () => {
  const { included_at: _, ...incomplete } = SEEN;
  await assert.rejects(saveDeposits(scratch.db, [incomplete as DepositRow]), /no value for \$included_at/);
});

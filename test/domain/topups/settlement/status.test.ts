import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Invoice } from '../../../../src/domain/topups/settlement/pricing.ts';
import {
  type StatusPayment,
  topupStatus,
  topupTransitions,
} from '../../../../src/domain/topups/settlement/status.ts';
import { TOPUP_STATUSES, TOPUP_TRANSITIONS } from '../../../../src/spec/states.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';

const END = new Date('2030-01-01T12:00:00Z');

/** 100.00 at 50,000 per coin: 200,000 units, 20 units per cent. */
const INVOICE: Invoice = {
  coin: 'BTC',
  amount_cents: 10_000n,
  deposit_units: 200_000n,
  rate_usd: '50000',
  expires_at: END,
};

function payment(units: number, rest: Partial<StatusPayment> = {}): StatusPayment {
  return {
    amount_units: BigInt(units),
    state: 'included',
    included_at: END,
    rate_at_inclusion: null,
    refunded_at: null,
    credits: 0,
    credited_cents: null,
    ...rest,
  };
}

const anyPayment: fc.Arbitrary<StatusPayment> = fc
  .record({
    units: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 500_000 })),
    state: fc.constantFrom('mempool', 'included', 'final', 'removed', 'conflicted' as const),
    late: fc.boolean(),
    counted: fc.boolean(),
    refunded: fc.boolean(),
  })
  .map(({ units, state, late, counted, refunded }) =>
    payment(units, {
      state: state as StatusPayment['state'],
      included_at: late ? new Date(END.getTime() + 86_400_000) : END,
      rate_at_inclusion: late ? '45000' : null,
      credited_cents: counted ? 1n : null,
      refunded_at: refunded ? END : null,
    }),
  );

test('the status of an invoice depends only on its payments and its expiry', () => {
  fc.assert(
    fc.property(fc.array(anyPayment, { maxLength: 6 }), fc.boolean(), (payments, over) => {
      const status = topupStatus(INVOICE, payments, over);
      assert.ok(TOPUP_STATUSES.includes(status));
      assert.equal(topupStatus(INVOICE, [...payments].reverse(), over), status);
      const other = topupStatus(INVOICE, payments, !over);
      const open = status === 'pending' || status === 'expired';
      assert.equal(other === status, !open);
    }),
    { numRuns: PROPERTY_RUNS },
  );
});

test('the transition table connects all reachable statuses', () => {
  for (const from of TOPUP_STATUSES) {
    for (const to of TOPUP_STATUSES) {
      // Time does not run backward: an expired invoice stays expired.
      if (from === 'expired' && to === 'pending') continue;
      const moves = topupTransitions(from, to, false);
      assert.equal(moves.length === 0, from === to);
      for (const move of moves) assert.ok(TOPUP_TRANSITIONS.some((row) => row === move));
      assert.equal(moves.at(-1)?.to ?? to, to);
      // Credits change only through `confirming`.
      const throughConfirming = [from, ...moves.map((move) => move.to)].includes('confirming');
      if (from !== to && [from, to].includes('credited')) assert.ok(throughConfirming);
    }
  }
});

test('a payment in the mempool or without enough confirmations makes an invoice confirming', () => {
  assert.equal(topupStatus(INVOICE, [payment(200_000, { state: 'mempool' })], false), 'confirming');
  assert.equal(topupStatus(INVOICE, [payment(200_000)], true), 'confirming');
});

test('an invoice is credited when all arrived payments count', () => {
  const counted = payment(200_000, { credited_cents: 10_000n });
  assert.equal(topupStatus(INVOICE, [counted], true), 'credited');
  assert.equal(topupStatus(INVOICE, [counted, payment(5_000)], true), 'confirming');
});

test('dust alone does not change the status', () => {
  assert.equal(topupStatus(INVOICE, [payment(19)], false), 'pending');
  assert.equal(topupStatus(INVOICE, [payment(19), payment(19)], false), 'confirming');
  const counted = payment(200_000, { credited_cents: 10_000n });
  assert.equal(topupStatus(INVOICE, [counted, payment(19)], false), 'credited');
});

test('payments that left the chain or were refunded do not count', () => {
  const gone = [
    payment(200_000, { state: 'removed' }),
    payment(200_000, { state: 'conflicted' }),
    payment(200_000, { refunded_at: END }),
  ];
  assert.equal(topupStatus(INVOICE, gone, false), 'pending');
  assert.equal(topupStatus(INVOICE, gone, true), 'expired');
});

test('a credited payment that left the chain is awaited, unless it cannot return', () => {
  const left = payment(200_000, { state: 'removed', credits: 1 });
  assert.equal(topupStatus(INVOICE, [left], true), 'confirming');
  assert.equal(topupStatus(INVOICE, [{ ...left, state: 'conflicted' }], true), 'expired');
  assert.equal(topupStatus(INVOICE, [left, payment(200_000, { credited_cents: 10_000n })], true), 'credited');
});

test('a credited invoice whose credit changes passes through confirming', () => {
  assert.deepEqual(
    topupTransitions('credited', 'credited', true).map((move) => move.event),
    ['topup.pending', 'topup.confirmed'],
  );
  assert.deepEqual(topupTransitions('confirming', 'confirming', true), []);
});

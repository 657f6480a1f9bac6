import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Topup } from '@skerry/sdk';
import { upload } from '../../../packages/cli/src/commands/image.ts';
import { COINS, type CoinCode, coinAmountFor } from '../../../packages/cli/src/commands/topup/coins.ts';
import { describeOutcome, describeProgress } from '../../../packages/cli/src/commands/topup/payment.ts';
import * as known from '../../../packages/cli/src/limits.ts';
import { coinUnitsDue, formatUnits } from '../../../src/kernel/money.ts';
import { COINS as CONTRACT_COINS } from '../../../src/spec/coins.ts';
import { BONUS_TIERS_USD, CYCLE_MONTHS, LIMITS } from '../../../src/spec/limits.ts';

const IN_TIME = new Date('2026-03-01T16:00:00Z');
const LATE = new Date('2026-03-01T16:00:01Z');
const TOPUP = {
  id: 'top_a',
  status: 'credited',
  coin: 'LTC',
  network: 'Litecoin',
  amount_usd: 100,
  bonus_usd: 0,
  deposit_address: 'ltc1q',
  rate_usd: '80',
  credited_usd: 40,
  credit_held: false,
  expires_at: '2026-03-01T13:00:00Z',
  confirmations: 1,
  required_confirmations: 2,
} as Topup;
const outcomeText = (more: Partial<Topup>, now: Date | null) => {
  return describeOutcome({ ...TOPUP, ...more }, now).join('\n');
};

it('while the rate is locked, the rest of an underpaid top-up goes to the same address', () => {
  const text = outcomeText({}, IN_TIME);
  assert.match(text, /\$60\.00 less than requested.*in a block by 2026-03-01 16:00 UTC/s);
  assert.match(text, /Send +0\.75 LTC\nto +ltc1q\non network +Litecoin/);
  assert.doesNotMatch(text, /another top-up/);
});

it('after the rate lock, a different amount is not called an under- or overpayment', () => {
  const less = outcomeText({ credited_usd: 75 }, LATE);
  assert.match(less, /\$25\.00 less than the amount.*after 2026-03-01 16:00 UTC are credited at/s);
  assert.match(less, /create another top-up/);
  assert.doesNotMatch(less, /less than requested|ltc1q/);
  const more = outcomeText({ credited_usd: 110 }, LATE);
  assert.match(more, /\$10\.00 more than the amount/);
  assert.doesNotMatch(more, /You paid/);
  assert.match(outcomeText({ credited_usd: 110 }, IN_TIME), /You paid \$10\.00 more than requested/);
  assert.doesNotMatch(outcomeText({}, null), /another top-up|less than requested/, 'the clock is unknown');
  assert.equal(outcomeText({ credited_usd: 100 }, null), '$100.00 is on your balance.');
});

it('progress shows the remaining time only if there is some, and nothing after the wait', () => {
  const progress = (status: Topup['status'], leftMs: number | null) =>
    describeProgress({ ...TOPUP, status }, leftMs);
  assert.equal(progress('pending', 119_999), 'waiting for the payment … 1 minute left');
  assert.equal(progress('pending', 59_999), 'waiting for the payment … less than a minute left');
  assert.equal(progress('pending', 0), 'waiting for the payment …');
  assert.equal(progress('pending', null), 'waiting for the payment …');
  assert.equal(progress('confirming', 0), 'payment received: 1 of 2 confirmations');
  assert.deepEqual([progress('credited', 9e5), progress('expired', 9e5)], ['', '']);
});

it('the rest of a payment in coins equals the amount that the service requests', () => {
  for (const [cents, rate] of [
    [1, '64321.987'],
    [6_000, '80'],
    [999_999, '0.1234567'],
    [70_010, '3'],
  ] as const) {
    for (const { code, decimals } of CONTRACT_COINS) {
      const asked = formatUnits(coinUnitsDue(BigInt(cents), rate, decimals), decimals);
      assert.equal(coinAmountFor(cents / 100, rate, code as CoinCode), asked, `${cents} ${rate} ${code}`);
    }
  }
});

it('the limits of the CLI equal those of the API', () => {
  assert.deepEqual(
    {
      topup: [known.TOPUP_MIN_USD, known.TOPUP_MAX_USD],
      tiers: known.BONUS_TIERS_USD,
      grace: known.RATE_GRACE_HOURS,
      cycles: [known.CYCLE_MONTHS, known.CYCLES],
      volume: [known.VOLUME_MIN_GB, known.VOLUME_MAX_GB],
      userData: known.USER_DATA_MAX_BYTES,
      image: [known.IMAGE_MAX_BYTES, known.IMAGE_UPLOADS_MAX],
      coins: Object.entries(COINS).map(([code, { network, decimals }]) => ({ code, network, decimals })),
    },
    {
      topup: [Number(LIMITS.topupMinCents) / 100, Number(LIMITS.topupMaxCents) / 100],
      tiers: BONUS_TIERS_USD,
      grace: LIMITS.rateLockGraceHours,
      cycles: [CYCLE_MONTHS, CYCLE_MONTHS.map(String)],
      volume: [LIMITS.volumeMinGb, LIMITS.volumeMaxGb],
      userData: LIMITS.userDataMaxBytes,
      image: [LIMITS.imageUploadMaxBytes, LIMITS.imageUploadsConcurrent],
      coins: CONTRACT_COINS.map(({ code, network, decimals }) => ({ code, network, decimals })),
    },
  );
});

it('the help of image upload says how many uploads can be in progress', () => {
  assert.ok(upload.help?.includes(`${LIMITS.imageUploadsConcurrent} uploads in progress`));
});

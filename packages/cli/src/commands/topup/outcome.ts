/** What came of a top-up, and what is not as it was asked. */
import type { Topup } from '@skerry/sdk';
import { RATE_GRACE_HOURS } from '../../limits.ts';
import { time } from '../../output/columns.ts';
import { COINS, coinsFor } from './coins.ts';
import { bonusOf, dollars, onlyOn } from './words.ts';

const HOUR_MS = 60 * 60_000;

/**
 * Empty while nothing has come of it. `now`: the service's clock; null: it is not known. The service does not say when a payment
 * came into its block. As long as a block still has the locked rate all that is credited has it, too; afterwards nobody can tell a
 * late payment from one that was not as asked.
 */
export function outcome(topup: Topup, now: Date | null): string[] {
  if (topup.credit_held) return held(topup);
  if (topup.status === 'expired') return [...EXPIRED];
  if (topup.status !== 'credited') return [];
  const lines = [`${dollars(topup.credited_usd)} is on your balance${bonusOf(topup)}.`];
  const over = overUsd(topup);
  if (over === 0) return lines;
  const until = countsUntil(topup);
  if (now !== null && now <= until)
    return [...lines, ...(over > 0 ? [MORE(over)] : rest(topup, -over, until))];
  const rate = `what was in a block after ${at(until)} counts at the rate of that moment`;
  if (over > 0) {
    return [
      ...lines,
      `That is ${dollars(over)} more than the amount of this top-up: all of it counts, and`,
      `${rate}.`,
    ];
  }
  return [
    ...lines,
    `That is ${dollars(-over)} less than the amount of this top-up: all that arrived counts, and`,
    `${rate}.`,
    ...(now === null ? [] : ['Its rate is not kept any more: to pay in more, make another top-up.']),
  ];
}

/** More than was asked, in dollars; below zero: less. 0 as well while nothing is credited. */
export function overUsd(topup: Topup): number {
  if (topup.status !== 'credited') return 0;
  return Math.round((topup.credited_usd - topup.amount_usd) * 100) / 100;
}

function rest(topup: Topup, missingUsd: number, until: Date): string[] {
  const { unit } = COINS[topup.coin];
  return [
    `${dollars(missingUsd)} less arrived than was asked. What arrived counts, and you can leave it at that.`,
    `To pay the rest at the same rate, to the same address, so that it is in a block by ${at(until)}:`,
    `Send           ${coinsFor(missingUsd, topup.rate_usd, topup.coin)} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    'The bonus goes by all that is paid to this address. Later it counts at the rate of that moment.',
    onlyOn(topup),
  ];
}

const MORE = (usd: number) => `You paid more than was asked: all of it counts, ${dollars(usd)} more.`;

export function held({ id, network }: Topup): string[] {
  return [
    'Your payment arrived and is confirmed, but it was not credited: credits are held at the moment. Nothing is lost.',
    `Write to the operator, name this top-up, ${id}, and an address of yours on ${network}, and say whether you want it`,
    'credited later or refunded.',
  ];
}

export const EXPIRED: readonly string[] = [
  'The time for this top-up is over. Do not pay it any more: make a new one.',
  'A payment that is on its way is not lost, it is credited: at the rate of this top-up, or when it comes much later,',
  'at the rate of that moment.',
];

function countsUntil({ expires_at }: Topup): Date {
  return new Date(Date.parse(expires_at) + RATE_GRACE_HOURS * HOUR_MS);
}

function at(moment: Date): string {
  return `${time(moment.toISOString())} UTC`;
}

/** What came of a top-up, and what is not as it was asked. */
import type { Topup } from '@skerry/sdk';
import { RATE_GRACE_HOURS } from '../../limits.ts';
import { formatTime } from '../../output/columns.ts';
import { COINS, coinAmountFor } from './coins.ts';
import { describeBonus, formatDollars, networkWarning } from './messages.ts';

const HOUR_MS = 60 * 60_000;

/**
 * Empty while nothing has come of it. `now`: the service's clock; null: it is not known. The service does not say when a payment
 * came into its block. As long as a block still has the locked rate all that is credited has it, too; afterwards nobody can tell a
 * late payment from one that was not as asked.
 */
export function describeOutcome(topup: Topup, now: Date | null): string[] {
  if (topup.credit_held) return withheldLines(topup);
  if (topup.status === 'expired') return [...EXPIRED_LINES];
  if (topup.status !== 'credited') return [];
  const lines = [`${formatDollars(topup.credited_usd)} is on your balance${describeBonus(topup)}.`];
  const overpaid = overpaidUsd(topup);
  if (overpaid === 0) return lines;
  const until = rateLockedUntil(topup);
  if (now !== null && now <= until)
    return [...lines, ...(overpaid > 0 ? [overpaidLine(overpaid)] : underpaidLines(topup, -overpaid, until))];
  const rate = `what was in a block after ${formatUtc(until)} counts at the rate of that moment`;
  if (overpaid > 0) {
    return [
      ...lines,
      `That is ${formatDollars(overpaid)} more than the amount of this top-up: all of it counts, and`,
      `${rate}.`,
    ];
  }
  return [
    ...lines,
    `That is ${formatDollars(-overpaid)} less than the amount of this top-up: all that arrived counts, and`,
    `${rate}.`,
    ...(now === null ? [] : ['Its rate is not kept any more: to pay in more, make another top-up.']),
  ];
}

/** More than was asked, in dollars; below zero: less. 0 as well while nothing is credited. */
export function overpaidUsd(topup: Topup): number {
  if (topup.status !== 'credited') return 0;
  return Math.round((topup.credited_usd - topup.amount_usd) * 100) / 100;
}

function underpaidLines(topup: Topup, missingUsd: number, until: Date): string[] {
  const { unit } = COINS[topup.coin];
  return [
    `${formatDollars(missingUsd)} less arrived than was asked. What arrived counts, and you can leave it at that.`,
    `To pay the rest at the same rate, to the same address, so that it is in a block by ${formatUtc(until)}:`,
    `Send           ${coinAmountFor(missingUsd, topup.rate_usd, topup.coin)} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    'The bonus goes by all that is paid to this address. Later it counts at the rate of that moment.',
    networkWarning(topup),
  ];
}

const overpaidLine = (usd: number) =>
  `You paid more than was asked: all of it counts, ${formatDollars(usd)} more.`;

export function withheldLines({ id, network }: Topup): string[] {
  return [
    'Your payment arrived and is confirmed, but it was not credited: credits are held at the moment. Nothing is lost.',
    `Write to the operator, name this top-up, ${id}, and an address of yours on ${network}, and say whether you want it`,
    'credited later or refunded.',
  ];
}

export const EXPIRED_LINES: readonly string[] = [
  'The time for this top-up is over. Do not pay it any more: make a new one.',
  'A payment that is on its way is not lost, it is credited: at the rate of this top-up, or when it comes much later,',
  'at the rate of that moment.',
];

function rateLockedUntil({ expires_at }: Topup): Date {
  return new Date(Date.parse(expires_at) + RATE_GRACE_HOURS * HOUR_MS);
}

function formatUtc(moment: Date): string {
  return `${formatTime(moment.toISOString())} UTC`;
}

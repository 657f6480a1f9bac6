/** Messages about a top-up. They match the texts of the panel. */
import type { Topup } from '@skerry/sdk';
import { RATE_GRACE_HOURS } from '../../limits.ts';
import { formatTime } from '../../output/format.ts';
import { COINS, coinAmountFor } from './coins.ts';

const MINUTE_MS = 60_000;

export function formatDollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

/** Returns the instructions for a payment. */
export function paymentInstructions(topup: Topup): string[] {
  const { unit } = COINS[topup.coin];
  const credited = `${formatDollars(topup.amount_usd)}${describeBonus(topup)}`;
  return [
    `Top-up         ${topup.id}`,
    `Send exactly   ${topup.deposit_amount} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    `Credited       ${credited}, after ${formatConfirmations(topup.required_confirmations)}`,
    `Rate           $${topup.rate_usd} per ${unit}, locked until ${formatTime(topup.expires_at)} UTC`,
    '',
    networkWarning(topup),
  ];
}

/** Describes the progress; '' without one to wait for. `remainingMs`: the time until the rate expires. */
export function describeProgress(topup: Topup, remainingMs: number | null): string {
  if (topup.status === 'confirming')
    return `payment received: ${topup.confirmations} of ${formatConfirmations(topup.required_confirmations)}`;
  if (topup.status !== 'pending') return '';
  // The time is up, but the service has not expired the top-up yet.
  const left = remainingMs === null || remainingMs <= 0 ? '' : ` ${formatMinutes(remainingMs)} left`;
  return `waiting for the payment …${left}`;
}

function describeBonus({ bonus_usd }: Topup): string {
  return bonus_usd > 0 ? ` plus a bonus of ${formatDollars(bonus_usd)}` : '';
}

/** A warning that must appear wherever an address is shown. */
export function networkWarning({ coin, network }: Topup): string {
  const { name, unit } = COINS[coin];
  return `Send only ${name} (${unit}) on ${network}. Anything else is lost.`;
}

/** Rounds down: never promises more time than there is. */
function formatMinutes(remainingMs: number): string {
  const left = Math.floor(remainingMs / MINUTE_MS);
  if (left === 0) return 'less than a minute';
  return left === 1 ? '1 minute' : `${left} minutes`;
}

function formatConfirmations(count: number): string {
  return count === 1 ? '1 confirmation' : `${count} confirmations`;
}

const HOUR_MS = 60 * 60_000;

/**
 * Returns no lines while there is no outcome. `now` is the service's clock; null if unknown. Until the rate
 * lock and its grace period end, any difference is a difference in the amount paid. After that, it may also
 * come from a new rate, and the service does not report which: it omits the time of a payment's block.
 */
export function describeOutcome(topup: Topup, now: Date | null): string[] {
  if (topup.credit_held) return withheldLines(topup);
  if (topup.status === 'expired') return [...EXPIRED_LINES];
  if (topup.status !== 'credited') return [];
  const lines = [`${formatDollars(topup.credited_usd)} is on your balance${describeBonus(topup)}.`];
  const overpaid = overpaidUsd(topup);
  if (overpaid === 0) return lines;
  const until = new Date(Date.parse(topup.expires_at) + RATE_GRACE_HOURS * HOUR_MS);
  if (now !== null && now <= until)
    return [...lines, ...(overpaid > 0 ? [overpaidLine(overpaid)] : underpaidLines(topup, -overpaid, until))];
  const rate = `payments in a block after ${formatUtc(until)} are credited at the rate at that time`;
  if (overpaid > 0) {
    return [
      ...lines,
      `That is ${formatDollars(overpaid)} more than the amount of this top-up. The full payment is credited;`,
      `${rate}.`,
    ];
  }
  return [
    ...lines,
    `That is ${formatDollars(-overpaid)} less than the amount of this top-up. The full payment is credited;`,
    `${rate}.`,
    ...(now === null ? [] : ['The locked rate has expired. To pay more, create another top-up.']),
  ];
}

/** Returns dollars above the requested amount, negative for a shortfall; 0 while nothing is credited. */
export function overpaidUsd(topup: Topup): number {
  if (topup.status !== 'credited') return 0;
  return Math.round((topup.credited_usd - topup.amount_usd) * 100) / 100;
}

function underpaidLines(topup: Topup, missingUsd: number, until: Date): string[] {
  const { unit } = COINS[topup.coin];
  return [
    `You paid ${formatDollars(missingUsd)} less than requested. The amount you paid is credited.`,
    `To pay the rest at the same rate, send it to the same address`,
    `early enough to be in a block by ${formatUtc(until)}:`,
    `Send           ${coinAmountFor(missingUsd, topup.rate_usd, topup.coin)} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    'The bonus depends on the total paid to this address. Later payments are credited at the rate',
    'at that time.',
    networkWarning(topup),
  ];
}

const overpaidLine = (usd: number) =>
  `You paid ${formatDollars(usd)} more than requested. The full payment is credited.`;

export function withheldLines({ id, network }: Topup): string[] {
  return [
    'Your payment is confirmed but not credited: credits are currently withheld. Your money is not lost.',
    `Contact the operator. Include this top-up, ${id}, and one of your addresses on ${network},`,
    'and say whether you want the payment credited later or refunded.',
  ];
}

export const EXPIRED_LINES: readonly string[] = [
  'This top-up has expired. Do not pay it; create a new one.',
  'If you have already paid, your payment is not lost. It is credited at the rate of this top-up',
  `if its block is at most ${RATE_GRACE_HOURS} hours after the expiration,`,
  'otherwise at the rate at that time.',
];

function formatUtc(moment: Date): string {
  return `${formatTime(moment.toISOString())} UTC`;
}

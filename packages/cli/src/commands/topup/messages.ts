/** Messages about a top-up. They match the texts of the panel. */
import type { Topup } from '@skerry/sdk';
import { formatTime } from '../../output/columns.ts';
import { COINS } from './coins.ts';

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

/**
 * Describes the progress; '' if there is nothing to wait for. `remainingMs` is the time until the rate
 * expires.
 */
export function describeProgress(topup: Topup, remainingMs: number | null): string {
  if (topup.status === 'confirming')
    return `payment received: ${topup.confirmations} of ${formatConfirmations(topup.required_confirmations)}`;
  if (topup.status !== 'pending') return '';
  // The time is up, but the service has not expired the top-up yet.
  const left = remainingMs === null || remainingMs <= 0 ? '' : ` ${formatMinutes(remainingMs)} left`;
  return `waiting for the payment …${left}`;
}

export function describeBonus({ bonus_usd }: Topup): string {
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

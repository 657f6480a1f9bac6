/** What is said of a top-up, in the words of the host's own pages. */
import type { Topup } from '@skerry/sdk';
import { formatTime } from '../../output/columns.ts';
import { COINS } from './coins.ts';

const MINUTE_MS = 60_000;

export function formatDollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

/** How to pay it. */
export function paymentInstructions(topup: Topup): string[] {
  const { unit } = COINS[topup.coin];
  return [
    `Top-up         ${topup.id}`,
    `Send exactly   ${topup.deposit_amount} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    `Credited       ${formatDollars(topup.amount_usd)}${describeBonus(topup)}, after ${formatConfirmations(topup.required_confirmations)}`,
    `Rate           $${topup.rate_usd} for 1 ${unit}, kept until ${formatTime(topup.expires_at)} UTC`,
    '',
    networkWarning(topup),
  ];
}

/** What it is at, while somebody waits; '' when there is nothing to wait for. `leftMs`: until the rate is kept no longer. */
export function describeProgress(topup: Topup, remainingMs: number | null): string {
  if (topup.status === 'confirming')
    return `paid; ${topup.confirmations} of ${formatConfirmations(topup.required_confirmations)} …`;
  if (topup.status !== 'pending') return '';
  // Over, and the service has not said so yet: no time is left to speak of.
  const left = remainingMs === null || remainingMs <= 0 ? '' : ` ${formatMinutes(remainingMs)} left`;
  return `waiting for the payment …${left}`;
}

export function describeBonus({ bonus_usd }: Topup): string {
  return bonus_usd > 0 ? `, and a bonus of ${formatDollars(bonus_usd)}` : '';
}

/** What must not be missed wherever an address stands. */
export function networkWarning({ coin, network }: Topup): string {
  const { name, unit } = COINS[coin];
  return `Send only ${name} (${unit}) on ${network}. Another coin, or the same one on another network, is lost.`;
}

/** Rounded down: nobody is told of a minute that is not there. */
function formatMinutes(remainingMs: number): string {
  const left = Math.floor(remainingMs / MINUTE_MS);
  if (left === 0) return 'less than a minute';
  return left === 1 ? '1 minute' : `${left} minutes`;
}

function formatConfirmations(count: number): string {
  return count === 1 ? '1 confirmation' : `${count} confirmations`;
}

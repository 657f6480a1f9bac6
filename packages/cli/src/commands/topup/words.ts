/** What is said of a top-up, in the words of the host's own pages. */
import type { Topup } from '@skerry/sdk';
import { time } from '../../output/columns.ts';
import { COINS } from './coins.ts';

const MINUTE_MS = 60_000;

export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

/** How to pay it. */
export function howToPay(topup: Topup): string[] {
  const { unit } = COINS[topup.coin];
  return [
    `Top-up         ${topup.id}`,
    `Send exactly   ${topup.deposit_amount} ${unit}`,
    `to             ${topup.deposit_address}`,
    `on network     ${topup.network}`,
    `Credited       ${dollars(topup.amount_usd)}${bonusOf(topup)}, after ${confirmations(topup.required_confirmations)}`,
    `Rate           $${topup.rate_usd} for 1 ${unit}, kept until ${time(topup.expires_at)} UTC`,
    '',
    onlyOn(topup),
  ];
}

/** What it is at, while somebody waits; '' when there is nothing to wait for. `leftMs`: until the rate is kept no longer. */
export function progressOf(topup: Topup, leftMs: number | null): string {
  if (topup.status === 'confirming')
    return `paid; ${topup.confirmations} of ${confirmations(topup.required_confirmations)} …`;
  if (topup.status !== 'pending') return '';
  // Over, and the service has not said so yet: no time is left to speak of.
  const left = leftMs === null || leftMs <= 0 ? '' : ` ${minutes(leftMs)} left`;
  return `waiting for the payment …${left}`;
}

export function bonusOf({ bonus_usd }: Topup): string {
  return bonus_usd > 0 ? `, and a bonus of ${dollars(bonus_usd)}` : '';
}

/** What must not be missed wherever an address stands. */
export function onlyOn({ coin, network }: Topup): string {
  const { name, unit } = COINS[coin];
  return `Send only ${name} (${unit}) on ${network}. Another coin, or the same one on another network, is lost.`;
}

/** Rounded down: nobody is told of a minute that is not there. */
function minutes(leftMs: number): string {
  const left = Math.floor(leftMs / MINUTE_MS);
  if (left === 0) return 'less than a minute';
  return left === 1 ? '1 minute' : `${left} minutes`;
}

function confirmations(count: number): string {
  return count === 1 ? '1 confirmation' : `${count} confirmations`;
}

/** Addresses in words. */
import type { CoinCode } from '../spec/coins.ts';
import { formatCoinAmount } from './topup-format.ts';

export const ADDRESS_HEADING: readonly string[] = [
  'number',
  'below the account',
  'coin',
  'address',
  '',
  'came in',
];

export interface AddressLine {
  readonly number: number;
  readonly path: string;
  /** Null: given to nobody. */
  readonly coin: CoinCode | null;
  readonly address: string;
  readonly given: { readonly units: bigint } | null;
}

export function addressRow({ number, path, coin, address, given }: AddressLine): string[] {
  const state = coin === null ? 'given to nobody' : given === null ? '' : 'given out';
  const units = given?.units ?? 0n;
  return [
    String(number),
    path,
    coin ?? '',
    address,
    state,
    coin && units > 0n ? formatCoinAmount(units, coin) : '',
  ];
}

/** Why there are no addresses to print. */
export function explainNoAddresses(coin: CoinCode, isLive: boolean): string {
  if (!isLive) return 'a sandbox has simulated coins: no wallet of yours has their addresses';
  return `${coin} is not taken: docs/operators/coins.md says which settings it needs`;
}

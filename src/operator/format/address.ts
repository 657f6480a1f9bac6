/** Formats coin addresses for the operator's commands. */
import type { CoinCode } from '../../spec/coins.ts';
import { formatCoinAmount } from './topup.ts';

export const ADDRESS_HEADING: readonly string[] = ['number', 'path', 'coin', 'address', '', 'received'];

export interface AddressLine {
  readonly number: number;
  readonly path: string;
  /** Null if the address belongs to no coin. */
  readonly coin: CoinCode | null;
  readonly address: string;
  readonly given: { readonly units: bigint } | null;
}

export function addressRow({ number, path, coin, address, given }: AddressLine): string[] {
  const state = coin === null ? 'unused' : given === null ? '' : 'given out';
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

/** Explains why there are no addresses to print. */
export function explainNoAddresses(coin: CoinCode, isLive: boolean): string {
  if (!isLive) return 'a sandbox has simulated coins: their addresses belong to no wallet';
  return `${coin} is not enabled: see docs/operators/coins.md for the settings it needs`;
}

/** The coins that a top-up can be paid in: SPEC's list, in its order. */

export interface Coin {
  readonly code: string;
  /** Always shown next to the coin: a payment on another network is lost. */
  readonly network: string;
  /** Decimal places of one whole coin. */
  readonly decimals: number;
  /** Required confirmations from each amount in whole US dollars, in ascending order. */
  readonly confirmations: readonly (readonly [fromUsd: number, confirmations: number])[];
}

export const COINS = [
  {
    code: 'BTC',
    network: 'Bitcoin',
    decimals: 8,
    confirmations: [
      [0, 1],
      [1000, 2],
      [5000, 3],
    ],
  },
  {
    code: 'XMR',
    network: 'Monero',
    decimals: 12,
    confirmations: [
      [0, 10],
      [5000, 15],
    ],
  },
  {
    code: 'ETH',
    network: 'Ethereum',
    decimals: 18,
    confirmations: [
      [0, 12],
      [1000, 18],
      [5000, 24],
    ],
  },
  {
    code: 'USDT',
    network: 'Ethereum (ERC-20)',
    decimals: 6,
    confirmations: [
      [0, 12],
      [1000, 18],
      [5000, 24],
    ],
  },
  {
    code: 'USDTTRC',
    network: 'Tron (TRC-20)',
    decimals: 6,
    confirmations: [
      [0, 19],
      [5000, 24],
    ],
  },
  {
    code: 'LTC',
    network: 'Litecoin',
    decimals: 8,
    confirmations: [
      [0, 2],
      [1000, 4],
      [5000, 6],
    ],
  },
  {
    code: 'TRX',
    network: 'Tron',
    decimals: 6,
    confirmations: [
      [0, 19],
      [5000, 24],
    ],
  },
  {
    code: 'SOL',
    network: 'Solana',
    decimals: 9,
    confirmations: [
      [0, 1],
      [5000, 2],
    ],
  },
] as const satisfies readonly Coin[];

export type CoinCode = (typeof COINS)[number]['code'];

export const COIN_CODES: readonly CoinCode[] = COINS.map((coin) => coin.code);

const BY_CODE: ReadonlyMap<string, Coin> = new Map(COINS.map((coin) => [coin.code, coin]));

export function isCoinCode(code: string): code is CoinCode {
  return BY_CODE.has(code);
}

export function getCoin(code: string): Coin {
  const found = BY_CODE.get(code);
  if (!found) throw new Error(`unknown coin: ${code}`);
  return found;
}

export function confirmationsNeeded(code: string, amountCents: bigint): number {
  const steps = getCoin(code).confirmations.filter(([fromUsd]) => amountCents >= BigInt(fromUsd) * 100n);
  return Math.max(...steps.map(([, confirmations]) => confirmations), 1);
}

/** Confirmations of the highest step: enough for any amount. */
export function maxConfirmations(code: string): number {
  return Math.max(...getCoin(code).confirmations.map(([, confirmations]) => confirmations));
}

/** What a sandbox caller may ask of the simulated networks. */
import { parseUnits } from '../../../kernel/money.ts';
import { type CoinCode, getCoin as coinOf, isCoinCode } from '../../../spec/coins.ts';

/** The sandbox was asked for what a network would not do. `field` is the input that is wrong. */
export class SimnetInputError extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.name = 'SimnetInputError';
    this.field = field;
  }
}

/** Keeps what a payment is worth, in cents, within 64 bits. */
const MAX_COINS = 1_000_000_000n;

/** Each block is a row: a mistyped count must not fill the disk. */
const MAX_BLOCKS = 1_000;

export function parseCoin(code: string): CoinCode {
  if (!isCoinCode(code)) throw new SimnetInputError('coin', `there is no coin ${JSON.stringify(code)}`);
  return code;
}

/** A decimal coin amount in the coin's smallest unit. */
export function parseAmount(code: CoinCode, text: string): bigint {
  const { decimals } = coinOf(code);
  const units = parseUnits(text, decimals);
  if (units === undefined) {
    throw new SimnetInputError('amount', `a decimal number with at most ${decimals} digits after the point`);
  }
  if (units <= 0n) throw new SimnetInputError('amount', 'must be more than 0');
  if (units >= MAX_COINS * 10n ** BigInt(decimals)) {
    throw new SimnetInputError('amount', `must be less than ${MAX_COINS}`);
  }
  return units;
}

export function parseBlockCount(field: 'count' | 'depth', value: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_BLOCKS) {
    throw new SimnetInputError(field, `must be a whole number from 1 to ${MAX_BLOCKS}`);
  }
  return value;
}

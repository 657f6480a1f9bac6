/** Validation of the sandbox's input for the simulated networks. */
import { parseUnits } from '../../../kernel/money.ts';
import { type CoinCode, getCoin, isCoinCode } from '../../../spec/coins.ts';

/** The input is invalid. `field` names it. */
export class SimnetInputError extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.name = 'SimnetInputError';
    this.field = field;
  }
}

/** Keeps a payment's value, in cents, within 64 bits. */
const MAX_COINS = 1_000_000_000n;

/** Each block is a row: a typo in the count must not fill the disk. */
const MAX_BLOCKS = 1_000;

export function parseCoin(code: string): CoinCode {
  if (!isCoinCode(code)) throw new SimnetInputError('coin', `unknown coin ${JSON.stringify(code)}`);
  return code;
}

/** Parses a decimal amount into the coin's smallest unit. */
export function parseAmount(code: CoinCode, text: string): bigint {
  const { decimals } = getCoin(code);
  const units = parseUnits(text, decimals);
  if (units === undefined) {
    throw new SimnetInputError('amount', `must be a decimal number with at most ${decimals} decimal places`);
  }
  if (units <= 0n) throw new SimnetInputError('amount', 'must be greater than 0');
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

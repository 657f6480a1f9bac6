/** The coins of the API. A test compares them with the API's own table. */
import type { Topup } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { BONUS_TIERS_USD, TOPUP_MAX_USD, TOPUP_MIN_USD } from '../../limits.ts';
import { prompt, type Terminal } from '../../terminal/terminal.ts';

export type CoinCode = Topup['coin'];

interface Coin {
  readonly name: string;
  /** The unit that wallets show; it is the same on both networks of USDT. */
  readonly unit: string;
  readonly network: string;
  /** Decimal places of one coin. */
  readonly decimals: number;
}

export const COINS: Readonly<Record<CoinCode, Coin>> = {
  BTC: { name: 'Bitcoin', unit: 'BTC', network: 'Bitcoin', decimals: 8 },
  XMR: { name: 'Monero', unit: 'XMR', network: 'Monero', decimals: 12 },
  ETH: { name: 'Ether', unit: 'ETH', network: 'Ethereum', decimals: 18 },
  USDT: { name: 'Tether', unit: 'USDT', network: 'Ethereum (ERC-20)', decimals: 6 },
  USDTTRC: { name: 'Tether', unit: 'USDT', network: 'Tron (TRC-20)', decimals: 6 },
  LTC: { name: 'Litecoin', unit: 'LTC', network: 'Litecoin', decimals: 8 },
  TRX: { name: 'Tron', unit: 'TRX', network: 'Tron', decimals: 6 },
  SOL: { name: 'Solana', unit: 'SOL', network: 'Solana', decimals: 9 },
};
export const COIN_CODES = Object.keys(COINS) as CoinCode[];

function isCoin(text: string): text is CoinCode {
  return Object.hasOwn(COINS, text);
}

/** Converts dollars to coins at this rate, rounded up so that the amount is never short. */
export function coinAmountFor(usd: number, rateUsd: string, code: CoinCode): string {
  const { decimals } = COINS[code];
  const [whole = '', fraction = ''] = rateUsd.split('.');
  const dividend = BigInt(Math.round(usd * 100)) * 10n ** BigInt(decimals + fraction.length);
  const divisor = BigInt(whole + fraction) * 100n;
  const digits = ((dividend + divisor - 1n) / divisor).toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}

export async function chooseCoin(terminal: Terminal, given: string | undefined): Promise<CoinCode> {
  if (given !== undefined) return parseCoin(given);
  if (!terminal.isInteractive)
    throw new Failure('usage', `--coin is required: one of ${COIN_CODES.join(', ')}`);
  for (const code of COIN_CODES) {
    const { name, network } = COINS[code];
    terminal.warn(`  ${code.padEnd(8)} ${name.padEnd(9)} on ${network}`);
  }
  return parseCoin(await prompt(terminal, 'Coin: '));
}

export async function chooseAmount(terminal: Terminal, given: number | undefined): Promise<number> {
  if (given !== undefined) return given;
  if (!terminal.isInteractive) throw new Failure('usage', '--amount-usd is required');
  const tiers = BONUS_TIERS_USD.map(([from, bonus]) => `$${bonus} from $${from}`).join(', ');
  terminal.warn(`Bonus: ${tiers}.`);
  const answer = await prompt(terminal, `Amount in US dollars (${TOPUP_MIN_USD} to ${TOPUP_MAX_USD}): `);
  const amount = Number(answer.replace(/^\$/, ''));
  if (answer !== '' && amount >= TOPUP_MIN_USD && amount <= TOPUP_MAX_USD) return amount;
  throw new Failure('usage', `invalid amount; use a number from ${TOPUP_MIN_USD} to ${TOPUP_MAX_USD}`);
}

function parseCoin(text: string): CoinCode {
  const code = text.toUpperCase();
  if (isCoin(code)) return code;
  throw new Failure('usage', `--coin: "${text}" is invalid; use one of: ${COIN_CODES.join(', ')}`);
}

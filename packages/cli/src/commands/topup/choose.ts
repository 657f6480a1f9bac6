/** Takes coin and amount from the options, or asks on a terminal. */
import { Failure } from '../../exit-codes.ts';
import { BONUS_TIERS_USD, TOPUP_MAX_USD, TOPUP_MIN_USD } from '../../limits.ts';
import { prompt, type Terminal } from '../../terminal/terminal.ts';
import { COIN_CODES, COINS, type CoinCode, isCoin } from './coins.ts';

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

/**
 * The sandbox's rates: fixed until someone sets another. Stored in the database, so that all processes agree.
 */
import type { Clock } from '../../kernel/clock.ts';
import { parseUnits } from '../../kernel/money.ts';
import type { Database } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Rate, Rates } from '../../ports/rates.ts';
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import type { Faults } from '../faults.ts';
import { SandboxInputError } from '../sandbox-input-error.ts';

const USD_PER_COIN: Readonly<Record<CoinCode, string>> = {
  BTC: '60000',
  XMR: '150',
  ETH: '3000',
  USDT: '1',
  USDTTRC: '1',
  LTC: '80',
  TRX: '0.12',
  SOL: '150',
};

const EUR_PER_USD = '0.92';

const RATE_DECIMALS = 12;
/** Keeps the value of an invoice, in cents, within 64 bits. */
const MAX_USD = 1_000_000_000n;

export class FixedRates implements Rates {
  readonly #options: { readonly db: Database; readonly clock: Clock; readonly faults?: Faults };

  constructor(options: { db: Database; clock: Clock; faults?: Faults }) {
    this.#options = options;
  }

  async usdPerCoin(coin: string): Promise<Rate> {
    await this.#throwIfFaultArmed('usdPerCoin');
    if (!isCoinCode(coin)) throw new Error(`unknown coin: ${coin}`);
    const set = await this.#options.db.row<{ usd: string }>('select usd from sim.rates where coin = $1', [
      coin,
    ]);
    const usd = set?.usd ?? USD_PER_COIN[coin];
    return { usd, quotes: [{ source: 'sandbox', usd, at: formatRfc3339(this.#options.clock.now()) }] };
  }

  async findUnpriced(): Promise<ReadonlyMap<CoinCode, never>> {
    return new Map<CoinCode, never>();
  }

  async eurPerUsd(): Promise<string> {
    await this.#throwIfFaultArmed('eurPerUsd');
    return EUR_PER_USD;
  }

  /**
   * Sets the price of one whole coin to `usd`, a positive decimal with at most 12 decimal places.
   * Throws SandboxInputError.
   */
  async set(coin: string, usd: string): Promise<void> {
    if (!isCoinCode(coin)) throw new SandboxInputError('coin', `unknown coin ${JSON.stringify(coin)}`);
    const units = parseUnits(usd, RATE_DECIMALS);
    if (units === undefined || units <= 0n || units >= MAX_USD * 10n ** BigInt(RATE_DECIMALS)) {
      throw new SandboxInputError(
        'usd',
        `must be a positive decimal number below ${MAX_USD} with at most ${RATE_DECIMALS} decimal places`,
      );
    }
    await this.#options.db.run(
      'insert into sim.rates (coin, usd) values ($1, $2) on conflict (coin) do update set usd = excluded.usd',
      [coin, usd],
    );
  }

  async #throwIfFaultArmed(operation: 'usdPerCoin' | 'eurPerUsd'): Promise<void> {
    if (await this.#options.faults?.consume('rates', operation)) throw new Error('simulated fault');
  }
}

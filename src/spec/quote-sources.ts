/** Price sources: public feeds, and the symbol of each coin there. */
import { COIN_CODES, type CoinCode } from './coins.ts';

/** A coin with a price of its own. */
export type PricedCoin = Exclude<CoinCode, 'USDTTRC'>;

/** Returns the coin whose price applies: Tether costs the same on either chain. */
export function pricedAs(coin: CoinCode): PricedCoin {
  return coin === 'USDTTRC' ? 'USDT' : coin;
}

/** A coin or the euro: both have a price in US dollars. */
export type PricedAsset = PricedCoin | 'EUR';

export const PRICED_ASSETS: readonly PricedAsset[] = [...new Set(COIN_CODES.map(pricedAs)), 'EUR'];

/** The source of a price that the operator fixed. */
export const FIXED_SOURCE = 'fixed';

export interface QuoteSource {
  readonly url: string;
  /** Seconds between requests. CoinGecko updates prices once a minute and limits requests. */
  readonly intervalS: number;
  /** A missing coin is not listed there. */
  readonly symbols: Readonly<Partial<Record<PricedCoin, string>>>;
}

export const QUOTE_SOURCES = {
  kraken: {
    url: 'https://api.kraken.com',
    intervalS: 30,
    symbols: {
      BTC: 'XXBTZUSD',
      XMR: 'XXMRZUSD',
      ETH: 'XETHZUSD',
      USDT: 'USDTZUSD',
      LTC: 'XLTCZUSD',
      TRX: 'TRXUSD',
      SOL: 'SOLUSD',
    },
  },
  bitfinex: {
    url: 'https://api-pub.bitfinex.com',
    intervalS: 30,
    symbols: {
      BTC: 'tBTCUSD',
      XMR: 'tXMRUSD',
      ETH: 'tETHUSD',
      USDT: 'tUSTUSD',
      LTC: 'tLTCUSD',
      TRX: 'tTRXUSD',
      SOL: 'tSOLUSD',
    },
  },
  coinbase: {
    url: 'https://api.exchange.coinbase.com',
    intervalS: 30,
    symbols: { BTC: 'BTC-USD', ETH: 'ETH-USD', USDT: 'USDT-USD', LTC: 'LTC-USD', SOL: 'SOL-USD' },
  },
  coingecko: {
    url: 'https://api.coingecko.com',
    intervalS: 60,
    symbols: {
      BTC: 'bitcoin',
      XMR: 'monero',
      ETH: 'ethereum',
      USDT: 'tether',
      LTC: 'litecoin',
      TRX: 'tron',
      SOL: 'solana',
    },
  },
} as const satisfies Readonly<Record<string, QuoteSource>>;

export type QuoteSourceName = keyof typeof QUOTE_SOURCES;

export const QUOTE_SOURCE_NAMES = Object.keys(QUOTE_SOURCES) as readonly QuoteSourceName[];

export function isQuoteSource(name: string): name is QuoteSourceName {
  return Object.hasOwn(QUOTE_SOURCES, name);
}

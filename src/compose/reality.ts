/** What a live service has behind its ports: real machines, coins, prices and mails, and nothing simulated. */
import type { Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { MarketRates } from '../drivers/rates/market.ts';
import type { Market } from '../kernel/market-rate.ts';
import { Refusal } from '../kernel/refusal.ts';
import { sqlAddressPool } from '../store/address-pool.ts';
import { listCoinRows } from '../store/coins.ts';
import { findOwnAddresses, findPaidAddresses } from '../store/own-addresses.ts';
import { quoteBook } from '../store/quotes.ts';
import type { Asked } from '../workers/quotes.ts';
import { type RealCoin, realCoins } from './coins.ts';
import { mailServer } from './mail.ts';
import { feedsOf, marketOf } from './market.ts';
import { realCompute } from './qemu.ts';
import type { Drivers } from './simulation.ts';

export interface Reality {
  readonly coins: readonly RealCoin[];
  /** Whose prices count. */
  readonly market: Market;
  /** Who is asked for prices, and for the euro. */
  readonly feeds: Asked;
}

export function openReality(
  config: Config,
  { db, clock, log }: Pick<Service, 'db' | 'clock' | 'log'>,
): { readonly drivers: Drivers; readonly reality: Reality } {
  const compute = realCompute(config, log);
  if (compute === null) {
    throw new Refusal('SKERRY_COMPUTE: a live service sells real machines; set it to qemu');
  }
  const coins = realCoins(config, {
    own: (coin) => (addresses) => findOwnAddresses(db, coin, addresses),
    paid: (coin) => (addresses) => findPaidAddresses(db, coin, addresses),
    pool: (coin) => sqlAddressPool(db, coin, clock),
    count: async (coin) => (await listCoinRows(db)).find(({ code }) => code === coin)?.next_index ?? 0,
    now: () => clock.now(),
    unread: (coin, line) => log.warn({ coin }, line),
  });
  const market = marketOf(config);
  return {
    drivers: {
      compute,
      chains: new Map(coins.map(({ coin, driver }) => [coin, driver])),
      rates: new MarketRates({ book: quoteBook(db), clock, market }),
      mailer: mailServer(config),
    },
    reality: {
      coins,
      market,
      feeds: feedsOf(config),
    },
  };
}

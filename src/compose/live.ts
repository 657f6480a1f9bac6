/** Drivers of a live service: real machines, coins, prices, and mail, and nothing simulated. */
import type { Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { ConfiguredRates } from '../drivers/rates/configured.ts';
import { MarketRates } from '../drivers/rates/market.ts';
import type { Market } from '../kernel/market-rate.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { FixedPrices } from '../kernel/settings/lists.ts';
import { createAddressPool, findOwnAddresses, findPaidAddresses } from '../store/topups/addresses.ts';
import { listCoinRows } from '../store/topups/coins.ts';
import { createQuoteStore } from '../store/topups/quotes.ts';
import type { QuoteSources } from '../workers/quotes.ts';
import { createRealCoins, type RealCoin } from './coins.ts';
import {
  configuredFeeds,
  configuredMarket,
  configuredPrices,
  createMailer,
  createQemuCompute,
} from './drivers.ts';
import type { Drivers } from './simulation.ts';

export interface LiveParts {
  readonly coins: readonly RealCoin[];
  /** The price sources of the rates. */
  readonly market: Market;
  /** The prices that apply instead, unless empty. */
  readonly fixedPrices: FixedPrices;
  /** The feeds to poll: prices, and the euro rate. */
  readonly feeds: QuoteSources;
}

export function createLiveParts(
  config: Config,
  { db, clock, log }: Pick<Service, 'db' | 'clock' | 'log'>,
): { readonly drivers: Drivers; readonly live: LiveParts } {
  const compute = createQemuCompute(config, log);
  if (compute === null) {
    throw new OperatorError('SKERRY_COMPUTE: a live service needs real machines; set it to qemu or hosts');
  }
  const coins = createRealCoins(config, {
    ownAddresses: (coin) => (addresses) => findOwnAddresses(db, coin, addresses),
    paidAddresses: (coin) => (addresses) => findPaidAddresses(db, coin, addresses),
    addressPool: (coin) => createAddressPool(db, coin, clock),
    nextIndex: async (coin) => (await listCoinRows(db)).find(({ code }) => code === coin)?.next_index ?? 0,
    now: () => clock.now(),
    onSkipped: (coin, line) => log.warn({ coin }, line),
  });
  const market = configuredMarket(config);
  const prices = configuredPrices(config);
  const book = createQuoteStore(db);
  return {
    drivers: {
      compute,
      chains: new Map(coins.map(({ coin, driver }) => [coin, driver])),
      rates:
        prices.size > 0
          ? new ConfiguredRates({ prices, clock, book })
          : new MarketRates({ book, clock, market }),
      mailer: createMailer(config),
    },
    live: {
      coins,
      market,
      fixedPrices: prices,
      feeds: configuredFeeds(config),
    },
  };
}

/** Settings of real coins: nodes, public keys, and price sources. */
import { bool, node, number, secret, text, whole } from './rows.ts';

const NODE = 'unset: the coin is not accepted';
const SECOND = 'a second node; a payment is credited only if both nodes have it';

export const COIN_SETTINGS = {
  SKERRY_BTC_URL: node(
    'Bitcoin: your node with its watch-only wallet, http://user:password@127.0.0.1:8332/wallet/skerry; ' +
      NODE,
  ),
  SKERRY_BTC_XPUB: secret('Bitcoin: account public key of your offline wallet, zpub… (m/84’/0’/0’)'),
  SKERRY_BTC_SECOND_URL: node(`Bitcoin: ${SECOND}`),
  SKERRY_LTC_URL: node(
    'Litecoin: your node with its watch-only wallet, http://user:password@127.0.0.1:9332/wallet/skerry; ' +
      NODE,
  ),
  SKERRY_LTC_XPUB: secret(
    'Litecoin: account public key of your offline wallet, zpub… or Ltub… (m/84’/2’/0’)',
  ),
  SKERRY_LTC_SECOND_URL: node(`Litecoin: ${SECOND}`),
  SKERRY_XMR_WALLET_URL: node(
    `Monero: monero-wallet-rpc with the view-only wallet, http://127.0.0.1:18083; ${NODE}`,
  ),
  SKERRY_XMR_DAEMON_URL: node('Monero: the monerod behind this wallet, http://127.0.0.1:18081'),
  SKERRY_XMR_ADDRESS: secret(
    'Monero: primary address of your offline wallet; the view-only wallet must have the same',
  ),
  SKERRY_XMR_SECOND_URL: node('Monero: a second monerod; a payment is credited only if both nodes have it'),
  SKERRY_ETH_URL: node(`Ethereum, for ETH and USDT: your node with tracing, http://127.0.0.1:8545; ${NODE}`),
  SKERRY_ETH_XPUB: secret('Ethereum: account public key of your offline wallet, xpub… (m/44’/60’/0’)'),
  SKERRY_ETH_SECOND_URL: node(`Ethereum: ${SECOND}`),
  SKERRY_ETH_USDT: text('0xdAC17F958D2ee523a2206206994597C13D831ec7', 'Ethereum: contract address of USDT'),
  SKERRY_TRON_URL: node(`Tron, for TRX and USDT: HTTP API of your full node, http://127.0.0.1:8090; ${NODE}`),
  SKERRY_TRON_XPUB: secret('Tron: account public key of your offline wallet, xpub… (m/44’/195’/0’)'),
  SKERRY_TRON_SECOND_URL: node(`Tron: ${SECOND}`),
  SKERRY_TRON_USDT: text('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'Tron: contract address of USDT'),
  SKERRY_SOL_URL: node(
    `Solana: RPC of your node, http://127.0.0.1:8899; add addresses with skerryd chain import; ${NODE}`,
  ),
  SKERRY_SOL_SECOND_URL: node(`Solana: ${SECOND}`),
  SKERRY_WORTHLESS_COINS: bool(
    'live: accept coins of test networks, which are worthless, to try the service',
  ),
  SKERRY_QUOTE_SOURCES: text(
    'kraken,bitfinex,coinbase,coingecko',
    'live: price sources, comma-separated; kraken=https://… overrides a URL',
  ),
  SKERRY_QUOTE_SOURCES_MIN: whole(
    '2',
    [1, 10],
    'live: minimum number of prices for a rate; the rate is their median',
  ),
  SKERRY_QUOTE_MAX_AGE_S: whole('300', [60, 86_400], 'live: maximum age of a price in seconds'),
  SKERRY_QUOTE_MAX_SPREAD_PERCENT: number(
    '3',
    [0.01, 100],
    'live: maximum spread of prices in percent; beyond it there is no rate, and the coin is unavailable',
  ),
  SKERRY_FIXED_RATES: text(
    '',
    'live: US dollars per coin, in place of price sources: BTC=60000,USDT=1, and EUR=1.08 for the euro; ' +
      'empty: the price sources',
  ),
  SKERRY_EURO_URL: text(
    'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
    'live: daily euro reference rate, in the format of the European Central Bank',
  ),
};

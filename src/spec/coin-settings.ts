/** Settings of real coins: nodes, public keys, and price sources. */

const NODE = 'unset: the coin is not accepted';
const SECOND = 'a second node; a payment is credited only if both nodes have it';

export const COIN_SETTINGS = {
  SKERRY_BTC_URL: {
    type: 'node',
    default: null,
    about:
      'Bitcoin: your node with its watch-only wallet, http://user:password@127.0.0.1:8332/wallet/skerry; ' +
      NODE,
  },
  SKERRY_BTC_XPUB: {
    type: 'secret',
    default: null,
    about: 'Bitcoin: account public key of your offline wallet, zpub… (m/84’/0’/0’)',
  },
  SKERRY_BTC_SECOND_URL: { type: 'node', default: null, about: `Bitcoin: ${SECOND}` },
  SKERRY_LTC_URL: {
    type: 'node',
    default: null,
    about:
      'Litecoin: your node with its watch-only wallet, http://user:password@127.0.0.1:9332/wallet/skerry; ' +
      NODE,
  },
  SKERRY_LTC_XPUB: {
    type: 'secret',
    default: null,
    about: 'Litecoin: account public key of your offline wallet, zpub… or Ltub… (m/84’/2’/0’)',
  },
  SKERRY_LTC_SECOND_URL: { type: 'node', default: null, about: `Litecoin: ${SECOND}` },
  SKERRY_XMR_WALLET_URL: {
    type: 'node',
    default: null,
    about: `Monero: monero-wallet-rpc with the view-only wallet, http://127.0.0.1:18083; ${NODE}`,
  },
  SKERRY_XMR_DAEMON_URL: {
    type: 'node',
    default: null,
    about: 'Monero: the monerod behind this wallet, http://127.0.0.1:18081',
  },
  SKERRY_XMR_ADDRESS: {
    type: 'secret',
    default: null,
    about: 'Monero: primary address of your offline wallet; the view-only wallet must have the same',
  },
  SKERRY_XMR_SECOND_URL: {
    type: 'node',
    default: null,
    about: 'Monero: a second monerod; a payment is credited only if both nodes have it',
  },
  SKERRY_ETH_URL: {
    type: 'node',
    default: null,
    about: `Ethereum, for ETH and USDT: your node with tracing, http://127.0.0.1:8545; ${NODE}`,
  },
  SKERRY_ETH_XPUB: {
    type: 'secret',
    default: null,
    about: 'Ethereum: account public key of your offline wallet, xpub… (m/44’/60’/0’)',
  },
  SKERRY_ETH_SECOND_URL: { type: 'node', default: null, about: `Ethereum: ${SECOND}` },
  SKERRY_ETH_USDT: {
    type: 'text',
    default: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    about: 'Ethereum: contract address of USDT',
  },
  SKERRY_TRON_URL: {
    type: 'node',
    default: null,
    about: `Tron, for TRX and USDT: HTTP API of your full node, http://127.0.0.1:8090; ${NODE}`,
  },
  SKERRY_TRON_XPUB: {
    type: 'secret',
    default: null,
    about: 'Tron: account public key of your offline wallet, xpub… (m/44’/195’/0’)',
  },
  SKERRY_TRON_SECOND_URL: { type: 'node', default: null, about: `Tron: ${SECOND}` },
  SKERRY_TRON_USDT: {
    type: 'text',
    default: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    about: 'Tron: contract address of USDT',
  },
  SKERRY_SOL_URL: {
    type: 'node',
    default: null,
    about:
      'Solana: RPC of your node, http://127.0.0.1:8899; ' +
      `add addresses with skerryd chain import; ${NODE}`,
  },
  SKERRY_SOL_SECOND_URL: { type: 'node', default: null, about: `Solana: ${SECOND}` },
  SKERRY_WORTHLESS_COINS: {
    type: 'bool',
    default: 'false',
    about: 'live: accept coins of test networks, which are worthless, to try the service',
  },
  SKERRY_QUOTE_SOURCES: {
    type: 'text',
    default: 'kraken,bitfinex,coinbase,coingecko',
    about: 'live: price sources, comma-separated; kraken=https://… overrides a URL',
  },
  SKERRY_QUOTE_SOURCES_MIN: {
    type: 'whole',
    default: '2',
    min: 1,
    max: 10,
    about: 'live: minimum number of prices for a rate; the rate is their median',
  },
  SKERRY_QUOTE_MAX_AGE_S: {
    type: 'whole',
    default: '300',
    min: 60,
    max: 86_400,
    about: 'live: maximum age of a price in seconds',
  },
  SKERRY_QUOTE_MAX_SPREAD_PERCENT: {
    type: 'number',
    default: '3',
    min: 0.01,
    max: 100,
    about:
      'live: maximum spread of prices in percent; beyond it there is no rate, and the coin is unavailable',
  },
  SKERRY_EURO_URL: {
    type: 'text',
    default: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
    about: 'live: daily euro reference rate, in the format of the European Central Bank',
  },
} as const;

/** Rules between the settings of real coins. */
import { isLoopbackHost } from './kernel/address-safety.ts';
import { parseFixedPrices } from './kernel/settings/lists.ts';
import { ConfigError } from './kernel/settings/values.ts';
import type { PricedCoin } from './spec/quote-sources.ts';
import { COIN_SETTINGS } from './spec/settings/coins.ts';

type CoinSetting = keyof typeof COIN_SETTINGS;

/** Settings that a coin, or two coins of one chain, need together, with their second node. */
const COIN_GROUPS: readonly {
  readonly needs: readonly CoinSetting[];
  /** The prices that its coins need. */
  readonly prices: readonly PricedCoin[];
  readonly second: CoinSetting;
}[] = [
  { needs: ['SKERRY_BTC_URL', 'SKERRY_BTC_XPUB'], prices: ['BTC'], second: 'SKERRY_BTC_SECOND_URL' },
  { needs: ['SKERRY_LTC_URL', 'SKERRY_LTC_XPUB'], prices: ['LTC'], second: 'SKERRY_LTC_SECOND_URL' },
  {
    needs: ['SKERRY_XMR_WALLET_URL', 'SKERRY_XMR_DAEMON_URL', 'SKERRY_XMR_ADDRESS'],
    prices: ['XMR'],
    second: 'SKERRY_XMR_SECOND_URL',
  },
  { needs: ['SKERRY_ETH_URL', 'SKERRY_ETH_XPUB'], prices: ['ETH', 'USDT'], second: 'SKERRY_ETH_SECOND_URL' },
  {
    needs: ['SKERRY_TRON_URL', 'SKERRY_TRON_XPUB'],
    prices: ['TRX', 'USDT'],
    second: 'SKERRY_TRON_SECOND_URL',
  },
  { needs: ['SKERRY_SOL_URL'], prices: ['SOL'], second: 'SKERRY_SOL_SECOND_URL' },
];

export interface CoinSettingsInput {
  readonly mode: 'sandbox' | 'live';
  /** Returns the value in the environment or `.env`, or null. */
  readonly read: (name: CoinSetting) => string | null;
}

/** Validates coin settings. Throws a ConfigError of one line that never contains a value. */
export function validateCoinSettings({ mode, read }: CoinSettingsInput): void {
  if (mode === 'sandbox') {
    const real = (Object.keys(COIN_SETTINGS) as CoinSetting[]).find((name) => read(name) !== null);
    if (real === undefined) return;
    throw new ConfigError(
      `${real}: a sandbox has simulated coins only; ` +
        'unset it, or set SKERRY_MODE=live with a database of its own',
    );
  }
  for (const { needs, second } of COIN_GROUPS) {
    const missing = needs.find((name) => read(name) === null);
    const isPartial = [...needs, second].some((name) => read(name) !== null);
    if (missing !== undefined && isPartial) {
      throw new ConfigError(`${missing}: ${describeGroup(needs, second)}`);
    }
    requireDistinctNodes(read, needs, second);
  }
  validateFixedPrices(read);
}

/** Settings that fixed prices replace. Set together, one of them would be ignored. */
const MARKET_SETTINGS = [
  'SKERRY_QUOTE_SOURCES',
  'SKERRY_QUOTE_SOURCES_MIN',
  'SKERRY_QUOTE_MAX_AGE_S',
  'SKERRY_QUOTE_MAX_SPREAD_PERCENT',
] as const;

/** Every accepted coin needs a fixed price, if there are any. */
function validateFixedPrices(read: CoinSettingsInput['read']): void {
  const prices = parseFixedPrices(read('SKERRY_FIXED_RATES') ?? '');
  if (prices.size === 0) return;
  const replaced = [...MARKET_SETTINGS, ...(prices.has('EUR') ? (['SKERRY_EURO_URL'] as const) : [])];
  const unused = replaced.find((name) => read(name) !== null);
  if (unused !== undefined)
    throw new ConfigError(`${unused}: replaced by SKERRY_FIXED_RATES; unset one of them`);
  for (const group of COIN_GROUPS) {
    const missing = group.prices.find((coin) => !prices.has(coin));
    const [first] = group.needs;
    if (first === undefined || read(first) === null || missing === undefined) continue;
    throw new ConfigError(
      `SKERRY_FIXED_RATES: ${missing} is missing, because ${first} is set; add ${missing}=…`,
    );
  }
}

function describeGroup(names: readonly string[], second: string): string {
  if (names.length === 1) return `required with ${second}; set both or neither`;
  return (
    `required, because ${names.slice(0, -1).join(', ')} and ${names.at(-1)} go together; ` +
    'set all of them or none'
  );
}

/** A node that checks itself always agrees. */
function requireDistinctNodes(
  read: CoinSettingsInput['read'],
  firsts: readonly CoinSetting[],
  second: CoinSetting,
): void {
  const nodeKey = nodeIdentity(read(second));
  const same = firsts.find((name) => nodeKey !== null && nodeIdentity(read(name)) === nodeKey);
  if (same !== undefined)
    throw new ConfigError(`${second}: the same node as ${same}; set it to a different node`);
}

/**
 * Different spellings of a URL are one node. Over https, one host and port can serve several nodes by path: a
 * gateway in front of them. Different credentials are still one node.
 */
function nodeIdentity(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname } = new URL(text);
  const host = isLoopbackHost(hostname) ? 'localhost' : hostname.replace(/\.$/, '');
  const usualPort = protocol === 'https:' ? 443 : 80;
  const path = protocol === 'https:' ? pathname.replace(/\/+$/, '') : '';
  return `${host}:${port || usualPort}${path}`;
}

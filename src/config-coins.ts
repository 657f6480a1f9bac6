/** Rules between the settings of real coins. */
import { isLoopbackHost } from './kernel/address-safety.ts';
import { ConfigError } from './kernel/settings/values.ts';
import { COIN_SETTINGS } from './spec/coin-settings.ts';

type CoinSetting = keyof typeof COIN_SETTINGS;

/** Settings that a coin, or two coins of one chain, need together, with their second node. */
const COIN_GROUPS: readonly { readonly needs: readonly CoinSetting[]; readonly second: CoinSetting }[] = [
  { needs: ['SKERRY_BTC_URL', 'SKERRY_BTC_XPUB'], second: 'SKERRY_BTC_SECOND_URL' },
  { needs: ['SKERRY_LTC_URL', 'SKERRY_LTC_XPUB'], second: 'SKERRY_LTC_SECOND_URL' },
  {
    needs: ['SKERRY_XMR_WALLET_URL', 'SKERRY_XMR_DAEMON_URL', 'SKERRY_XMR_ADDRESS'],
    second: 'SKERRY_XMR_SECOND_URL',
  },
  { needs: ['SKERRY_ETH_URL', 'SKERRY_ETH_XPUB'], second: 'SKERRY_ETH_SECOND_URL' },
  { needs: ['SKERRY_TRON_URL', 'SKERRY_TRON_XPUB'], second: 'SKERRY_TRON_SECOND_URL' },
  { needs: ['SKERRY_SOL_URL'], second: 'SKERRY_SOL_SECOND_URL' },
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

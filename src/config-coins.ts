/** Rules between the settings of real coins. */
import { isThisMachine } from './kernel/private-host.ts';
import { ConfigError } from './kernel/setting.ts';
import { COIN_SETTINGS } from './spec/coin-settings.ts';

type CoinSetting = keyof typeof COIN_SETTINGS;

/** What a coin, or two on one chain, need together, and their second node. */
const GROUPS: readonly { readonly needs: readonly CoinSetting[]; readonly second: CoinSetting }[] = [
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

export interface GivenCoins {
  readonly mode: 'sandbox' | 'live';
  /** What the environment or `.env` says; null where neither does. */
  readonly given: (name: CoinSetting) => string | null;
}

/** Throws a ConfigError of one line; none repeats a value. */
export function checkCoins({ mode, given }: GivenCoins): void {
  if (mode === 'sandbox') {
    const real = (Object.keys(COIN_SETTINGS) as CoinSetting[]).find((name) => given(name) !== null);
    if (real === undefined) return;
    throw new ConfigError(
      `${real}: a sandbox has simulated coins only; unset it, or set SKERRY_MODE=live on a database of its own`,
    );
  }
  for (const { needs, second } of GROUPS) {
    const missing = needs.find((name) => given(name) === null);
    const isBegun = [...needs, second].some((name) => given(name) !== null);
    if (missing !== undefined && isBegun) {
      throw new ConfigError(`${missing}: ${togetherText(needs, second)}`);
    }
    requireOther(given, needs, second);
  }
}

function togetherText(names: readonly string[], second: string): string {
  if (names.length === 1) return `${second} is nothing without it; set both or neither`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} go together; set all of them or none`;
}

/** A node that watches itself agrees to everything. */
function requireOther(given: GivenCoins['given'], firsts: readonly CoinSetting[], second: CoinSetting): void {
  const place = placeOf(given(second));
  const same = firsts.find((name) => place !== null && placeOf(given(name)) === place);
  if (same !== undefined) throw new ConfigError(`${second}: it is the node of ${same}; give another one`);
}

/**
 * Two spellings of one node are one. Behind one host and port over https several nodes may stand, each at a path: a gate of one's
 * own has them. Whoever asks one of them with two keys has one node still.
 */
function placeOf(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname } = new URL(text);
  const host = isThisMachine(hostname) ? 'localhost' : hostname.replace(/\.$/, '');
  const usualPort = protocol === 'https:' ? 443 : 80;
  const path = protocol === 'https:' ? pathname.replace(/\/+$/, '') : '';
  return `${host}:${port || usualPort}${path}`;
}

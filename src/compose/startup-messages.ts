/** What `serve` says of itself: a ready line that tools wait for, and what whoever starts it must know. */
import type { Config } from '../config.ts';
import { COIN_SETTINGS } from '../spec/coin-settings.ts';
import { COIN_CODES } from '../spec/coins.ts';
import type { RealCoin } from './coins.ts';

/** `url` is null without the role `api`. */
export function formatReadyLines(
  config: Config,
  { url, coins }: { readonly url: string | null; readonly coins: readonly RealCoin[] },
): string[] {
  if (url === null) return ['skerry workers ready'];
  return [
    `skerry ready on ${url}`,
    config.SKERRY_MODE === 'live' ? formatAcceptedCoins(coins) : formatSandboxLine(config),
  ];
}

function formatSandboxLine(config: Config): string {
  const machines =
    config.SKERRY_COMPUTE === 'simulator' ? 'simulated coins and machines' : 'simulated coins, real machines';
  return `A sandbox: ${machines}, no real money. Open the address above for the first step.`;
}

function formatAcceptedCoins(coins: readonly RealCoin[]): string {
  const codes = new Set<string>(coins.map(({ coin }) => coin));
  const accepted = COIN_CODES.filter((code) => codes.has(code));
  return `Live. Coins that are taken: ${accepted.length === 0 ? 'none' : accepted.join(', ')}.`;
}

/** What an operator should mend, or at least have meant, before a customer comes. */
export function formatWarnings(config: Config, coins: readonly RealCoin[]): string[] {
  if (config.SKERRY_MODE !== 'live') return [];
  return [
    ...(coins.length === 0 ? [NO_COIN_WARNING] : []),
    ...(config.SKERRY_WORTHLESS_COINS ? [TEST_COINS_WARNING] : warnUnknownContracts(config)),
  ].map((line) => `skerryd: ${line}`);
}

const NO_COIN_WARNING =
  'NO COIN IS TAKEN, so nobody can pay: docs/operators/coins.md says what each needs; for Litecoin SKERRY_LTC_URL and SKERRY_LTC_XPUB';
const TEST_COINS_WARNING =
  'SKERRY_WORTHLESS_COINS: coins of test networks are taken, which anybody has for nothing; never let strangers in';

/** Whatever that contract says is a dollar is credited as one. */
function warnUnknownContracts(config: Config): string[] {
  return (['SKERRY_ETH_USDT', 'SKERRY_TRON_USDT'] as const)
    .filter((name) => config[name] !== COIN_SETTINGS[name].default)
    .map((name) => `${name}: it is not the contract of USDT that is known; be sure that it is Tether’s`);
}

/**
 * Messages of `serve` at startup: the ready line that tools wait for, warnings for the operator, and why
 * the service cannot listen.
 */
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { COIN_CODES } from '../spec/coins.ts';
import { COIN_SETTINGS } from '../spec/settings/coins.ts';
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
  return `Sandbox: ${machines}, no real money. Open the address above to get started.`;
}

function formatAcceptedCoins(coins: readonly RealCoin[]): string {
  const codes = new Set<string>(coins.map(({ coin }) => coin));
  const accepted = COIN_CODES.filter((code) => codes.has(code));
  return `Live. Accepted coins: ${accepted.length === 0 ? 'none' : accepted.join(', ')}.`;
}

/** Returns warnings about settings that the operator should fix, or confirm, before customers arrive. */
export function formatWarnings(config: Config, coins: readonly RealCoin[]): string[] {
  if (config.SKERRY_MODE !== 'live') return [];
  return [
    ...(coins.length === 0 ? [NO_COIN_WARNING] : []),
    ...(config.SKERRY_WORTHLESS_COINS ? [TEST_COINS_WARNING] : warnUnknownContracts(config)),
  ].map((line) => `skerryd: ${line}`);
}

const NO_COIN_WARNING =
  'NO COIN IS ACCEPTED, so no one can pay: docs/operators/coins.md lists the settings of each coin; ' +
  'for Litecoin set SKERRY_LTC_URL and SKERRY_LTC_XPUB';
const TEST_COINS_WARNING =
  'SKERRY_WORTHLESS_COINS: test network coins are accepted, and anyone can get them for free; ' +
  'never let customers in';

/** A wrong contract would credit its worthless tokens as dollars. */
function warnUnknownContracts(config: Config): string[] {
  return (['SKERRY_ETH_USDT', 'SKERRY_TRON_USDT'] as const)
    .filter((name) => config[name] !== COIN_SETTINGS[name].default)
    .map((name) => `${name}: not the known USDT contract; make sure that it is Tether’s`);
}

const REASONS: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: port ${SKERRY_PORT} is in use; set another port, or 0 for a free one`,
  EACCES: ({ SKERRY_PORT }) =>
    `SKERRY_PORT: no permission to listen on port ${SKERRY_PORT}; set a port above 1023`,
  EADDRNOTAVAIL: ({ SKERRY_HOST }) => `SKERRY_HOST: this machine does not have the address ${SKERRY_HOST}`,
  ENOTFOUND: ({ SKERRY_HOST }) =>
    `SKERRY_HOST: cannot resolve ${SKERRY_HOST}; set an address of this machine`,
};

/** Returns an OperatorError for a listen error, and any other error unchanged. */
export function toListenError(config: Config, error: unknown): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  return reason ? new OperatorError(reason(config)) : error;
}

/** Settings that are lists: quotas, trusted proxies, and price sources. No message repeats the input. */
import { COINS } from '../../spec/coins.ts';
import { QUOTAS } from '../../spec/limits.ts';
import {
  isQuoteSource,
  PRICED_ASSETS,
  type PricedAsset,
  QUOTE_SOURCE_NAMES,
  QUOTE_SOURCES,
  type QuoteSourceName,
} from '../../spec/quote-sources.ts';
import { isPrivateHost } from '../address-safety.ts';
import { addressFamily, formatCidr, parseCidr } from '../cidr.ts';
import { closestMatch } from '../closest-match.ts';
import { parseUnits } from '../money.ts';

export type Quotas = Readonly<Record<keyof typeof QUOTAS, number>>;

/** Throws a RangeError that states the format. */
export function parseQuotas(text: string): Quotas {
  const quotas: Record<string, number> = { ...QUOTAS };
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [name = '', count = ''] = part.split('=').map((piece) => piece.trim());
    if (!Object.hasOwn(QUOTAS, name) || !/^\d{1,7}$/.test(count)) {
      throw new RangeError(
        `must be name=count pairs, separated by commas; the names are ${Object.keys(QUOTAS).join(', ')}`,
      );
    }
    quotas[name] = Number(count);
  }
  return quotas as Quotas;
}

const BLOCKS_MAX = 64;

/**
 * Parses `127.0.0.1, 10.0.0.0/8, 2001:db8::/64`; may be empty. Throws a RangeError that states the format.
 */
export function parseTrustedProxies(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  if (named.length > BLOCKS_MAX) throw new RangeError(`must be at most ${BLOCKS_MAX} addresses or blocks`);
  return named.map((part) => (addressFamily(part) === undefined ? parseProxyBlock(part) : part));
}

/** Parses `10.20.0.0/16, fd00:1::/64`; may be empty. Throws a RangeError that states the format. */
export function parseCidrBlocks(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  if (named.length > BLOCKS_MAX) throw new RangeError(`must be at most ${BLOCKS_MAX} blocks`);
  return named.map((part) => {
    const cidr = parseCidr(part);
    if (cidr) return formatCidr(cidr);
    throw new RangeError('must be CIDR blocks without host bits, such as 10.20.0.0/16, separated by commas');
  });
}

function parseProxyBlock(text: string): string {
  const cidr = parseCidr(text);
  // With /0, every client could forge its own address.
  if (!cidr || cidr.prefixLength === 0) {
    throw new RangeError(
      'must be IP addresses or CIDR blocks, such as 127.0.0.1 or 10.0.0.0/8, separated by commas; ' +
        'no host bits, and not /0',
    );
  }
  return formatCidr(cidr);
}

export interface QuoteSourceConfig {
  readonly name: QuoteSourceName;
  /** Without a trailing slash. */
  readonly url: string;
}

const FEED_URL_HINT =
  'https:// and a host, or http:// with localhost or a private address, ' +
  'so that no one can change a price in transit';

/** Parses `kraken,coingecko=https://prices.example`. Throws a RangeError that states the format. */
export function parseQuoteSources(text: string): readonly QuoteSourceConfig[] {
  const parts = text.split(',').map((part) => part.trim());
  const sources = parts.filter((part) => part !== '').map(parseSource);
  if (sources.length === 0)
    throw new RangeError(`must name at least one of ${QUOTE_SOURCE_NAMES.join(', ')}`);
  const duplicate = sources.find(({ name }, i) => sources.findIndex((one) => one.name === name) < i);
  if (duplicate) throw new RangeError(`${duplicate.name} is listed twice`);
  return sources;
}

function parseSource(part: string): QuoteSourceConfig {
  const [, name = '', address] = /^([^=]*?)\s*(?:=\s*(.*))?$/s.exec(part) ?? [];
  if (!isQuoteSource(name)) {
    const meant = closestMatch(name, QUOTE_SOURCE_NAMES);
    const hint = meant ? `; did you mean ${meant}?` : '';
    throw new RangeError(`unknown source; choose from ${QUOTE_SOURCE_NAMES.join(', ')}${hint}`);
  }
  const url = address === undefined ? QUOTE_SOURCES[name].url : parseFeedUrl(address);
  if (url === undefined) throw new RangeError(`the URL after ${name}= must be ${FEED_URL_HINT}`);
  return { name, url };
}

/** US dollars per coin, and per euro, as decimal text. Empty: prices come from sources. */
export type FixedPrices = ReadonlyMap<PricedAsset, string>;

const FIXED_PRICE_DECIMALS = 12;
/** As for price sources: beyond this, it is a typing error. */
const FIXED_PRICE_MIN_UNITS = 10n ** 6n;
const FIXED_PRICE_MAX_UNITS = 10n ** 21n;
const FIXED_PRICE_FORMAT =
  'must be coin=dollars pairs, separated by commas, such as BTC=60000,USDT=1; ' +
  `the coins are ${PRICED_ASSETS.join(', ')}; a price is from 0.000001 to 1000000000, ` +
  `with at most ${FIXED_PRICE_DECIMALS} decimals`;

/** Parses `BTC=60000,USDT=1,EUR=1.08`; may be empty. Throws a RangeError that states the format. */
export function parseFixedPrices(text: string): FixedPrices {
  const prices = new Map<PricedAsset, string>();
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [name = '', usd = '', ...more] = part.split('=').map((piece) => piece.trim());
    const asset = PRICED_ASSETS.find((one) => one === name);
    const units = parseUnits(usd, FIXED_PRICE_DECIMALS) ?? 0n;
    const isPlausible = units >= FIXED_PRICE_MIN_UNITS && units <= FIXED_PRICE_MAX_UNITS;
    if (asset === undefined || more.length > 0 || !isPlausible) throw new RangeError(FIXED_PRICE_FORMAT);
    if (prices.has(asset)) throw new RangeError(`${asset} is listed twice`);
    prices.set(asset, usd);
  }
  return prices;
}

/** Blockchains that an explorer can show, as `SKERRY_EXPLORERS` names them. */
const EXPLORED_NETWORKS = [...new Set(COINS.map(({ network }) => explorerNetwork(network)))];
const EXPLORER_FORMAT =
  'must be network=https://…/{tx} pairs, separated by commas; ' +
  `the networks are ${EXPLORED_NETWORKS.join(', ')}; {tx} stands for the transaction, after the host`;

/** Returns the name of a coin's blockchain: tokens share that of their network. */
export function explorerNetwork(network: string): string {
  return network.replace(/ .*/, '').toLowerCase();
}

/** Parses `bitcoin=https://explorer.example/tx/{tx}`; may be empty. Throws a RangeError with the format. */
export function parseExplorers(text: string): ReadonlyMap<string, string> {
  const explorers = new Map<string, string>();
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [, network = '', template = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(part) ?? [];
    if (!EXPLORED_NETWORKS.includes(network) || !isExplorerUrl(template))
      throw new RangeError(EXPLORER_FORMAT);
    if (explorers.has(network)) throw new RangeError(`${network} is listed twice`);
    explorers.set(network, template);
  }
  return explorers;
}

function isExplorerUrl(template: string): boolean {
  const [before = '', after, ...more] = template.split('{tx}');
  if (after === undefined || more.length > 0 || !/^https:\/\/[^/?#]+[/?#]/.test(before)) return false;
  const url = URL.canParse(`${before}0${after}`) ? new URL(`${before}0${after}`) : undefined;
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}

/** Returns what is wrong with the URL of a feed, or undefined. */
export function validateFeedUrl(text: string): string | undefined {
  return parseFeedUrl(text) === undefined ? `must be ${FEED_URL_HINT}` : undefined;
}

function parseFeedUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password || url.search || url.hash) return undefined;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isPrivateHost(url.hostname));
  return isSafe ? url.href.replace(/\/+$/, '') : undefined;
}

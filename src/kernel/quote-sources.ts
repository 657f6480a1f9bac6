/** Settings of the price feeds: sources and URLs. No message repeats the input. */
import {
  isQuoteSource,
  QUOTE_SOURCE_NAMES,
  QUOTE_SOURCES,
  type QuoteSourceName,
} from '../spec/quote-sources.ts';
import { closestMatch } from './closest-match.ts';
import { isPrivateHost } from './private-host.ts';

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

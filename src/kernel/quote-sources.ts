/** The settings of feeds: who is asked for prices, and where. No message repeats what was typed. */
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
  /** Without a slash at its end. */
  readonly url: string;
}

const FEED_URL_HINT =
  'https:// and a host, or http:// and localhost or a private address: nobody may change a price on the way';

/** `kraken,coingecko=https://prices.example`. Throws a RangeError that says what is allowed. */
export function parseQuoteSources(text: string): readonly QuoteSourceConfig[] {
  const parts = text.split(',').map((part) => part.trim());
  const sources = parts.filter((part) => part !== '').map(parseSource);
  if (sources.length === 0) throw new RangeError(`give at least one of ${QUOTE_SOURCE_NAMES.join(', ')}`);
  const duplicate = sources.find(({ name }, i) => sources.findIndex((one) => one.name === name) < i);
  if (duplicate) throw new RangeError(`${duplicate.name} is there twice; a price counts once`);
  return sources;
}

function parseSource(part: string): QuoteSourceConfig {
  const [, name = '', address] = /^([^=]*?)\s*(?:=\s*(.*))?$/s.exec(part) ?? [];
  if (!isQuoteSource(name)) {
    const meant = closestMatch(name, QUOTE_SOURCE_NAMES);
    const hint = meant ? `; did you mean ${meant}?` : '';
    throw new RangeError(
      `one of its names is no source; give some of ${QUOTE_SOURCE_NAMES.join(', ')}${hint}`,
    );
  }
  const url = address === undefined ? QUOTE_SOURCES[name].url : parseFeedUrl(address);
  if (url === undefined) throw new RangeError(`after ${name}= give ${FEED_URL_HINT}`);
  return { name, url };
}

/** What is wrong with the address of a feed, or undefined. */
export function validateFeedUrl(text: string): string | undefined {
  return parseFeedUrl(text) === undefined ? `give ${FEED_URL_HINT}` : undefined;
}

function parseFeedUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password || url.search || url.hash) return undefined;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isPrivateHost(url.hostname));
  return isSafe ? url.href.replace(/\/+$/, '') : undefined;
}

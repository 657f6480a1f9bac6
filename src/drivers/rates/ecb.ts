/**
 * The European Central Bank's euro reference rates, published once per working day. Two elements of the XML
 * are read, `<Cube time='2026-09-18'>` and `<Cube currency='USD' rate='1.0876'/>`; each must occur exactly
 * once, or the file is rejected.
 */
import { parseDecimal } from '../../kernel/money.ts';
import { DAY_MS, parseRfc3339, SECOND_MS } from '../../kernel/time.ts';
import { type EuroFeed, FeedError } from '../../ports/rates.ts';
import { fetchFeed } from './fetch-feed.ts';

const TIMEOUT_MS = 8 * SECOND_MS;
/** The file has about 2 KB. */
const RESPONSE_MAX_BYTES = 64 * 1024;
/** The euro has always been worth 0.8 to 1.6 dollars; the bounds below leave room. */
const MIN_TENTHS = 3n;
const MAX_TENTHS = 30n;

const DAY_PATTERN = /<Cube\s+time=(?:'(\d{4}-\d{2}-\d{2})'|"(\d{4}-\d{2}-\d{2})")\s*>/g;
const DOLLAR_PATTERN =
  /<Cube\s+currency=(?:'USD'|"USD")\s+rate=(?:'(\d{1,3}\.\d{1,8})'|"(\d{1,3}\.\d{1,8})")\s*\/>/g;

export class EcbEuro implements EuroFeed {
  readonly source = 'ecb';
  readonly #url: string;
  readonly #timeoutMs: number;

  constructor(options: { readonly url: string; readonly timeoutMs?: number }) {
    this.#url = options.url;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  async read(stop: AbortSignal): Promise<{ readonly usd: string; readonly at: Date }> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#timeoutMs)]);
    const xml = await fetchFeed(this.#url, {
      signal,
      maxBytes: RESPONSE_MAX_BYTES,
      accept: 'application/xml, text/xml',
    });
    const usd = matchOnce(xml, DOLLAR_PATTERN);
    const day = matchOnce(xml, DAY_PATTERN);
    const at = day === undefined ? undefined : parseRfc3339(`${day}T00:00:00Z`);
    if (usd === undefined || at === undefined) throw new FeedError('response has no dollar rate');
    const { digits, scale } = parseDecimal(usd) ?? { digits: 0n, scale: 1n };
    if (digits * 10n < MIN_TENTHS * scale || digits * 10n > MAX_TENTHS * scale) {
      throw new FeedError('dollar rate is out of range');
    }
    if (at.getTime() > Date.now() + DAY_MS) throw new FeedError('rate is dated in the future');
    return { usd, at };
  }
}

/** Returns the captured group if the pattern matches exactly once. */
function matchOnce(xml: string, pattern: RegExp): string | undefined {
  const [match, ...more] = xml.matchAll(pattern);
  return more.length > 0 ? undefined : (match?.[1] ?? match?.[2]);
}

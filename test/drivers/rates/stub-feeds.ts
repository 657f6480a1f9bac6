/** Local copies of the public feeds, in their documented formats, with responses that a test controls. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { QuoteSourceConfig } from '../../../src/kernel/settings/lists.ts';
import { QUOTE_SOURCES, type QuoteSourceName } from '../../../src/spec/quote-sources.ts';

/** Prices by the feed's name of the coin, as JSON numbers. */
export type Prices = Record<string, string>;

export type FeedBehavior = (response: ServerResponse, request: IncomingMessage) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): FeedBehavior =>
  (response) =>
    response.writeHead(code, headers).end();
export const text =
  (body: string): FeedBehavior =>
  (response) =>
    response.end(body);
export const unresponsive: FeedBehavior = () => undefined;
export const hangUp: FeedBehavior = (response) => response.socket?.destroy();
/** Sends data until the client disconnects. */
export const endless: FeedBehavior = (response) => {
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};
/** Starts a response and never finishes it. */
export const stalled: FeedBehavior = (response) => response.write('{');

export class StubFeeds {
  readonly prices: Record<QuoteSourceName, Prices> = {
    kraken: {
      XXBTZUSD: '60010.10000',
      XXMRZUSD: '150.01',
      XETHZUSD: '3001',
      USDTZUSD: '0.99990',
      XLTCZUSD: '80',
    },
    bitfinex: { tBTCUSD: '60000', tXMRUSD: '150', tETHUSD: '3000.5', tUSTUSD: '1.0001', tLTCUSD: '80.1' },
    coinbase: { 'BTC-USD': '60020.5', 'ETH-USD': '2999.99', 'USDT-USD': '1', 'LTC-USD': '79.95' },
    coingecko: {
      bitcoin: '60005.123456789012',
      monero: '150.5',
      ethereum: '3000',
      tether: '0.99995',
      litecoin: '80',
    },
  };
  /** Behavior of a feed in place of its response. */
  readonly overrides: Partial<Record<QuoteSourceName | 'ecb', FeedBehavior>> = {};
  /** The time that feeds with times report. */
  now: () => Date = () => new Date();
  euro: { day: string; usd: string } = { day: new Date().toISOString().slice(0, 10), usd: '1.0800' };
  /** Requested paths, in order. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<StubFeeds> {
    const feeds = new StubFeeds();
    await new Promise<void>((resolve) => feeds.#server.listen(0, '127.0.0.1', resolve));
    return feeds;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get ecb(): string {
    return `${this.origin}/ecb`;
  }

  /** Configures these feeds in place of the real ones. */
  sources(...names: readonly QuoteSourceName[]): readonly QuoteSourceConfig[] {
    return names.map((name) => ({ name, url: `${this.origin}/${name}` }));
  }

  /** Sets prices at a feed, by the feed's name of the coin. */
  set(source: QuoteSourceName, prices: Prices): void {
    Object.assign(this.prices[source], prices);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.origin);
    const [, feed = '', ...rest] = url.pathname.split('/');
    this.requests.push(`${url.pathname}${decodeURIComponent(url.search)}`);
    const override = this.overrides[feed as QuoteSourceName];
    if (override) {
      override(response, request);
      return;
    }
    const isQuotes = Object.hasOwn(QUOTE_SOURCES, feed);
    const body = isQuotes ? this.#quotes(feed as QuoteSourceName, rest, url.searchParams) : this.#euro(feed);
    if (body === undefined) response.writeHead(404).end('{"message":"NotFound"}');
    else response.end(body);
  }

  #quotes(feed: QuoteSourceName, path: readonly string[], query: URLSearchParams): string | undefined {
    const prices = this.prices[feed];
    if (feed === 'kraken') return kraken(prices, query.get('pair')?.split(','));
    if (feed === 'bitfinex') return bitfinex(prices, query.get('symbols')?.split(',') ?? []);
    if (feed === 'coinbase') return coinbase(prices, path[1] ?? '', this.now());
    return coingecko(prices, query.get('ids')?.split(',') ?? [], this.now());
  }

  #euro(path: string): string | undefined {
    if (path !== 'ecb') return undefined;
    const { day, usd } = this.euro;
    const schemas =
      'xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" ' +
      'xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"';
    return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope ${schemas}>
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='${day}'>
			<Cube currency='USD' rate='${usd}'/>
			<Cube currency='JPY' rate='160.11'/>
			<Cube currency='BGN' rate='1.9558'/>
		</Cube>
	</Cube>
</gesmes:Envelope>`;
  }
}

/**
 * Bid and ask are the price; the last trade is old. Prices are strings. Without pairs it returns all of them;
 * with an unknown pair it returns none.
 */
function kraken(prices: Prices, pairs: readonly string[] = Object.keys(prices)): string {
  if (pairs.some((pair) => !Object.hasOwn(prices, pair))) return '{"error":["EQuery:Unknown asset pair"]}';
  const old = '"v":["4083.67","4412.73"],"p":["30706.77771","30689.13205"],"t":[34619,38907],"l":["1","1"]';
  const result = pairs.map((pair) => {
    const level = `["${prices[pair]}","1","1.000"]`;
    return `"${pair}":{"a":${level},"b":${level},"c":["9","0.00067643"],${old},"h":["9","9"],"o":"2"}`;
  });
  return `{"error":[],"result":{${result.join(',')}}}`;
}

/** Like Kraken, but prices are numbers and unknown symbols are left out. */
function bitfinex(prices: Prices, symbols: readonly string[]): string {
  const known = symbols.filter((symbol) => Object.hasOwn(prices, symbol));
  const tickers = known.map(
    (symbol) => `["${symbol}",${prices[symbol]},31.89,${prices[symbol]},43.35,-550.8,-0.0674,9,8314.7,9,1]`,
  );
  return `[${tickers.join(',')}]`;
}

function coinbase(prices: Prices, pair: string, now: Date): string | undefined {
  if (!Object.hasOwn(prices, pair)) return undefined;
  const time = now.toISOString().replace('Z', '123Z');
  const trade = `"trade_id":86326522,"price":"${prices[pair]}","size":"0.00698254","time":"${time}"`;
  return `{"ask":"9","bid":"1","volume":"1.5",${trade}}`;
}

function coingecko(prices: Prices, ids: readonly string[], now: Date): string {
  const seconds = Math.floor(now.getTime() / 1_000);
  const known = ids.filter((id) => Object.hasOwn(prices, id));
  return `{${known.map((id) => `"${id}":{"usd":${prices[id]},"last_updated_at":${seconds}}`).join(',')}}`;
}

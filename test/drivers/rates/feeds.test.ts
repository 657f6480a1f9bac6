import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { quoteFeeds } from '../../../src/drivers/rates/feeds.ts';
import { FeedError } from '../../../src/ports/rates.ts';
import {
  type PricedCoin,
  QUOTE_SOURCE_NAMES,
  type QuoteSourceName,
} from '../../../src/spec/quote-sources.ts';
import {
  endless,
  type FeedBehavior,
  hangUp,
  StubFeeds,
  stalled,
  status,
  text,
  unresponsive,
} from './stub-feeds.ts';

const COINS: readonly PricedCoin[] = ['BTC', 'XMR', 'ETH', 'USDT', 'LTC', 'TRX', 'SOL'];
const NEVER = new AbortController().signal;

let feeds: StubFeeds;
before(async () => {
  feeds = await StubFeeds.start();
});
after(() => feeds.close());
afterEach(() => {
  for (const name of QUOTE_SOURCE_NAMES) delete feeds.overrides[name];
  feeds.now = () => new Date();
  feeds.requests.length = 0;
});

async function read(source: QuoteSourceName, coins: readonly PricedCoin[] = COINS, timeoutMs = 5_000) {
  const [feed] = quoteFeeds(feeds.sources(source), { timeoutMs, maxSpreadPercent: 3 });
  return await (feed ?? assert.fail()).read(coins, NEVER);
}

/** Returns prices by coin, and the missing coins. */
async function readPrices(source: QuoteSourceName, coins?: readonly PricedCoin[]) {
  const { prices, missing } = await read(source, coins);
  return { ...Object.fromEntries(prices.map(({ coin, usd }) => [coin, usd])), missing };
}

async function faultOf(source: QuoteSourceName, behavior: FeedBehavior, timeoutMs?: number): Promise<string> {
  feeds.overrides[source] = behavior;
  const error = await read(source, ['BTC', 'ETH'], timeoutMs).catch((reason: unknown) => reason);
  assert.ok(error instanceof FeedError, source);
  assert.doesNotMatch(error.message, /127\.0\.0\.1|http/);
  return error.message;
}

describe('feeds', () => {
  it('Kraken returns all prices in one response, without times', async () => {
    assert.deepEqual(await readPrices('kraken', ['BTC', 'XMR', 'USDT']), {
      BTC: '60010.1',
      XMR: '150.01',
      USDT: '0.9999',
      missing: [],
    });
    assert.deepEqual(feeds.requests, ['/kraken/0/public/Ticker?pair=XXBTZUSD,XXMRZUSD,USDTZUSD']);
    assert.equal((await read('kraken', ['BTC'])).prices[0]?.at, null);
  });

  it('Kraken is asked for all pairs if it no longer knows one of them', async () => {
    const { missing, ...prices } = await readPrices('kraken');
    assert.deepEqual(Object.keys(prices), ['BTC', 'XMR', 'ETH', 'USDT', 'LTC']);
    assert.deepEqual(missing, ['TRX', 'SOL']);
    assert.deepEqual(feeds.requests.at(-1), '/kraken/0/public/Ticker');
  });

  it('Kraken may return errors along with prices, or only errors', async () => {
    feeds.overrides.kraken = text(
      '{"error":["EQuery:Unknown asset pair"],"result":{"XXBTZUSD":{"b":["4.9","1"],"a":["5","1"]}}}',
    );
    assert.deepEqual(await readPrices('kraken', ['BTC', 'ETH']), { BTC: '4.95', missing: ['ETH'] });
    const busy = text('{"error":["EGeneral:Too many requests","<b>x</b>", 7]}');
    assert.equal(await faultOf('kraken', busy), 'responded with EGeneral:Too many requests');
  });

  it('Bitfinex returns numbers and leaves out unlisted pairs', async () => {
    const { missing, ...prices } = await readPrices('bitfinex');
    assert.deepEqual(prices, { BTC: '60000', XMR: '150', ETH: '3000.5', USDT: '1.0001', LTC: '80.1' });
    assert.deepEqual(missing, ['TRX', 'SOL']);
    const symbols = 'tBTCUSD,tXMRUSD,tETHUSD,tUSTUSD,tLTCUSD,tTRXUSD,tSOLUSD';
    assert.deepEqual(feeds.requests, [`/bitfinex/v2/tickers?symbols=${symbols}`]);
    feeds.overrides.bitfinex = text('["error",10020,"symbol: invalid"]');
    assert.deepEqual((await readPrices('bitfinex', ['BTC'])).missing, ['BTC']);
  });

  it('Coinbase is asked for each listed pair and returns the time of its last trade', async () => {
    feeds.now = () => new Date('2030-05-01T12:00:00.500Z');
    const { prices, missing } = await read('coinbase');
    assert.deepEqual(Object.fromEntries(prices.map(({ coin, usd }) => [coin, usd])), {
      BTC: '60020.5',
      ETH: '2999.99',
      USDT: '1',
      LTC: '79.95',
    });
    // XMR and TRX are not listed there, so they are not missing.
    assert.deepEqual(missing, ['SOL']);
    assert.equal(prices[0]?.at?.toISOString(), '2030-05-01T12:00:00.500Z');
    assert.ok(feeds.requests.includes('/coinbase/products/USDT-USD/ticker'));
    assert.equal(feeds.requests.length, 5);
    assert.deepEqual(await read('coinbase', ['XMR']), { prices: [], missing: [] });
    assert.equal(feeds.requests.length, 5);
  });

  it('CoinGecko returns the time of a price in seconds', async () => {
    feeds.now = () => new Date('2030-05-01T12:00:00.900Z');
    const { prices, missing } = await read('coingecko');
    assert.equal(prices.find(({ coin }) => coin === 'BTC')?.usd, '60005.123456789012');
    assert.equal(prices[0]?.at?.toISOString(), '2030-05-01T12:00:00.000Z');
    assert.deepEqual(missing, ['TRX', 'SOL']);
    assert.match(feeds.requests[0] ?? '', /^\/coingecko\/api\/v3\/simple\/price\?ids=bitcoin,monero,/);
    assert.match(feeds.requests[0] ?? '', /vs_currencies=usd&include_last_updated_at=true/);
  });
});

describe('prices of feeds', () => {
  it('a price keeps every digit, beyond the precision of a double', async () => {
    for (const usd of ['60005.12345678901234567', '0.100000000000000001', '123456789.1', '3e-1', '1.5E+3']) {
      feeds.set('bitfinex', { tBTCUSD: usd });
      const plain = { '3e-1': '0.3', '1.5E+3': '1500' }[usd] ?? usd;
      const [price] = (await read('bitfinex', ['BTC'])).prices;
      assert.equal(Number(price?.usd), Number(plain));
      if (plain === usd) assert.equal(price?.usd, usd);
    }
    feeds.set('bitfinex', { tBTCUSD: '60000' });
  });

  it('an invalid price is skipped without affecting the others', async () => {
    const none = [
      '0',
      '0.0',
      '-1',
      '1000000000',
      '1e12',
      '0.0000009',
      'null',
      '"x"',
      '""',
      '[]',
      '{}',
      'true',
    ];
    for (const usd of [...none, '"NaN"', '"1,5"', '" 1"', '1e-99', '1e99', `0.${'1'.repeat(31)}`]) {
      feeds.set('bitfinex', { tBTCUSD: usd });
      assert.deepEqual(await readPrices('bitfinex', ['BTC', 'LTC']), { LTC: '80.1', missing: ['BTC'] }, usd);
    }
    feeds.set('bitfinex', { tBTCUSD: '60000' });
    const book = (price: string) => `{"b":["${price}","1"],"a":["${price}","1"]}`;
    feeds.overrides.kraken = text(
      `{"error":[],"result":{"XXBTZUSD":{"b":["0","1"],"a":["0.00000","1"]},"XLTCZUSD":${book('80')}}}`,
    );
    assert.deepEqual(await readPrices('kraken', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
  });

  it('a source without times has the midpoint of its book as price, not the last trade', async () => {
    const pair = '{"a":["60001.1","1","1"],"b":["60000.0","1","1"],"c":["99999","1"]}';
    feeds.overrides.kraken = text(`{"error":[],"result":{"XXBTZUSD":${pair}}}`);
    assert.deepEqual(await readPrices('kraken', ['BTC']), { BTC: '60000.55', missing: [] });
    feeds.overrides.bitfinex = text('[["tXMRUSD",150,1,151.5,1,0,0,99999,1,1,1]]');
    assert.deepEqual(await readPrices('bitfinex', ['XMR']), { XMR: '150.75', missing: [] });
  });

  it('a book that is wide, crossed, or one-sided has no price', async () => {
    const readBook = async (bid: string, ask: string) => {
      feeds.overrides.kraken = text(
        `{"error":[],"result":{"XXBTZUSD":{"a":[${ask},"1"],"b":[${bid},"1"],"c":["100","1"]}}}`,
      );
      feeds.overrides.bitfinex = text(`[["tBTCUSD",${bid},1,${ask},1,0,0,100,1,1,1]]`);
      const both = [await readPrices('kraken', ['BTC']), await readPrices('bitfinex', ['BTC'])];
      assert.deepEqual(both[0], both[1]);
      return both[0];
    };
    const none = { missing: ['BTC'] };
    assert.deepEqual(await readBook('98.5', '101.5'), { BTC: '100', missing: [] });
    assert.deepEqual(await readBook('98.499999', '101.5'), none);
    assert.deepEqual(await readBook('50', '150'), none);
    assert.deepEqual(await readBook('100.1', '100'), none);
    assert.deepEqual(await readBook('0', '100'), none);
    assert.deepEqual(await readBook('null', '100'), none);
    assert.deepEqual(await readBook('100', 'null'), none);
    assert.deepEqual(await readBook('-100', '100'), none);
  });

  it('a price without its time is skipped', async () => {
    feeds.overrides.coingecko = text(
      '{"bitcoin":{"usd":60000},"litecoin":{"usd":80,"last_updated_at":1711356300}}',
    );
    assert.deepEqual(await readPrices('coingecko', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
    feeds.overrides.coinbase = text('{"price":"60000","time":"yesterday"}');
    assert.deepEqual(await readPrices('coinbase', ['BTC']), { missing: ['BTC'] });
  });
});

describe('failures of feeds', () => {
  it('a response that is not JSON, or JSON of another shape, has no prices', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, text('<html>Just a moment…</html>')), 'response is not JSON');
    }
    for (const body of ['{}', '[]', 'null', '7', '"x"', '[[]]', '[null]', '{"error":[],"result":[]}']) {
      for (const source of QUOTE_SOURCE_NAMES) {
        feeds.overrides[source] = text(body);
        const answer = await read(source, ['BTC']).catch((error: unknown) => error);
        if (answer instanceof FeedError) assert.equal(answer.message, 'response has no prices');
        else assert.deepEqual(answer, { prices: [], missing: ['BTC'] }, `${source} ${body}`);
      }
    }
  });

  it('a redirect of a feed is not followed', async () => {
    const elsewhere = status(302, { location: `${feeds.origin}/bitfinex/v2/tickers?symbols=tBTCUSD` });
    for (const source of QUOTE_SOURCE_NAMES)
      assert.equal(await faultOf(source, elsewhere), 'responded with HTTP 302');
    assert.ok(feeds.requests.every((path) => !path.endsWith('symbols=tBTCUSD')));
  });

  it('a feed that is down, busy, or hangs up is reported as such', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, status(503)), 'responded with HTTP 503');
      assert.equal(await faultOf(source, status(429)), 'responded with HTTP 429');
      assert.equal(await faultOf(source, hangUp), 'connection reset');
    }
    const [offline] = quoteFeeds([{ name: 'kraken', url: 'http://127.0.0.1:1' }], { maxSpreadPercent: 3 });
    await assert.rejects((offline ?? assert.fail()).read(['BTC'], NEVER), FeedError);
  });

  it('an endless response is aborted', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, endless), 'response is too large');
    }
  });

  it('a slow feed times out, before or during its response', async () => {
    const faults = await Promise.all(QUOTE_SOURCE_NAMES.map((source) => faultOf(source, unresponsive, 60)));
    assert.deepEqual(new Set(faults), new Set(['request timed out']));
    assert.equal(await faultOf('kraken', stalled, 60), 'request timed out');
  });

  it('a request is canceled when the service stops', async () => {
    feeds.overrides.kraken = unresponsive;
    const stopping = new AbortController();
    const [feed] = quoteFeeds(feeds.sources('kraken'), { maxSpreadPercent: 3 });
    const reading = (feed ?? assert.fail()).read(['BTC'], stopping.signal);
    stopping.abort();
    await assert.rejects(reading, FeedError);
  });

  it('a feed with one failing pair still returns the others', async () => {
    feeds.overrides.coinbase = (response, request) => {
      if (request.url?.includes('BTC-USD')) response.writeHead(500).end();
      else response.end(`{"price":"80","time":"${new Date().toISOString()}"}`);
    };
    assert.deepEqual(await readPrices('coinbase', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
  });
});

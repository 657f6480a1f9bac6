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

/** Prices by coin, and what is missing. */
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

describe('a feed in the shape of', () => {
  it('Kraken gives all prices in one answer, without a time', async () => {
    assert.deepEqual(await readPrices('kraken', ['BTC', 'XMR', 'USDT']), {
      BTC: '60010.1',
      XMR: '150.01',
      USDT: '0.9999',
      missing: [],
    });
    assert.deepEqual(feeds.requests, ['/kraken/0/public/Ticker?pair=XXBTZUSD,XXMRZUSD,USDTZUSD']);
    assert.equal((await read('kraken', ['BTC'])).prices[0]?.at, null);
  });

  it('Kraken is asked for all it has when it knows one of them no longer', async () => {
    const { missing, ...prices } = await readPrices('kraken');
    assert.deepEqual(Object.keys(prices), ['BTC', 'XMR', 'ETH', 'USDT', 'LTC']);
    assert.deepEqual(missing, ['TRX', 'SOL']);
    assert.deepEqual(feeds.requests.at(-1), '/kraken/0/public/Ticker');
  });

  it('Kraken may have errors beside its prices, or only errors', async () => {
    feeds.overrides.kraken = text(
      '{"error":["EQuery:Unknown asset pair"],"result":{"XXBTZUSD":{"b":["4.9","1"],"a":["5","1"]}}}',
    );
    assert.deepEqual(await readPrices('kraken', ['BTC', 'ETH']), { BTC: '4.95', missing: ['ETH'] });
    const busy = text('{"error":["EGeneral:Too many requests","<b>x</b>", 7]}');
    assert.equal(await faultOf('kraken', busy), 'it answers EGeneral:Too many requests');
  });

  it('Bitfinex gives numbers, and leaves out what it does not list', async () => {
    const { missing, ...prices } = await readPrices('bitfinex');
    assert.deepEqual(prices, { BTC: '60000', XMR: '150', ETH: '3000.5', USDT: '1.0001', LTC: '80.1' });
    assert.deepEqual(missing, ['TRX', 'SOL']);
    const symbols = 'tBTCUSD,tXMRUSD,tETHUSD,tUSTUSD,tLTCUSD,tTRXUSD,tSOLUSD';
    assert.deepEqual(feeds.requests, [`/bitfinex/v2/tickers?symbols=${symbols}`]);
    feeds.overrides.bitfinex = text('["error",10020,"symbol: invalid"]');
    assert.deepEqual((await readPrices('bitfinex', ['BTC'])).missing, ['BTC']);
  });

  it('Coinbase is asked for each pair that it lists, and tells when it was traded', async () => {
    feeds.now = () => new Date('2030-05-01T12:00:00.500Z');
    const { prices, missing } = await read('coinbase');
    assert.deepEqual(Object.fromEntries(prices.map(({ coin, usd }) => [coin, usd])), {
      BTC: '60020.5',
      ETH: '2999.99',
      USDT: '1',
      LTC: '79.95',
    });
    // XMR and TRX are not listed there, so nothing is missing of them.
    assert.deepEqual(missing, ['SOL']);
    assert.equal(prices[0]?.at?.toISOString(), '2030-05-01T12:00:00.500Z');
    assert.ok(feeds.requests.includes('/coinbase/products/USDT-USD/ticker'));
    assert.equal(feeds.requests.length, 5);
    assert.deepEqual(await read('coinbase', ['XMR']), { prices: [], missing: [] });
    assert.equal(feeds.requests.length, 5);
  });

  it('CoinGecko tells when it was made, to the second', async () => {
    feeds.now = () => new Date('2030-05-01T12:00:00.900Z');
    const { prices, missing } = await read('coingecko');
    assert.equal(prices.find(({ coin }) => coin === 'BTC')?.usd, '60005.123456789012');
    assert.equal(prices[0]?.at?.toISOString(), '2030-05-01T12:00:00.000Z');
    assert.deepEqual(missing, ['TRX', 'SOL']);
    assert.match(feeds.requests[0] ?? '', /^\/coingecko\/api\/v3\/simple\/price\?ids=bitcoin,monero,/);
    assert.match(feeds.requests[0] ?? '', /vs_currencies=usd&include_last_updated_at=true/);
  });
});

describe('a price', () => {
  it('is read to its last digit, whatever a double makes of it', async () => {
    for (const usd of ['60005.12345678901234567', '0.100000000000000001', '123456789.1', '3e-1', '1.5E+3']) {
      feeds.set('bitfinex', { tBTCUSD: usd });
      const plain = { '3e-1': '0.3', '1.5E+3': '1500' }[usd] ?? usd;
      const [price] = (await read('bitfinex', ['BTC'])).prices;
      assert.equal(Number(price?.usd), Number(plain));
      if (plain === usd) assert.equal(price?.usd, usd);
    }
    feeds.set('bitfinex', { tBTCUSD: '60000' });
  });

  it('that is none is passed over, and the others are not', async () => {
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
    feeds.overrides.kraken = text(
      '{"error":[],"result":{"XXBTZUSD":{"b":["0","1"],"a":["0.00000","1"]},"XLTCZUSD":{"b":["80","1"],"a":["80","1"]}}}',
    );
    assert.deepEqual(await readPrices('kraken', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
  });

  it('of a source without times is the middle of what is bid and asked, whatever the last trade was', async () => {
    feeds.overrides.kraken = text(
      '{"error":[],"result":{"XXBTZUSD":{"a":["60001.1","1","1"],"b":["60000.0","1","1"],"c":["99999","1"]}}}',
    );
    assert.deepEqual(await readPrices('kraken', ['BTC']), { BTC: '60000.55', missing: [] });
    feeds.overrides.bitfinex = text('[["tXMRUSD",150,1,151.5,1,0,0,99999,1,1,1]]');
    assert.deepEqual(await readPrices('bitfinex', ['XMR']), { XMR: '150.75', missing: [] });
  });

  it('is none where bid and ask lie further apart than prices may, cross, or are of one side only', async () => {
    const ofBook = async (bid: string, ask: string) => {
      feeds.overrides.kraken = text(
        `{"error":[],"result":{"XXBTZUSD":{"a":[${ask},"1"],"b":[${bid},"1"],"c":["100","1"]}}}`,
      );
      feeds.overrides.bitfinex = text(`[["tBTCUSD",${bid},1,${ask},1,0,0,100,1,1,1]]`);
      const both = [await readPrices('kraken', ['BTC']), await readPrices('bitfinex', ['BTC'])];
      assert.deepEqual(both[0], both[1]);
      return both[0];
    };
    const none = { missing: ['BTC'] };
    assert.deepEqual(await ofBook('98.5', '101.5'), { BTC: '100', missing: [] });
    assert.deepEqual(await ofBook('98.499999', '101.5'), none);
    assert.deepEqual(await ofBook('50', '150'), none);
    assert.deepEqual(await ofBook('100.1', '100'), none);
    assert.deepEqual(await ofBook('0', '100'), none);
    assert.deepEqual(await ofBook('null', '100'), none);
    assert.deepEqual(await ofBook('100', 'null'), none);
    assert.deepEqual(await ofBook('-100', '100'), none);
  });

  it('without the time that belongs to it is none', async () => {
    feeds.overrides.coingecko = text(
      '{"bitcoin":{"usd":60000},"litecoin":{"usd":80,"last_updated_at":1711356300}}',
    );
    assert.deepEqual(await readPrices('coingecko', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
    feeds.overrides.coinbase = text('{"price":"60000","time":"yesterday"}');
    assert.deepEqual(await readPrices('coinbase', ['BTC']), { missing: ['BTC'] });
  });
});

describe('a feed that', () => {
  it('answers no JSON, or JSON of another shape, has no prices', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, text('<html>Just a moment…</html>')), 'its answer is no JSON');
    }
    for (const body of ['{}', '[]', 'null', '7', '"x"', '[[]]', '[null]', '{"error":[],"result":[]}']) {
      for (const source of QUOTE_SOURCE_NAMES) {
        feeds.overrides[source] = text(body);
        const answer = await read(source, ['BTC']).catch((error: unknown) => error);
        if (answer instanceof FeedError) assert.equal(answer.message, 'its answer has no prices');
        else assert.deepEqual(answer, { prices: [], missing: ['BTC'] }, `${source} ${body}`);
      }
    }
  });

  it('leads elsewhere is not followed', async () => {
    const elsewhere = status(302, { location: `${feeds.origin}/bitfinex/v2/tickers?symbols=tBTCUSD` });
    for (const source of QUOTE_SOURCE_NAMES) assert.equal(await faultOf(source, elsewhere), 'it answers 302');
    assert.ok(feeds.requests.every((path) => !path.endsWith('symbols=tBTCUSD')));
  });

  it('is down, busy or gone is named by what it does', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, status(503)), 'it answers 503');
      assert.equal(await faultOf(source, status(429)), 'it answers 429');
      assert.equal(await faultOf(source, hangUp), 'connection reset');
    }
    const [gone] = quoteFeeds([{ name: 'kraken', url: 'http://127.0.0.1:1' }], { maxSpreadPercent: 3 });
    await assert.rejects((gone ?? assert.fail()).read(['BTC'], NEVER), FeedError);
  });

  it('says too much is cut off', async () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      assert.equal(await faultOf(source, endless), 'its answer is too long');
    }
  });

  it('is slow is given up, whether it has begun to answer or not', async () => {
    const faults = await Promise.all(QUOTE_SOURCE_NAMES.map((source) => faultOf(source, unresponsive, 60)));
    assert.deepEqual(new Set(faults), new Set(['it is too slow']));
    assert.equal(await faultOf('kraken', stalled, 60), 'it is too slow');
  });

  it('is asked no longer when the service stops', async () => {
    feeds.overrides.kraken = unresponsive;
    const stopping = new AbortController();
    const [feed] = quoteFeeds(feeds.sources('kraken'), { maxSpreadPercent: 3 });
    const reading = (feed ?? assert.fail()).read(['BTC'], stopping.signal);
    stopping.abort();
    await assert.rejects(reading, FeedError);
  });

  it('has one pair that fails gives the others', async () => {
    feeds.overrides.coinbase = (response, request) => {
      if (request.url?.includes('BTC-USD')) response.writeHead(500).end();
      else response.end(`{"price":"80","time":"${new Date().toISOString()}"}`);
    };
    assert.deepEqual(await readPrices('coinbase', ['BTC', 'LTC']), { LTC: '80', missing: ['BTC'] });
  });
});

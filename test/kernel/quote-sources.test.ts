import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuoteSources, validateFeedUrl } from '../../src/kernel/quote-sources.ts';
import { COIN_CODES } from '../../src/spec/coins.ts';
import {
  pricedAs,
  QUOTE_SOURCE_NAMES,
  QUOTE_SOURCES,
  type QuoteSource,
} from '../../src/spec/quote-sources.ts';

function parseErrorMessage(text: string): string {
  try {
    parseQuoteSources(text);
  } catch (error) {
    assert.ok(error instanceof RangeError);
    return error.message;
  }
  assert.fail('it was taken');
}

describe('who is asked for prices', () => {
  it('is named, and asked where it lives unless another place is given', () => {
    assert.deepEqual(parseQuoteSources(' kraken, coingecko = https://prices.example/gecko/ ,'), [
      { name: 'kraken', url: 'https://api.kraken.com' },
      { name: 'coingecko', url: 'https://prices.example/gecko' },
    ]);
    assert.deepEqual(parseQuoteSources('kraken=http://127.0.0.1:8080')[0]?.url, 'http://127.0.0.1:8080');
    assert.equal(parseQuoteSources(QUOTE_SOURCE_NAMES.join(',')).length, QUOTE_SOURCE_NAMES.length);
  });

  it('is refused when there is no such source, and the right name is offered', () => {
    assert.match(
      parseErrorMessage('kraken,cracken'),
      /no source; .*kraken, bitfinex, coinbase, coingecko; did you mean kraken\?/,
    );
    assert.match(parseErrorMessage('toString'), /no source/);
    assert.match(parseErrorMessage('__proto__=https://x.example'), /no source/);
    assert.match(parseErrorMessage('Kraken'), /did you mean kraken/);
  });

  it('is refused twice, and when it is nobody', () => {
    assert.match(parseErrorMessage('kraken,bitfinex,kraken=https://x.example'), /^kraken is there twice/);
    assert.match(parseErrorMessage(' , '), /^give at least one of kraken/);
    assert.match(parseErrorMessage(''), /^give at least one/);
  });

  it('is refused where its place is none, or one on the way to which a price may be changed', () => {
    const places = ['', 'x', 'ftp://x.example', 'http://x.example', 'https://user:hunter2@x.example'];
    for (const place of [...places, 'https://x.example/?key=hunter2', 'https://x.example/#a']) {
      assert.match(parseErrorMessage(`kraken=${place}`), /^after kraken= give https:\/\/ and a host/, place);
      assert.doesNotMatch(parseErrorMessage(`kraken=${place}`), /hunter2|x\.example/);
    }
  });

  it('is a place for the euro by the same rule, path and all', () => {
    assert.equal(validateFeedUrl('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'), undefined);
    assert.equal(validateFeedUrl('http://localhost:8080/euro.xml'), undefined);
    assert.match(validateFeedUrl('http://www.ecb.europa.eu/') ?? '', /nobody may change a price on the way/);
  });
});

describe('the table of sources', () => {
  it('has at least two sources for each coin without CoinGecko, which may have its prices from them', () => {
    const exchanges: readonly QuoteSource[] = QUOTE_SOURCE_NAMES.filter((name) => name !== 'coingecko').map(
      (name) => QUOTE_SOURCES[name],
    );
    for (const coin of COIN_CODES) {
      const listing = exchanges.filter(({ symbols }) => symbols[pricedAs(coin)] !== undefined);
      assert.ok(listing.length >= 2, coin);
    }
  });

  it('names no two coins alike', () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      const symbols = Object.values(QUOTE_SOURCES[source].symbols);
      assert.equal(new Set(symbols).size, symbols.length, source);
    }
  });
});

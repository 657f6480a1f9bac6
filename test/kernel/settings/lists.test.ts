import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseExplorers, parseQuoteSources, validateFeedUrl } from '../../../src/kernel/settings/lists.ts';
import { COIN_CODES } from '../../../src/spec/coins.ts';
import {
  pricedAs,
  QUOTE_SOURCE_NAMES,
  QUOTE_SOURCES,
  type QuoteSource,
} from '../../../src/spec/quote-sources.ts';

function parseErrorMessage(text: string): string {
  try {
    parseQuoteSources(text);
  } catch (error) {
    assert.ok(error instanceof RangeError);
    return error.message;
  }
  assert.fail('the setting was accepted');
}

describe('the setting of price sources', () => {
  it('a price source uses its default URL unless another is given', () => {
    assert.deepEqual(parseQuoteSources(' kraken, coingecko = https://prices.example/gecko/ ,'), [
      { name: 'kraken', url: 'https://api.kraken.com' },
      { name: 'coingecko', url: 'https://prices.example/gecko' },
    ]);
    assert.deepEqual(parseQuoteSources('kraken=http://127.0.0.1:8080')[0]?.url, 'http://127.0.0.1:8080');
    assert.equal(parseQuoteSources(QUOTE_SOURCE_NAMES.join(',')).length, QUOTE_SOURCE_NAMES.length);
  });

  it('an unknown price source is rejected with a suggestion', () => {
    assert.match(
      parseErrorMessage('kraken,cracken'),
      /^unknown source; .*kraken, bitfinex, coinbase, coingecko; did you mean kraken\?/,
    );
    assert.match(parseErrorMessage('toString'), /unknown source/);
    assert.match(parseErrorMessage('__proto__=https://x.example'), /unknown source/);
    assert.match(parseErrorMessage('Kraken'), /did you mean kraken/);
  });

  it('a list of price sources must not be empty or have duplicates', () => {
    assert.match(parseErrorMessage('kraken,bitfinex,kraken=https://x.example'), /^kraken is listed twice/);
    assert.match(parseErrorMessage(' , '), /^must name at least one of kraken/);
    assert.match(parseErrorMessage(''), /^must name at least one/);
  });

  it('an invalid or insecure price source URL is rejected and not repeated', () => {
    const urls = ['', 'x', 'ftp://x.example', 'http://x.example', 'https://user:hunter2@x.example'];
    for (const url of [...urls, 'https://x.example/?key=hunter2', 'https://x.example/#a']) {
      assert.match(
        parseErrorMessage(`kraken=${url}`),
        /^the URL after kraken= must be https:\/\/ and a host/,
        url,
      );
      assert.doesNotMatch(parseErrorMessage(`kraken=${url}`), /hunter2|x\.example/);
    }
  });

  it('the euro feed URL follows the same rules, and may have a path', () => {
    assert.equal(validateFeedUrl('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'), undefined);
    assert.equal(validateFeedUrl('http://localhost:8080/euro.xml'), undefined);
    assert.match(validateFeedUrl('http://www.ecb.europa.eu/') ?? '', /no one can change a price in transit/);
  });
});

describe('the table of sources', () => {
  it('every coin has at least two sources besides CoinGecko, which may copy their prices', () => {
    const exchanges: readonly QuoteSource[] = QUOTE_SOURCE_NAMES.filter((name) => name !== 'coingecko').map(
      (name) => QUOTE_SOURCES[name],
    );
    for (const coin of COIN_CODES) {
      const listing = exchanges.filter(({ symbols }) => symbols[pricedAs(coin)] !== undefined);
      assert.ok(listing.length >= 2, coin);
    }
  });

  it('a source uses a different symbol for each coin', () => {
    for (const source of QUOTE_SOURCE_NAMES) {
      const symbols = Object.values(QUOTE_SOURCES[source].symbols);
      assert.equal(new Set(symbols).size, symbols.length, source);
    }
  });
});

describe('the setting of block explorers', () => {
  it('each network has one https URL with a place for the transaction', () => {
    assert.deepEqual([...parseExplorers('')], []);
    const both = 'bitcoin=https://explorer.example/tx/{tx}, tron=https://tron.example/#/transaction/{tx}';
    assert.deepEqual(
      [...parseExplorers(both)],
      [
        ['bitcoin', 'https://explorer.example/tx/{tx}'],
        ['tron', 'https://tron.example/#/transaction/{tx}'],
      ],
    );
    for (const wrong of [
      'ripple=https://explorer.example/{tx}',
      'bitcoin=http://explorer.example/{tx}',
      'bitcoin=javascript:{tx}',
      'bitcoin=https://{tx}.example/',
      'bitcoin=https://explorer.example/',
      'bitcoin=https://explorer.example/{tx}/{tx}',
      'bitcoin=https://me:secret@explorer.example/{tx}',
      'bitcoin',
    ])
      assert.throws(() => parseExplorers(wrong), /must be network=https/, wrong);
    assert.throws(() => parseExplorers('tron=https://a.example/{tx},tron=https://b.example/{tx}'), /twice/);
  });
});

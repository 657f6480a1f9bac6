/** How amounts read on every page. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limitsView } from '../../src/panel/account/limits.ts';
import {
  exactUsd,
  formatCount,
  formatGib,
  formatMemory,
  formatMonths,
  formatNumber,
  formatShare,
  formatTib,
  usd,
  usdValue,
} from '../../src/panel/parts/format.ts';

const PANEL = new URL('../../src/panel/', import.meta.url);
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('amounts on pages', () => {
  it('money has two decimals, a sign in front, and commas between thousands', () => {
    assert.deepEqual([usd(1234.5), usd(-3), usdValue(1234.5)], ['$1,234.50', '−$3.00', '1234.50']);
    const exact = ['60000', '0.0853', '-1234.5', '123456789012345678.25', 'n/a'].map(exactUsd);
    const expected = ['$60,000.00', '$0.0853', '−$1,234.50', '$123,456,789,012,345,678.25', '$n/a'];
    assert.deepEqual(exact, expected);
  });

  it('sizes name their unit after a space that does not break', () => {
    assert.equal(formatGib(8192), '8,192\u00a0GiB');
    const memory = [512, 1024, 1536, 262_144].map(formatMemory).map(plain);
    assert.deepEqual(memory, ['512 MiB', '1 GiB', '1.5 GiB', '256 GiB']);
    assert.equal(plain(formatTib(20)), '20 TiB');
  });

  it('counts have commas between thousands, and nouns agree with them', () => {
    assert.deepEqual([formatNumber(8192), formatCount(1, 'rule')], ['8,192', '1 rule']);
    assert.deepEqual([formatMonths(1), formatMonths(12)], ['1 month', '12 months']);
  });

  it('the limits of an account have commas between thousands', () => {
    const { text } = limitsView([{ name: 'volume_gb', limit: 8192, used: 1024 }] as never).body;
    assert.match(text, />1,024<.*>8,192</);
  });

  it('a share is rounded down, so that only an uninterrupted service has 100%', () => {
    assert.deepEqual([1, 0.99999, 0.5, 0.9712].map(formatShare), ['100%', '99.99%', '50%', '97.12%']);
  });

  it('no other module of the panel formats amounts on its own', () => {
    const own = globSync('**/*.ts', { cwd: PANEL }).filter((path) => {
      const source = readFileSync(new URL(path, PANEL), 'utf8');
      return /toLocaleString|toFixed|NumberFormat|\} [GMT]iB|\\u00a0[GMT]iB/.test(source);
    });
    assert.deepEqual(own, ['parts/format.ts']);
  });
});

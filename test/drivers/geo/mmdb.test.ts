import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MmdbGeo } from '../../../src/drivers/geo/mmdb.ts';
import { resolveCountry } from '../../../src/http/client-address.ts';
import { isCountryCode } from '../../../src/spec/countries.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const bundled = new MmdbGeo({ file: null });

test('well-known addresses have the correct country in every notation', async () => {
  // The first lookup loads the file if `load` was not called.
  assert.equal(resolveCountry(bundled, '8.8.8.8'), 'US');
  await bundled.load();
  assert.equal(resolveCountry(bundled, '::ffff:8.8.8.8'), 'US');
  assert.equal(resolveCountry(bundled, '2001:4860:4860::8888'), 'US');
  assert.equal(resolveCountry(bundled, '193.0.6.139'), 'NL');
  assert.equal(resolveCountry(bundled, '2001:67c:2e8:22::c100:68b'), 'NL');
});

test('a private, reserved, or invalid address has the country XX', () => {
  for (const address of [
    ...['127.0.0.1', '10.1.2.3', '192.168.1.1', '172.16.0.1', '169.254.1.1', '100.64.0.1', '0.0.0.0'],
    ...['198.51.100.7', '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'fd00::1'],
    ...['2001:db8::1', '2002:808:808::1', '64:ff9b::808:808', '::ffff:10.0.0.1', '', 'unknown', '8.8.8'],
  ]) {
    assert.equal(resolveCountry(bundled, address), 'XX', address);
  }
});

test('a code that is not a country code is not passed on', () => {
  const withCode = (code: unknown) => resolveCountry({ countryOf: () => code as string | null }, '8.8.8.8');
  assert.deepEqual(['IS', null].map(withCode), ['IS', 'XX']);
  for (const code of ['EU', 'AP', 'ZZ', 'XX', 'UK', 'is', 'A1', '']) assert.ok(!isCountryCode(code), code);
  for (const code of ['IS', 'FR', 'CH', 'RO', 'XK']) assert.ok(isCountryCode(code), code);
});

test('an invalid or missing database file fails to load and yields no country', async () => {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'not.mmdb');
  writeFileSync(file, 'nothing');
  for (const name of [file, `${file}.missing`]) {
    const geo = new MmdbGeo({ file: name });
    assert.equal(geo.countryOf('8.8.8.8'), null);
    await assert.rejects(geo.load());
  }
});

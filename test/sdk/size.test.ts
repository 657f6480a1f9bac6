import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sdkSize } from './bundle.ts';

it('the whole SDK is under 20 kB, minified and gzipped', () => {
  const { gzippedBytes } = sdkSize();
  assert.ok(gzippedBytes < 20_000, `${gzippedBytes} bytes`);
});

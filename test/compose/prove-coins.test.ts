import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RealCoin } from '../../src/compose/coins.ts';
import { proveCoins } from '../../src/compose/prove-coins.ts';
import { NodeError } from '../../src/drivers/chain/node-http.ts';

const XPUB = `xpub${'6Cx5tvq6nACSLJ'.repeat(8)}`;

test('what a node repeats of a key, or of its own address, is not told when it is proven', async () => {
  const prove = async () => {
    throw new NodeError('deriveaddresses', -5, `no such key ${XPUB} at http://u:pw@node.example/\u001b[31m`);
  };
  const coin = { coin: 'BTC', nodes: [{ settings: ['SKERRY_BTC_URL'], prove }] };
  const said: string[] = [];
  await proveCoins([coin as unknown as RealCoin], (line) => void said.push(line));
  assert.match(said.join('\n'), /^skerryd: SKERRY_BTC_URL: deriveaddresses: no such key/);
  for (const secret of ['6Cx5tvq6nACSLJ', 'u:pw', '\u001b']) assert.ok(!said.join().includes(secret), secret);
});

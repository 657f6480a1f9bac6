import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCoins } from '../../src/compose/check-coins.ts';
import type { RealCoin } from '../../src/compose/coins.ts';
import { EvmChain } from '../../src/drivers/chain/evm/driver.ts';
import { NodeError, parseNodeUrl } from '../../src/drivers/chain/node-http.ts';
import { testAccount } from '../drivers/chain/evm/evm-world.ts';
import { StubNode } from '../drivers/chain/evm/stub-node.ts';

const XPUB = `xpub${'6Cx5tvq6nACSLJ'.repeat(8)}`;

test('a warning about a node contains neither the key nor the node address', async () => {
  const checkSafety = async () => {
    throw new NodeError('deriveaddresses', -5, `no such key ${XPUB} at http://u:pw@node.example/\u001b[31m`);
  };
  const coin = { coin: 'BTC', nodes: [{ settings: ['SKERRY_BTC_URL'], checkSafety }] };
  const warnings: string[] = [];
  await checkCoins([coin as unknown as RealCoin], (line) => void warnings.push(line));
  assert.match(warnings.join('\n'), /^skerryd: SKERRY_BTC_URL: deriveaddresses: no such key/);
  for (const secret of ['6Cx5tvq6nACSLJ', 'u:pw', '\u001b'])
    assert.ok(!warnings.join().includes(secret), secret);
});

test('an Ethereum node that is still syncing causes a warning and does not stop the start', async (t) => {
  const node = await StubNode.start();
  t.after(() => node.close());
  Object.assign(node, { height: 0, code: '0x', syncing: { currentBlock: '0x0' } });
  const driver = new EvmChain({
    ...{ coin: 'USDT', node: parseNodeUrl(node.url), account: testAccount(), own: async () => new Set() },
    ...{ contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7', allowTest: false },
  });
  const settings = ['SKERRY_ETH_URL', 'SKERRY_ETH_USDT'] as const;
  const coin: RealCoin = {
    coin: 'USDT',
    driver,
    nodes: [{ settings, checkSafety: () => driver.checkSafety() }],
  };
  const warnings: string[] = [];
  await checkCoins([coin], (line) => void warnings.push(line));
  assert.match(
    warnings.join('\n'),
    /^skerryd: SKERRY_ETH_URL: .*the node is syncing.*; no payments are accepted through it/,
  );
});

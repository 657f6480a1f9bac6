import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import { JsonRpc } from '../../../../src/drivers/chain/json-rpc.ts';
import { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import { UTXO_PARAMS } from '../../../../src/drivers/chain/utxo/networks.ts';
import { checkNetwork } from '../../../../src/drivers/chain/utxo/safety.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { BitcoinStub, createDriver, FIRST_ADDRESSES, PASSWORD, ZPUB } from './bitcoin-stub.ts';

const [FIRST] = FIRST_ADDRESSES;
const KEY = AccountKey.parse(ZPUB);

let node: BitcoinStub;
let chain: UtxoChain;

beforeEach(async () => {
  node = await BitcoinStub.start();
  chain = createDriver(node);
});
afterEach(() => node.close());

function allocate(index: number, by = chain) {
  return by.allocate({ id: `invoice-${index}`, index, amountUnits: 123_456_789n });
}

describe('addresses from a descriptor wallet', () => {
  it('addresses match the BIP 84 examples and have a payment URI', async () => {
    const deposits = [await allocate(0), await allocate(1)];
    assert.deepEqual(
      deposits.map(({ address }) => address),
      FIRST_ADDRESSES,
    );
    assert.equal(deposits[0]?.uri, `bitcoin:${FIRST}?amount=1.23456789`);
  });

  it('addresses are imported once, a thousand at a time, before they are assigned', async () => {
    await allocate(0);
    assert.deepEqual(node.range, [0, 999]);
    await allocate(5);
    await allocate(999, createDriver(node));
    assert.equal(node.countOf('importdescriptors'), 1);
    await allocate(1_000);
    assert.deepEqual(node.range, [0, 1_999]);
    assert.equal(node.countOf('rescanblockchain'), 0);
  });

  it('a range that the wallet has grown is kept', async () => {
    node.range = [0, 2_500];
    await allocate(2_999);
    assert.deepEqual(node.range, [0, 2_999]);
  });

  it('concurrent requests import addresses once', async () => {
    await Promise.all([0, 1, 2, 5].map((index) => allocate(index)));
    assert.equal(node.countOf('importdescriptors'), 1);
  });

  it('assigned addresses that the wallet does not know are rescanned for one day', async () => {
    await allocate(1_500);
    assert.deepEqual(node.range, [0, 1_999]);
    const [rescan] = node.calls.filter(({ method }) => method === 'rescanblockchain');
    assert.deepEqual(rescan?.params, [800_000 - 144]);
  });

  it('assigned addresses are watched by any wallet after its safety check', async () => {
    const allocatedCount = async () => 1_502;
    const again = new UtxoChain({
      coin: 'BTC',
      node: node.node,
      account: KEY,
      own: async () => new Set(),
      allowTest: false,
      allocatedCount,
    });
    await again.checkSafety();
    assert.deepEqual(node.range, [0, 1_999]);
    assert.equal(node.countOf('rescanblockchain'), 1);
    await again.checkSafety();
    assert.equal(node.countOf('importdescriptors'), 1);
  });

  it('a rescan on a pruned node covers the blocks that it has', async () => {
    node.overrideChainInfo({ pruned: true, pruneheight: 799_990 });
    await allocate(5);
    const [rescan] = node.calls.filter(({ method }) => method === 'rescanblockchain');
    assert.deepEqual(rescan?.params, [799_990]);
  });

  it('no address is assigned if the import fails or the node derives another address', async () => {
    node.answers.set('importdescriptors', [{ success: false, error: { code: -4, message: `no ${ZPUB}` } }]);
    await assert.rejects(allocate(0), /did not import the addresses \(-4\)$/);
    node.answers.set('importdescriptors', [{ success: true }]);
    await assert.rejects(allocate(0), /does not watch the imported addresses/);
    node.answers.set('deriveaddresses', [FIRST_ADDRESSES[1]]);
    await assert.rejects(allocate(0), UnsafeChainError);
  });
});

describe('safety of Bitcoin nodes', () => {
  const cases: [string, (stub: BitcoinStub) => void, RegExp][] = [
    [
      'a wallet that can hold private keys',
      (stub) => stub.overrideWalletInfo({ private_keys_enabled: true }),
      /private keys/,
    ],
    [
      'a wallet that does not report whether it has keys',
      (stub) => stub.overrideWalletInfo({ private_keys_enabled: undefined }),
      /private keys/,
    ],
    [
      'a wallet with an external signer',
      (stub) => stub.overrideWalletInfo({ external_signer: true }),
      /external signer/,
    ],
    [
      'a legacy wallet with a seed',
      (stub) => stub.overrideWalletInfo({ descriptors: false, hdseedid: 'ab' }),
      /its own seed/,
    ],
    [
      'a legacy wallet with keys',
      (stub) => stub.overrideWalletInfo({ descriptors: false, keypoolsize: 5 }),
      /its own key pool/,
    ],
    ['a test network', (stub) => stub.overrideChainInfo({ chain: 'regtest' }), /not on Bitcoin’s main/],
    ['an unknown network', (stub) => stub.overrideChainInfo({ chain: 'other' }), /not on a Bitcoin network/],
    [
      'the main network of another coin',
      (stub) =>
        stub.answers.set('getblockhash', '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'),
      /not on Bitcoin’s main/,
    ],
  ];
  for (const [subject, arrange, pattern] of cases) {
    it(`${subject} is rejected`, async () => {
      arrange(node);
      const refused = (error: unknown) => error instanceof UnsafeChainError && pattern.test(error.message);
      await assert.rejects(chain.checkSafety(), refused);
      await assert.rejects(allocate(0), refused);
      await assert.rejects(chain.poll({ cursor: null }), refused);
    });
  }

  it('a node with any loaded wallet that can spend is rejected, because the password opens it', async () => {
    node.answers.set('listwallets', ['watch', 'hot']);
    let requests = 0;
    node.answers.set('getwalletinfo', () => {
      requests += 1;
      return { private_keys_enabled: requests > 2, descriptors: true };
    });
    await assert.rejects(chain.checkSafety(), /a loaded wallet of the node can hold private keys/);
  });

  it('a test network key is rejected on the main network', async () => {
    await assert.rejects(
      createDriver(node, { account: AccountKey.parse(ZPUB).tpub, allowTest: true }).checkSafety(),
      UnsafeChainError,
    );
  });

  it('a wallet that is not loaded is reported, but not as unsafe', async () => {
    node.failWith('getwalletinfo', -18, 'Requested wallet does not exist or is not loaded');
    await assert.rejects(
      chain.checkSafety(),
      (error) => !(error instanceof UnsafeChainError) && /loadwallet/.test(String(error)),
    );
    const health = await chain.health();
    assert.equal(health.ok, false);
    assert.match(health.detail, /is unavailable \(-18\)/);
  });

  it('no error contains the key, the password, or the address of the node', async () => {
    const { xpub } = AccountKey.parse(ZPUB);
    const seen: string[] = [];
    const collect = (error: unknown) => {
      seen.push(String(error), (error as Error).stack ?? '');
      return true;
    };
    for (const method of ['getdescriptorinfo', 'deriveaddresses', 'listdescriptors', 'importdescriptors']) {
      node.failWith(method, -5, `the key '${xpub}' is not valid`);
      await assert.rejects(allocate(0), collect);
      node.answers.delete(method);
    }
    await assert.rejects(createDriver(node, { password: 'wrong-one' }).checkSafety(), collect);
    assert.ok(seen.length >= 8);
    for (const secret of [xpub, ZPUB, PASSWORD, 'wrong-one', '127.0.0.1']) {
      assert.ok(!seen.some((text) => text.includes(secret)), 'a secret in an error');
    }
  });
});

describe('versions of Litecoin nodes', () => {
  const check = () => checkNetwork(new JsonRpc(node.node), 'LTC', true);
  const setVersion = (version: number) =>
    node.answers.set('getnetworkinfo', { version, connections: 8, networkactive: true });

  it('an outdated Litecoin node is rejected on the main network only', async () => {
    node.answers.set('getblockhash', UTXO_PARAMS.LTC.genesisHash);
    setVersion(210_201);
    const refused = (error: unknown) =>
      error instanceof UnsafeChainError && /0\.21\.5\.8/.test(error.message);
    await assert.rejects(check(), refused);
    setVersion(210_507);
    await assert.rejects(check(), refused);
    setVersion(210_508);
    assert.deepEqual(await check(), { isMain: true, prefix: 'ltc' });
    node.overrideChainInfo({ chain: 'regtest' });
    node.answers.set('getblockhash', 'f'.repeat(64));
    setVersion(210_201);
    assert.equal((await check()).isMain, false);
  });
});

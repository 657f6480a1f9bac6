import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { AccountKey } from '../../../src/drivers/chain/account-key.ts';
import { JsonRpc } from '../../../src/drivers/chain/json-rpc.ts';
import { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import { UTXO_PARAMS } from '../../../src/drivers/chain/utxo/networks.ts';
import { checkNetwork } from '../../../src/drivers/chain/utxo/safety.ts';
import { UnsafeChainError } from '../../../src/ports/chain.ts';
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
  it('are those of the standard’s own examples, with what a wallet opens', async () => {
    const deposits = [await allocate(0), await allocate(1)];
    assert.deepEqual(
      deposits.map(({ address }) => address),
      FIRST_ADDRESSES,
    );
    assert.equal(deposits[0]?.uri, `bitcoin:${FIRST}?amount=1.23456789`);
  });

  it('are watched before they are given out, a thousand ahead, and imported once', async () => {
    await allocate(0);
    assert.deepEqual(node.range, [0, 999]);
    await allocate(5);
    await allocate(999, createDriver(node));
    assert.equal(node.countOf('importdescriptors'), 1);
    await allocate(1_000);
    assert.deepEqual(node.range, [0, 1_999]);
    assert.equal(node.countOf('rescanblockchain'), 0);
  });

  it('keep the range that the wallet has grown by itself', async () => {
    node.range = [0, 2_500];
    await allocate(2_999);
    assert.deepEqual(node.range, [0, 2_999]);
  });

  it('are imported once by many who ask at the same moment', async () => {
    await Promise.all([0, 1, 2, 5].map((index) => allocate(index)));
    assert.equal(node.countOf('importdescriptors'), 1);
  });

  it('that a wallet should know and does not are looked for in the blocks of a day', async () => {
    await allocate(1_500);
    assert.deepEqual(node.range, [0, 1_999]);
    const [rescan] = node.calls.filter(({ method }) => method === 'rescanblockchain');
    assert.deepEqual(rescan?.params, [800_000 - 144]);
  });

  it('that were given out are watched by whatever wallet there is, as soon as it is proven', async () => {
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

  it('of a pruned node are looked for in the blocks that it has', async () => {
    node.overrideChainInfo({ pruned: true, pruneheight: 799_990 });
    await allocate(5);
    const [rescan] = node.calls.filter(({ method }) => method === 'rescanblockchain');
    assert.deepEqual(rescan?.params, [799_990]);
  });

  it('are not given out where the wallet imports nothing, or the node derives others', async () => {
    node.answers.set('importdescriptors', [{ success: false, error: { code: -4, message: `no ${ZPUB}` } }]);
    await assert.rejects(allocate(0), /does not import our addresses \(-4\)$/);
    node.answers.set('importdescriptors', [{ success: true }]);
    await assert.rejects(allocate(0), /does not watch what it imported/);
    node.answers.set('deriveaddresses', [FIRST_ADDRESSES[1]]);
    await assert.rejects(allocate(0), UnsafeChainError);
  });
});

describe('what a Bitcoin node must be', () => {
  const cases: [string, (stub: BitcoinStub) => void, RegExp][] = [
    [
      'a wallet that can hold private keys',
      (stub) => stub.overrideWalletInfo({ private_keys_enabled: true }),
      /private keys/,
    ],
    [
      'a wallet that does not say',
      (stub) => stub.overrideWalletInfo({ private_keys_enabled: undefined }),
      /private keys/,
    ],
    [
      'a wallet with a signing device',
      (stub) => stub.overrideWalletInfo({ external_signer: true }),
      /signing device/,
    ],
    [
      'an old wallet with a seed',
      (stub) => stub.overrideWalletInfo({ descriptors: false, hdseedid: 'ab' }),
      /a seed/,
    ],
    [
      'an old wallet with keys',
      (stub) => stub.overrideWalletInfo({ descriptors: false, keypoolsize: 5 }),
      /a pool of keys/,
    ],
    [
      'a network without value',
      (stub) => stub.overrideChainInfo({ chain: 'regtest' }),
      /none of Bitcoin’s main/,
    ],
    ['a network nobody knows', (stub) => stub.overrideChainInfo({ chain: 'other' }), /none of Bitcoin’s/],
    [
      'the main network of another coin',
      (stub) =>
        stub.answers.set('getblockhash', '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'),
      /none of Bitcoin’s main/,
    ],
  ];
  for (const [what, arrange, says] of cases) {
    it(`${what} is refused`, async () => {
      arrange(node);
      const refused = (error: unknown) => error instanceof UnsafeChainError && says.test(error.message);
      await assert.rejects(chain.checkSafety(), refused);
      await assert.rejects(allocate(0), refused);
      await assert.rejects(chain.poll({ cursor: null }), refused);
    });
  }

  it('any wallet of the node that can spend is refused, for the same password opens it', async () => {
    node.answers.set('listwallets', ['watch', 'hot']);
    let asked = 0;
    node.answers.set('getwalletinfo', () => {
      asked += 1;
      return { private_keys_enabled: asked > 2, descriptors: true };
    });
    await assert.rejects(chain.checkSafety(), /a wallet that the node has loaded can hold private keys/);
  });

  it('a key of test networks is refused on the main one', async () => {
    await assert.rejects(
      createDriver(node, { account: AccountKey.parse(ZPUB).tpub, allowTest: true }).checkSafety(),
      UnsafeChainError,
    );
  });

  it('a wallet that is not loaded is not unsafe, and is said', async () => {
    node.failWith('getwalletinfo', -18, 'Requested wallet does not exist or is not loaded');
    await assert.rejects(
      chain.checkSafety(),
      (error) => !(error instanceof UnsafeChainError) && /loadwallet/.test(String(error)),
    );
    const health = await chain.health();
    assert.equal(health.ok, false);
    assert.match(health.detail, /does not answer \(-18\)/);
  });

  it('no error holds the key, the password or the address of the node', async () => {
    const { xpub } = AccountKey.parse(ZPUB);
    const seen: string[] = [];
    const note = (error: unknown) => {
      seen.push(String(error), (error as Error).stack ?? '');
      return true;
    };
    for (const method of ['getdescriptorinfo', 'deriveaddresses', 'listdescriptors', 'importdescriptors']) {
      node.failWith(method, -5, `the key '${xpub}' is not valid`);
      await assert.rejects(allocate(0), note);
      node.answers.delete(method);
    }
    await assert.rejects(createDriver(node, { password: 'wrong-one' }).checkSafety(), note);
    assert.ok(seen.length >= 8);
    for (const secret of [xpub, ZPUB, PASSWORD, 'wrong-one', '127.0.0.1']) {
      assert.ok(!seen.some((text) => text.includes(secret)), 'a secret in an error');
    }
  });
});

describe('a node of Litecoin', () => {
  const prove = () => checkNetwork(new JsonRpc(node.node), 'LTC', true);
  const setVersion = (version: number) =>
    node.answers.set('getnetworkinfo', { version, connections: 8, networkactive: true });

  it('that does not know the rules of today is refused on the main network, and nowhere else', async () => {
    node.answers.set('getblockhash', UTXO_PARAMS.LTC.genesisHash);
    setVersion(210_201);
    const refused = (error: unknown) =>
      error instanceof UnsafeChainError && /0\.21\.5\.8/.test(error.message);
    await assert.rejects(prove(), refused);
    setVersion(210_507);
    await assert.rejects(prove(), refused);
    setVersion(210_508);
    assert.deepEqual(await prove(), { isMain: true, prefix: 'ltc' });
    node.overrideChainInfo({ chain: 'regtest' });
    node.answers.set('getblockhash', 'f'.repeat(64));
    setVersion(210_201);
    assert.equal((await prove()).isMain, false);
  });
});

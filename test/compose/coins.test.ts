/** The drivers that the settings of a live service create, and the checks before it listens. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { checkCoins } from '../../src/compose/check-coins.ts';
import { createRealCoins, validateCoinKeys } from '../../src/compose/coins.ts';
import { createAddressDeriver } from '../../src/compose/derive-addresses.ts';
import { formatReadyLines, formatWarnings } from '../../src/compose/startup-messages.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { CrossCheckedChain } from '../../src/drivers/chain/cross-checked.ts';
import { derivationIndex } from '../../src/drivers/chain/evm/driver.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import type { AddressPool } from '../../src/ports/chain.ts';
import { COIN_CODES, type CoinCode } from '../../src/spec/coins.ts';

/** Of an offline wallet made up for this test. */
const WALLET = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));
const account = (path: string) => WALLET.derive(path).publicExtendedKey;
const NOWHERE = 'http://user:hunter2@127.0.0.1:1';

/** From Monero's documentation. */
const MONERO =
  '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A';

const ALL: Record<string, string> = {
  SKERRY_BTC_URL: `${NOWHERE}/wallet/skerry`,
  SKERRY_BTC_XPUB: account("m/84'/0'/0'"),
  SKERRY_LTC_URL: `${NOWHERE}/wallet/skerry`,
  SKERRY_LTC_XPUB: account("m/84'/2'/0'"),
  SKERRY_XMR_WALLET_URL: NOWHERE,
  SKERRY_XMR_DAEMON_URL: NOWHERE,
  SKERRY_XMR_ADDRESS: MONERO,
  SKERRY_ETH_URL: NOWHERE,
  SKERRY_ETH_XPUB: account("m/44'/60'/0'"),
  SKERRY_TRON_URL: NOWHERE,
  SKERRY_TRON_XPUB: account("m/44'/195'/0'"),
  SKERRY_SOL_URL: NOWHERE,
};

function liveConfig(env: Readonly<Record<string, string>> = {}): Config {
  return loadConfig({
    SKERRY_MODE: 'live',
    SKERRY_COMPUTE: 'qemu',
    DATABASE_URL: 'postgres://u:p@127.0.0.1/x',
    ...env,
  });
}

const createCoins = (config: Config) =>
  createRealCoins(config, {
    paidAddresses: () => async () => new Set(),
    ownAddresses: () => async () => new Set(),
    addressPool: () => ({}) as AddressPool,
    nextIndex: async () => 0,
    now: () => new Date(),
  });

function coinsError(env: Readonly<Record<string, string>>): string {
  try {
    validateCoinKeys(liveConfig(env));
  } catch (error) {
    assert.ok(error instanceof OperatorError);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  assert.fail('the keys were accepted');
}

describe('the coins of a live service', () => {
  it('a coin is accepted if its settings are complete; Ethereum and Tron have two each', () => {
    const all = createCoins(liveConfig(ALL));
    assert.deepEqual(all.map(({ coin }) => coin).sort(), [...COIN_CODES].sort());
    for (const { coin, driver } of all) assert.equal(driver.coin, coin);
    const { SKERRY_ETH_URL, SKERRY_ETH_XPUB } = ALL;
    const some = createCoins(
      liveConfig({ SKERRY_ETH_URL: String(SKERRY_ETH_URL), SKERRY_ETH_XPUB: String(SKERRY_ETH_XPUB) }),
    );
    assert.deepEqual(
      some.map(({ coin }) => coin),
      ['ETH', 'USDT'],
    );
    assert.deepEqual(createCoins(liveConfig()), []);
  });

  it('a coin with a second node is cross-checked', () => {
    const seconds = ['BTC', 'LTC', 'XMR', 'ETH', 'TRON', 'SOL'].map((chain) => `SKERRY_${chain}_SECOND_URL`);
    const with2 = createCoins(
      liveConfig({ ...ALL, ...Object.fromEntries(seconds.map((name) => [name, 'https://two.example'])) }),
    );
    assert.ok(with2.every(({ driver }) => driver instanceof CrossCheckedChain));
    assert.ok(with2.every(({ nodes }) => nodes.length === 2));
    assert.ok(createCoins(liveConfig(ALL)).every(({ driver }) => !(driver instanceof CrossCheckedChain)));
  });

  it('a private, test network, or invalid key is rejected by the name of its setting', () => {
    const node = { SKERRY_LTC_URL: NOWHERE };
    const secret = WALLET.derive("m/84'/2'/0'").privateExtendedKey;
    const line = coinsError({ ...node, SKERRY_LTC_XPUB: secret });
    assert.match(line, /^SKERRY_LTC_XPUB: this is a private key/);
    assert.ok(!line.includes(secret.slice(4, 20)));
    assert.match(coinsError({ ...node, SKERRY_LTC_XPUB: account('m') }), /^SKERRY_LTC_XPUB: .*depth/);
    const versions = { private: 0x04358394, public: 0x043587cf };
    const test = HDKey.fromMasterSeed(new Uint8Array(32).fill(7), versions).derive("m/84'/1'/0'");
    const testKey = { ...node, SKERRY_LTC_XPUB: test.publicExtendedKey };
    assert.match(coinsError(testKey), /^SKERRY_LTC_XPUB: .*test network/);
    validateCoinKeys(liveConfig({ ...testKey, SKERRY_WORTHLESS_COINS: 'true' }));
    const monero = { SKERRY_XMR_WALLET_URL: NOWHERE, SKERRY_XMR_DAEMON_URL: NOWHERE };
    assert.match(
      coinsError({ ...monero, SKERRY_XMR_ADDRESS: `${MONERO.slice(0, -1)}B` }),
      /^SKERRY_XMR_ADDRESS: /,
    );
  });
});

describe('keys of two coins', () => {
  it('two coins cannot share a key, in any spelling', () => {
    const both = {
      SKERRY_ETH_URL: NOWHERE,
      SKERRY_ETH_XPUB: account("m/44'/60'/0'"),
      SKERRY_TRON_URL: NOWHERE,
      SKERRY_TRON_XPUB: ` ${account("m/44'/60'/0'")} `,
    };
    assert.match(coinsError(both), /^SKERRY_TRON_XPUB: already used by SKERRY_ETH_XPUB/);
  });
});

describe('addresses to compare with the offline wallet', () => {
  const config = liveConfig(ALL);

  it('the addresses of two coins on one chain alternate by index', async () => {
    const eth = createAddressDeriver(config, 'USDT') ?? assert.fail();
    assert.deepEqual([eth.coinAt(4), eth.coinAt(5)], ['ETH', 'USDT']);
    assert.equal(
      await eth.addressAt(5),
      await (createAddressDeriver(config, 'ETH') ?? assert.fail()).addressAt(5),
    );
    const tron = createAddressDeriver(config, 'TRX') ?? assert.fail();
    assert.deepEqual([tron.coinAt(0), tron.coinAt(1)], ['TRX', 'USDTTRC']);
    assert.match(await tron.addressAt(0), /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    assert.equal(createAddressDeriver(config, 'SOL'), null);
    assert.equal(createAddressDeriver(liveConfig(), 'BTC'), null);
  });

  it('the addresses match those of other wallets for the words “abandon … about”', async () => {
    const words = HDKey.fromMasterSeed(
      hex.decode(
        '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1' +
          '9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
      ),
    );
    const theirs = liveConfig({
      SKERRY_ETH_URL: NOWHERE,
      SKERRY_ETH_XPUB: words.derive("m/44'/60'/0'").publicExtendedKey,
      SKERRY_TRON_URL: NOWHERE,
      SKERRY_TRON_XPUB: words.derive("m/44'/195'/0'").publicExtendedKey,
    });
    const first = async (coin: CoinCode) =>
      await (createAddressDeriver(theirs, coin) ?? assert.fail()).addressAt(0);
    assert.equal(await first('ETH'), '0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
    assert.equal(await first('TRX'), 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH');
  });

  it('the Ethereum addresses have the indexes that the driver uses', () => {
    const eth = createAddressDeriver(config, 'ETH') ?? assert.fail();
    for (const coin of ['ETH', 'USDT'] as const) {
      for (const index of [0, 1, 500]) assert.equal(eth.coinAt(derivationIndex(coin, index)), coin);
    }
  });

  it('the first Monero address is the primary one, which no top-up uses', async () => {
    const monero = createAddressDeriver(config, 'XMR') ?? assert.fail();
    assert.deepEqual([monero.coinAt(0), monero.coinAt(1)], [null, 'XMR']);
    assert.equal(await monero.addressAt(0), MONERO);
  });
});

describe('before a live service listens', () => {
  /** Responds to everything as a regtest node without a wallet. */
  const regtest = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += String(part);
    });
    request.on('end', () => {
      const respond = ({ id, method }: { id: unknown; method: string }) =>
        method === 'getblockchaininfo'
          ? { id, result: { chain: 'regtest' }, error: null }
          : { id, result: '00'.repeat(32), error: null };
      const requests = JSON.parse(text) as { id: unknown; method: string };
      response.end(JSON.stringify(Array.isArray(requests) ? requests.map(respond) : respond(requests)));
    });
  });
  let url = '';
  before(async () => {
    await new Promise<void>((resolve) => regtest.listen(0, '127.0.0.1', resolve));
    url = `http://user:hunter2@127.0.0.1:${(regtest.address() as AddressInfo).port}/wallet/w`;
  });
  after(() => {
    regtest.closeAllConnections();
    regtest.close();
  });

  it('an unsafe node stops the start with a line that names its setting', async () => {
    const config = liveConfig({ SKERRY_BTC_URL: url, SKERRY_BTC_XPUB: String(ALL.SKERRY_BTC_XPUB) });
    await assert.rejects(
      checkCoins(createCoins(config), () => assert.fail('warned')),
      (error) => error instanceof OperatorError && /^SKERRY_BTC_URL: [^\n]*regtest/.test(error.message),
    );
  });

  it('an unsafe second node is named by its own setting', async () => {
    const config = liveConfig({
      SKERRY_BTC_URL: NOWHERE,
      SKERRY_BTC_XPUB: String(ALL.SKERRY_BTC_XPUB),
      SKERRY_BTC_SECOND_URL: url,
    });
    await assert.rejects(
      checkCoins(createCoins(config), () => undefined),
      /^OperatorError: SKERRY_BTC_SECOND_URL: /,
    );
  });

  it('an unreachable node causes one warning, with its setting and without its password', async () => {
    const warnings: string[] = [];
    await checkCoins(
      createCoins(liveConfig({ SKERRY_ETH_URL: NOWHERE, SKERRY_ETH_XPUB: String(ALL.SKERRY_ETH_XPUB) })),
      (line) => {
        warnings.push(line);
      },
    );
    assert.equal(warnings.length, 1, warnings.join('\n'));
    for (const line of warnings) assert.match(line, /^skerryd: SKERRY_ETH_URL: .*cannot be reached/);
    assert.doesNotMatch(warnings.join(), /hunter2|127\.0\.0\.1/);
  });

  it('a warning names both nodes of Monero, and the one of Ethereum once for both of its coins', async () => {
    const warnings: string[] = [];
    const some = Object.fromEntries(Object.entries(ALL).filter(([name]) => /_(XMR|ETH)_/.test(name)));
    const keepSettings = (line: string) => void warnings.push(line.split(': ')[1] ?? '');
    await checkCoins(createCoins(liveConfig(some)), keepSettings);
    assert.deepEqual(warnings.sort(), ['SKERRY_ETH_URL', 'SKERRY_XMR_WALLET_URL, SKERRY_XMR_DAEMON_URL']);
  });

  it('the start does not wait for a silent node beyond the timeout', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const warnings: string[] = [];
    const config = liveConfig({ SKERRY_SOL_URL: url });
    await checkCoins(createCoins(config), (line) => void warnings.push(line), 50);
    silent.closeAllConnections();
    silent.close();
    assert.match(warnings.join(), /SKERRY_SOL_URL: the node did not respond in time/);
  });

  it('the ready lines list the coins, and a warning follows if there are none or they are worthless', () => {
    const url = 'http://127.0.0.1:8080';
    const config = liveConfig(ALL);
    const coins = createCoins(config);
    assert.deepEqual(formatReadyLines(config, { url, coins }), [
      `skerry ready on ${url}`,
      'Live. Accepted coins: BTC, XMR, ETH, USDT, USDTTRC, LTC, TRX, SOL.',
    ]);
    assert.deepEqual(formatWarnings(config, coins), []);
    assert.match(formatReadyLines(liveConfig(), { url, coins: [] }).join('\n'), /coins: none/);
    assert.match(formatWarnings(liveConfig(), []).join(), /NO COIN IS ACCEPTED/);
    assert.match(
      formatWarnings(liveConfig({ SKERRY_WORTHLESS_COINS: 'true' }), coins).join(),
      /SKERRY_WORTHLESS_COINS: /,
    );
    const other = liveConfig({ SKERRY_ETH_USDT: `0x${'1'.repeat(40)}` });
    assert.match(formatWarnings(other, coins).join(), /^skerryd: SKERRY_ETH_USDT: /);
    const sandbox = loadConfig({});
    assert.deepEqual(formatWarnings(sandbox, []), []);
    assert.match(formatReadyLines(sandbox, { url, coins: [] }).join(), /Sandbox: /);
    assert.deepEqual(formatReadyLines(config, { url: null, coins }), ['skerry workers ready']);
  });
});

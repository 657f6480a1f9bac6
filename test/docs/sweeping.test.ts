/**
 * Sweeping works as the guide describes: an offline wallet signs, and files carry the transactions. Uses real
 * nodes.
 */
import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../src/drivers/chain/account-key.ts';
import { Anvil, NO_ANVIL } from '../drivers/chain/evm/anvil.ts';
import { contract } from '../drivers/chain/evm/contracts.ts';
import { EvmWorld } from '../drivers/chain/evm/evm-world.ts';
import { OfflineWallet } from '../drivers/chain/evm/offline-wallet.ts';
import { type MoneroWorld, startMonero } from '../drivers/chain/monero/monero-world.ts';
import { NO_MONERO, TestWallet } from '../drivers/chain/monero/nodes.ts';
import { NO_LITECOIND } from '../drivers/chain/utxo/litecoin-node.ts';
import { accountKey, LitecoinWorld, WATCH_WALLET } from '../drivers/chain/utxo/litecoin-world.ts';
import { FULL_ONLY } from '../support/runs.ts';

const OFFLINE = 'offline';
/** Version bytes of extended keys on test networks. */
const TEST_VERSIONS = { private: 0x04358394, public: 0x043587cf };

/** Returns the private key of the world's account, which only the offline machine has. */
function privateAccountKey(world: LitecoinWorld): string {
  for (let seed = 1; seed < 100; seed++) {
    if (accountKey(seed).xpub !== world.account.xpub) continue;
    const wallet = HDKey.fromMasterSeed(new Uint8Array(32).fill(seed), TEST_VERSIONS);
    return wallet.derive("m/84'/2'/0'").privateExtendedKey;
  }
  return assert.fail('no seed has the key of this account');
}

describe('sweeping Litecoin with a PSBT', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let world: LitecoinWorld;
  before(async () => {
    world = await LitecoinWorld.start();
  });
  after(() => world?.close());

  it('works with a watch-only wallet that creates it and an offline wallet that signs it', async () => {
    const driver = world.driver();
    for (const index of [0, 7]) {
      const { address } = await driver.allocate({ id: String(index), index, amountUnits: 1n });
      await world.pay(address, '1.5');
    }
    await world.mine(1);
    const offline = await world.addNode();
    await offline.call('createwallet', [OFFLINE, false, true]);
    const plain = `wpkh(${privateAccountKey(world)}/0/*)`;
    const { checksum } = (await offline.call('getdescriptorinfo', [plain])) as { checksum: string };
    const request = { desc: `${plain}#${checksum}`, range: [0, 20], timestamp: 'now', keypool: false };
    assert.deepEqual(
      await offline
        .call('importmulti', [[request], { rescan: false }], OFFLINE)
        .then((results) => (results as { success: boolean }[]).map(({ success }) => success)),
      [true],
    );
    const receiver = await world.addressOfPayer();
    const options = { includeWatching: true, subtractFeeFromOutputs: [0] };
    const { psbt } = (await world.watcher.call(
      'walletcreatefundedpsbt',
      [[], [{ [receiver]: '3' }], 0, options],
      WATCH_WALLET,
    )) as { psbt: string };
    const onServer = (await world.watcher.call('walletprocesspsbt', [psbt], WATCH_WALLET)) as {
      complete: boolean;
    };
    assert.equal(onServer.complete, false, 'the server cannot sign');
    const signed = (await offline.call('walletprocesspsbt', [psbt], OFFLINE)) as {
      psbt: string;
      complete: boolean;
    };
    assert.equal(signed.complete, true);
    const { hex } = (await world.watcher.call('finalizepsbt', [signed.psbt])) as { hex: string };
    const txid = String(await world.payer.call('sendrawtransaction', [hex]));
    await world.relay(txid);
    await world.mine(1);
    const output = (await world.payer.call('gettxout', [txid, 0])) as { value: string };
    assert.ok(Number(output.value) > 2.99 && Number(output.value) < 3, output.value);
  });
});

describe('sweeping Monero with key images and a signed set of transactions', {
  skip: FULL_ONLY.skip || NO_MONERO,
}, () => {
  let world: MoneroWorld;
  let viewOnly: TestWallet;
  let offline: TestWallet;
  before(async () => {
    world = await startMonero();
    const folder = async (name: string) => {
      await mkdir(join(world.folder, name));
      return join(world.folder, name);
    };
    const offlineFolder = await folder(OFFLINE);
    for (const file of ['operator', 'operator.keys']) {
      await cp(join(world.folder, 'miner', file), join(offlineFolder, file));
    }
    // This address reaches no node.
    const unreachable = { node: { url: 'http://127.0.0.1:1', authorization: null } };
    offline = await TestWallet.start(offlineFolder, unreachable as typeof world.daemon);
    await offline.call('open_wallet', { filename: 'operator', password: '' });
    viewOnly = await TestWallet.start(await folder('view-only'), world.daemon);
    const { key } = await offline.call<{ readonly key: string }>('query_key', { key_type: 'view_key' });
    await viewOnly.createViewOnly('mine', world.address, key);
  });
  after(async () => {
    await Promise.all([viewOnly?.stop(), offline?.stop()]);
    await world?.close();
  });

  it('sweeps all subaddresses at once', async () => {
    const driver = world.driver();
    const amountUnits = 2_000_000_000_000n;
    const deposits = await Promise.all(
      [0, 1].map(async (index) => await driver.allocate({ id: String(index), index, amountUnits })),
    );
    await world.include(await world.miner.pay(deposits.map(({ address }) => ({ address, amountUnits }))));
    await world.mine(12);
    await viewOnly.call('refresh');
    const { outputs_data_hex } = await viewOnly.call<{ outputs_data_hex: string }>('export_outputs', {
      all: true,
    });
    await offline.call('import_outputs', { outputs_data_hex });
    const images = await offline.call<{ offset: number; signed_key_images: object[] }>('export_key_images', {
      all: true,
    });
    assert.equal(images.signed_key_images.length, 2);
    await viewOnly.call('import_key_images', { ...images });
    const sweep = { address: world.minerAddress, account_index: 0, subaddr_indices_all: true };
    const { unsigned_txset } = await viewOnly.call<{ unsigned_txset: string }>('sweep_all', sweep);
    const { signed_txset } = await offline.call<{ signed_txset: string }>('sign_transfer', {
      unsigned_txset,
    });
    const { tx_hash_list } = await viewOnly.call<{ tx_hash_list: string[] }>('submit_transfer', {
      tx_data_hex: signed_txset,
    });
    assert.equal(tx_hash_list.length, 1);
    await world.include(tx_hash_list[0] ?? '');
    await world.miner.call('refresh');
    const { transfer } = await world.miner.call<{ transfer: { type: string; amount: number } }>(
      'get_transfer_by_txid',
      { txid: tx_hash_list[0] },
    );
    assert.equal(transfer.type, 'in');
    assert.ok(transfer.amount > 3.99e12 && transfer.amount < 4e12, String(transfer.amount));
  });
});

describe('sweeping Ethereum address by address', { skip: FULL_ONLY.skip || NO_ANVIL }, () => {
  const wallet = new OfflineWallet(new Uint8Array(32).fill(99));
  const price = { chainId: 31_337, nonce: 0, gasPrice: 20_000_000_000n };
  const receiver = `0x${'5a'.repeat(20)}`;
  const tether = () => contract('Tether');
  let anvil: Anvil;
  let world: EvmWorld;
  let token: string;
  before(async () => {
    anvil = await Anvil.start();
    token = await anvil.deploy(tether().bytecode);
    const account = AccountKey.parse(wallet.publicKey);
    world = await EvmWorld.start(anvil, { account, contract: token });
  });
  after(async () => {
    await world?.close();
    await anvil?.close();
  });

  const balanceOf = async (address: string) =>
    BigInt(await anvil.request<string>('eth_getBalance', address, 'latest'));
  async function send(signed: string): Promise<void> {
    const txid = await anvil.request<string>('eth_sendRawTransaction', signed);
    await anvil.mine();
    const { status } = await anvil.request<{ status: string }>('eth_getTransactionReceipt', txid);
    assert.equal(status, '0x1');
  }

  it('sends all ether but the fee, with the key of the invoice’s number', async () => {
    const topup = await world.invoice(50, 'ETH');
    await anvil.pay(topup.deposit_address, 10n ** 17n);
    await anvil.mine();
    await world.world.runUntilIdle();
    assert.equal((await world.world.deposits(topup)).length, 1);
    const gas = 21_000;
    const value = (await balanceOf(topup.deposit_address)) - BigInt(gas) * price.gasPrice;
    await send(wallet.sign(0, { ...price, gas, to: receiver, value }));
    assert.equal(await balanceOf(receiver), value);
    assert.equal(await balanceOf(topup.deposit_address), 0n);
  });

  it('sends USDT after ether for the fee arrives, and does not credit that ether', async () => {
    const topup = await world.invoice(50, 'USDT');
    const data = tether().call('transfer', topup.deposit_address, 50_000_000n);
    await anvil.send(await anvil.prepare({ to: token, data }));
    const gas = 70_000;
    await anvil.pay(topup.deposit_address, BigInt(gas) * price.gasPrice);
    await anvil.mine();
    await world.world.runUntilIdle();
    const deposits = await world.world.deposits(topup);
    assert.deepEqual(
      deposits.map(({ coin, amount_units }) => [coin, amount_units]),
      [['USDT', 50_000_000n]],
    );
    const sweep = tether().call('transfer', receiver, 50_000_000n);
    await send(wallet.sign(1, { ...price, gas, to: token, value: 0n, data: sweep }));
    const balance = await anvil.request<string>(
      'eth_call',
      { to: token, data: tether().call('balanceOf', receiver) },
      'latest',
    );
    assert.equal(BigInt(balance), 50_000_000n);
  });
});

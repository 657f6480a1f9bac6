import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, base58xmr, bech32, createBase58check, hex } from '@scure/base';
import {
  evmAddress,
  moneroAddress,
  segwitAddress,
  tronAddress,
} from '../../../src/drivers/chain/addresses.ts';
import {
  addressAt,
  canonicalAddress,
  ed25519PublicKey,
  newBlockHash,
  newTxid,
  paymentUri,
} from '../../../src/drivers/chain/simnet/networks.ts';
import { COIN_CODES, type CoinCode } from '../../../src/spec/coins.ts';

const SEED = Buffer.alloc(32, 7);

test('addresses match the examples that the networks publish', () => {
  assert.equal(
    segwitAddress('tb', hex.decode('751e76e8199196d454941c45d1b3a323f1433bd6')),
    'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  );
  for (const published of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  ]) {
    assert.equal(evmAddress(hex.decode(published.slice(2).toLowerCase())), published);
  }
  assert.equal(
    tronAddress(hex.decode('a614f803b6fd780986a42c78ec9c7f77e6ded13c')),
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  );
  const monero =
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A';
  const keys = base58xmr.decode(monero).subarray(1, 65);
  assert.equal(moneroAddress(18, keys.subarray(0, 32), keys.subarray(32)), monero);
  assert.equal(
    hex.encode(
      ed25519PublicKey(hex.decode('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')),
    ),
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});

const DECODES: Readonly<Record<CoinCode, (address: string) => void>> = {
  BTC: (address) => assert.equal(segwitBytes('tb', address), 20),
  LTC: (address) => assert.equal(segwitBytes('tltc', address), 20),
  XMR: (address) => {
    const bytes = base58xmr.decode(address);
    assert.equal(bytes[0], 36);
    assert.equal(bytes.length, 69);
    assert.deepEqual(bytes.subarray(65), keccak_256(bytes.subarray(0, 65)).subarray(0, 4));
  },
  ETH: (address) => assert.match(address, /^0x[0-9a-fA-F]{40}$/),
  USDT: (address) => assert.match(address, /^0x[0-9a-fA-F]{40}$/),
  TRX: (address) => assert.equal(createBase58check(sha256).decode(address)[0], 0x41),
  USDTTRC: (address) => assert.match(address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/),
  SOL: (address) => assert.equal(base58.decode(address).length, 32),
};

function segwitBytes(prefix: string, address: string): number {
  const decoded = bech32.decode(address as `${string}1${string}`);
  assert.equal(decoded.prefix, prefix);
  assert.equal(decoded.words[0], 0);
  return bech32.fromWords(decoded.words.slice(1)).length;
}

for (const coin of COIN_CODES) {
  test(`a simulated ${coin} address has the test format and a valid checksum and is unique`, () => {
    const addresses = Array.from({ length: 50 }, (_, index) => addressAt(coin, SEED, index));
    for (const address of addresses) {
      DECODES[coin](address);
      assert.equal(canonicalAddress(coin, address), address);
    }
    assert.equal(new Set(addresses).size, 50);
    assert.equal(addressAt(coin, SEED, 3), addresses[3]);
    assert.notEqual(addressAt(coin, Buffer.alloc(32, 8), 3), addresses[3]);
  });
}

test('coins that share a network do not share addresses', () => {
  assert.notEqual(addressAt('ETH', SEED, 0), addressAt('USDT', SEED, 0));
  assert.notEqual(addressAt('TRX', SEED, 0), addressAt('USDTTRC', SEED, 0));
});

test('an address in a single case is accepted where the network allows it, a wrong checksum is not', () => {
  const evm = addressAt('ETH', SEED, 0);
  assert.equal(canonicalAddress('ETH', evm.toLowerCase()), evm);
  assert.equal(canonicalAddress('ETH', `0x${evm.slice(2).toUpperCase()}`), evm);
  const flipped = evm.replace(/[a-f]/, (letter) => letter.toUpperCase());
  assert.notEqual(canonicalAddress('ETH', flipped), evm);
  const btc = addressAt('BTC', SEED, 0);
  assert.equal(canonicalAddress('BTC', btc.toUpperCase()), btc);
  const tron = addressAt('TRX', SEED, 0);
  assert.notEqual(canonicalAddress('TRX', tron.toLowerCase()), tron);
});

test('payment URIs contain the exact amount', () => {
  const units = 123_456_789_012_345_678n;
  assert.equal(paymentUri('BTC', 'tb1qa', 150_000n), 'bitcoin:tb1qa?amount=0.0015');
  assert.equal(paymentUri('LTC', 'tltc1qa', 100_000_000n), 'litecoin:tltc1qa?amount=1');
  assert.equal(paymentUri('XMR', '7a', 1n), 'monero:7a?tx_amount=0.000000000001');
  assert.equal(paymentUri('ETH', '0xA', units), 'ethereum:0xA@11155111?value=123456789012345678');
  assert.equal(
    paymentUri('USDT', '0xA', 30_000_000n),
    'ethereum:0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0@11155111/transfer?address=0xA&uint256=30000000',
  );
  assert.equal(paymentUri('SOL', 'So', 200_000_001n), 'solana:So?amount=0.200000001');
  assert.equal(paymentUri('TRX', 'Ta', 1n), 'Ta');
  assert.equal(paymentUri('USDTTRC', 'Ta', 1n), 'Ta');
});

test('simulated ids have the format of their network and never repeat', () => {
  for (const coin of COIN_CODES) {
    const shape = coin === 'ETH' || coin === 'USDT' ? /^0x[0-9a-f]{64}$/ : /^[0-9a-f]{64}$/;
    const txid = newTxid(coin);
    if (coin === 'SOL') assert.equal(base58.decode(txid).length, 64);
    else assert.match(txid, shape);
    const hash = newBlockHash(coin, 'parent');
    if (coin === 'SOL') assert.equal(base58.decode(hash).length, 32);
    else assert.match(hash, shape);
    assert.notEqual(newTxid(coin), txid);
    assert.notEqual(newBlockHash(coin, 'parent'), hash);
  }
});

test('no driver of a real coin imports code that can create a private key', () => {
  const folder = join(import.meta.dirname, '../../../src/drivers/chain');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const real = files.filter((name) => !name.startsWith('simnet'));
  const drivers = files.filter((name) => basename(name) === 'driver.ts');
  const networks = drivers.map((name) => dirname(name)).sort();
  assert.deepEqual(networks, ['evm', 'monero', 'simnet', 'solana', 'tron', 'utxo']);
  assert.ok(real.includes('addresses.ts') && files.length > real.length);
  for (const name of real) {
    assert.doesNotMatch(readFileSync(join(folder, name), 'utf8'), /createPrivateKey|simnet\//, name);
  }
});

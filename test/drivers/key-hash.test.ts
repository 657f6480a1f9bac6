import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../src/drivers/chain/account-key.ts';
import { evmAddress } from '../../src/drivers/chain/addresses.ts';
import { keccak256Reference } from '../../src/drivers/chain/keccak-reference.ts';
import { publicKeyHash } from '../../src/drivers/chain/key-hash.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('Keccak reference implementation', () => {
  it('the reference Keccak matches the published hash of an empty message', () => {
    const known = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
    assert.equal(hex(keccak256Reference(new Uint8Array())), known);
  });

  it('the reference Keccak matches the library around its block length', () => {
    for (const length of [1, 31, 64, 65, 135, 136, 137, 271, 272, 273, 1000]) {
      const message = randomBytes(length);
      assert.equal(hex(keccak256Reference(message)), hex(keccak_256(message)), hex(message));
    }
  });
});

describe('Ethereum addresses', () => {
  it('addresses match those that every wallet derives from the words "test … junk"', () => {
    const words = `${'test '.repeat(11)}junk`;
    const seed = pbkdf2Sync(words, 'mnemonic', 2048, 64, 'sha512');
    const account = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'").publicExtendedKey;
    const key = AccountKey.parse(account);
    assert.deepEqual(
      [0, 1, 2].map((index) => evmAddress(publicKeyHash(key.publicKeyAt(index)))),
      [
        '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      ],
    );
  });
});

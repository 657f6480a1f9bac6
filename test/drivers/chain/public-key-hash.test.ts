import assert from 'node:assert/strict';
import { createHash, pbkdf2Sync, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { keccak_256, sha3_256 } from '@noble/hashes/sha3.js';
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../src/drivers/chain/account-key.ts';
import { evmAddress, publicKeyHash } from '../../../src/drivers/chain/addresses.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('the Keccak library', () => {
  it('Keccak matches published hashes', () => {
    const known = {
      '': 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
      abc: '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    };
    for (const [message, hash] of Object.entries(known)) {
      assert.equal(hex(keccak_256(Buffer.from(message))), hash);
    }
  });

  it('SHA-3, which only pads differently, matches OpenSSL around its block length', () => {
    for (const length of [1, 31, 64, 65, 135, 136, 137, 271, 272, 273, 1000]) {
      const message = randomBytes(length);
      assert.equal(
        hex(sha3_256(message)),
        createHash('sha3-256').update(message).digest('hex'),
        hex(message),
      );
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

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { AccountKey, InvalidKeyError } from '../../../src/drivers/chain/account-key.ts';

const SEED = hex.decode(
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1' +
    '9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
);
/** BIP 84's example account, from the words `abandon … about`. */
/** BIP 84's own account, of the words `abandon … about`. */
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtK' +
  'sAYz2oz2AGutZYs';
const FIRST_KEY = '0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c';

describe('account keys', () => {
  it('an account key derives the keys in the BIP 84 examples', () => {
    assert.equal(hex.encode(AccountKey.parse(ZPUB).publicKeyAt(0)), FIRST_KEY);
  });

  it('an account key derives the same keys as the wallet with the private key', () => {
    for (let account = 0; account < 20; account++) {
      const wallet = HDKey.fromMasterSeed(SEED).derive(`m/44'/60'/${account}'`);
      const key = AccountKey.parse(wallet.publicExtendedKey);
      for (const index of [0, 1, 7, 1_000_000 + account, 2 ** 31 - 1]) {
        const own = wallet.deriveChild(0).deriveChild(index).publicKey ?? assert.fail();
        assert.deepEqual([...key.publicKeyAt(index)], [...own]);
      }
    }
  });

  it('an xpub and its tpub form are the same key', () => {
    const key = AccountKey.parse(ZPUB);
    const other = AccountKey.parse(key.tpub);
    assert.deepEqual([key.isTest, other.isTest], [false, true]);
    assert.deepEqual([other.xpub, other.tpub], [key.xpub, key.tpub]);
    assert.deepEqual(other.publicKeyAt(7), key.publicKeyAt(7));
  });

  it('a private, wrapped, wrong-depth, or damaged key is rejected without repeating it', () => {
    const root = HDKey.fromMasterSeed(SEED);
    const wrong: [string, RegExp][] = [
      [root.derive("m/84'/0'/0'").privateExtendedKey, /private key \(xprv\)/],
      [root.publicExtendedKey, /depth is 0/],
      [root.derive("m/84'/0'/0'/0").publicExtendedKey, /depth is 4/],
      [`${ZPUB.slice(0, -1)}t`, /has a typo/],
      ['xpub', /has a typo/],
      ['', /has a typo/],
    ];
    for (const [text, pattern] of wrong) {
      const refused = (error: unknown) =>
        error instanceof InvalidKeyError &&
        pattern.test(error.message) &&
        (text === '' || !error.message.includes(text.slice(8, 40) || '\0'));
      assert.throws(() => AccountKey.parse(text), refused, text);
    }
  });
});

/**
 * An account's extended public key (BIP 32): the addresses of one coin are derived from it, and nothing can be spent with it.
 * Each is derived twice, by a library and by hand, so that a fault of either gives out no address that nobody has the key of.
 */
import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';

const base58check = createBase58check(sha256);

/** What the first four bytes of an extended key say: SLIP 132, and Litecoin's own. */
const VERSIONS: Readonly<Record<string, { readonly name: string; readonly kind: KeyKind }>> = {
  '0488b21e': { name: 'xpub', kind: 'main' },
  '04b24746': { name: 'zpub', kind: 'main' },
  '019da462': { name: 'Ltub', kind: 'main' },
  '043587cf': { name: 'tpub', kind: 'test' },
  '045f1cf6': { name: 'vpub', kind: 'test' },
  '0436f6e1': { name: 'ttub', kind: 'test' },
  '049d7cb2': { name: 'ypub', kind: 'wrapped' },
  '01b26ef6': { name: 'Mtub', kind: 'wrapped' },
  '044a5262': { name: 'upub', kind: 'wrapped' },
  '0488ade4': { name: 'xprv', kind: 'private' },
  '04b2430c': { name: 'zprv', kind: 'private' },
  '049d7878': { name: 'yprv', kind: 'private' },
  '019d9cfe': { name: 'Ltpv', kind: 'private' },
  '01b26792': { name: 'Mtpv', kind: 'private' },
  '04358394': { name: 'tprv', kind: 'private' },
  '045f18bc': { name: 'vprv', kind: 'private' },
  '044a4e28': { name: 'uprv', kind: 'private' },
};
type KeyKind = 'main' | 'test' | 'wrapped' | 'private';

/** Version, depth, parent, number, chain code, key. */
const EXTENDED_KEY_BYTES = 78;
const PUBLIC_VERSION = 0x0488b21e;
const TEST_VERSION = 0x043587cf;
/** m / purpose' / coin' / account': what wallets export. */
const ACCOUNT_DEPTH = 3;
const RECEIVE_CHAIN = 0;

/** It is no key that this service may have. The message never holds it. */
export class InvalidKeyError extends Error {
  override readonly name = 'KeyRefused';
}

interface ExtendedKey {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
}

export class AccountKey {
  /** Whether it belongs to a test network. */
  readonly isTest: boolean;
  readonly #xpub: string;
  readonly #tpub: string;
  readonly #receiveKey: HDKey;
  readonly #referenceKey: ExtendedKey;

  private constructor(bytes: Uint8Array, isTest: boolean) {
    this.isTest = isTest;
    const view = Buffer.from(bytes);
    view.writeUInt32BE(PUBLIC_VERSION);
    this.#xpub = base58check.encode(view);
    view.writeUInt32BE(TEST_VERSION);
    this.#tpub = base58check.encode(view);
    this.#receiveKey = HDKey.fromExtendedKey(this.#xpub).deriveChild(RECEIVE_CHAIN);
    this.#referenceKey = deriveChildKey(
      { chainCode: view.subarray(13, 45), key: view.subarray(45, EXTENDED_KEY_BYTES) },
      RECEIVE_CHAIN,
    );
  }

  /** Throws KeyRefused. */
  static parse(text: string): AccountKey {
    const bytes = decodeExtendedKey(text.trim());
    const version = VERSIONS[Buffer.from(bytes.subarray(0, 4)).toString('hex')];
    if (version === undefined)
      throw new InvalidKeyError('it is no extended public key (xpub…, zpub…, Ltub…)');
    const { kind, name } = version;
    if (kind === 'private') {
      throw new InvalidKeyError(
        `it is a private key (${name}): this service never has one. Give the public one`,
      );
    }
    if (kind === 'wrapped') {
      throw new InvalidKeyError(
        `${name} is an account of wrapped SegWit (BIP 49): give one of native SegWit (BIP 84)`,
      );
    }
    if (bytes[4] !== ACCOUNT_DEPTH) {
      throw new InvalidKeyError(
        `it is not the key of an account, such as m/84'/0'/0': its depth is ${bytes[4]}, not 3`,
      );
    }
    try {
      return new AccountKey(bytes, kind === 'test');
    } catch {
      throw new InvalidKeyError('it is damaged: it holds no point of the curve');
    }
  }

  /** As `xpub…`, whatever it was written as: what nodes take. */
  get xpub(): string {
    return this.#xpub;
  }

  /** The same as `tpub…`: what nodes of test networks take. */
  get tpub(): string {
    return this.#tpub;
  }

  /** The compressed public key of the receiving address with this number. */
  publicKeyAt(index: number): Uint8Array {
    const first = this.#receiveKey.deriveChild(index).publicKey;
    const second = deriveChildKey(this.#referenceKey, index).key;
    if (first === null || Buffer.compare(first, second) !== 0) {
      throw new Error(`two derivations of address ${index} differ`);
    }
    return first;
  }
}

function decodeExtendedKey(text: string): Uint8Array {
  try {
    const bytes = base58check.decode(text);
    if (bytes.length === EXTENDED_KEY_BYTES) return bytes;
  } catch {
    // Said below.
  }
  throw new InvalidKeyError('it is no extended public key (xpub…, zpub…, Ltub…), or has a typing error');
}

/** CKDpub of BIP 32. */
function deriveChildKey(parent: ExtendedKey, index: number): ExtendedKey {
  const data = Buffer.alloc(37);
  data.set(parent.key);
  data.writeUInt32BE(index, 33);
  const mac = createHmac('sha512', parent.chainCode).update(data).digest();
  const tweak = BigInt(`0x${mac.subarray(0, 32).toString('hex')}`);
  const point = secp256k1.Point.BASE.multiply(tweak).add(secp256k1.Point.fromBytes(parent.key));
  return { key: point.toBytes(true), chainCode: mac.subarray(32) };
}

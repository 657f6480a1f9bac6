/**
 * An account's extended public key (BIP 32). All addresses of one coin are derived from it, and it can't
 * spend. Each address is derived twice, by a library and by our own code, so that a bug in either never
 * assigns an address that no one has the key for.
 */
import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';

const base58check = createBase58check(sha256);

/** Meanings of an extended key's first four bytes: SLIP 132, and Litecoin's own. */
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
/** m / purpose' / coin' / account': the level that wallets export. */
const ACCOUNT_DEPTH = 3;
const RECEIVE_CHAIN = 0;

/** The key is invalid or not allowed here. The message never contains it. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
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

  /** Throws InvalidKeyError. */
  static parse(text: string): AccountKey {
    const bytes = decodeExtendedKey(text.trim());
    const version = VERSIONS[Buffer.from(bytes.subarray(0, 4)).toString('hex')];
    if (version === undefined)
      throw new InvalidKeyError('this is not an extended public key (xpub…, zpub…, Ltub…)');
    const { kind, name } = version;
    if (kind === 'private') {
      throw new InvalidKeyError(
        `this is a private key (${name}), which must never be on this server; use the public key instead`,
      );
    }
    if (kind === 'wrapped') {
      throw new InvalidKeyError(
        `${name} is a wrapped SegWit account (BIP 49); use a native SegWit account (BIP 84)`,
      );
    }
    if (bytes[4] !== ACCOUNT_DEPTH) {
      throw new InvalidKeyError(
        `this is not an account key such as m/84'/0'/0': its depth is ${bytes[4]} and must be 3`,
      );
    }
    try {
      return new AccountKey(bytes, kind === 'test');
    } catch {
      throw new InvalidKeyError('the key is damaged: it is not a point on the curve');
    }
  }

  /** As `xpub…`, regardless of the original prefix: the form that nodes accept. */
  get xpub(): string {
    return this.#xpub;
  }

  /** As `tpub…`: the form that nodes of test networks accept. */
  get tpub(): string {
    return this.#tpub;
  }

  /** Returns the compressed public key of the receiving address with this index. */
  publicKeyAt(index: number): Uint8Array {
    const first = this.#receiveKey.deriveChild(index).publicKey;
    const second = deriveChildKey(this.#referenceKey, index).key;
    if (first === null || Buffer.compare(first, second) !== 0) {
      throw new Error(`two derivations of address ${index} don't match`);
    }
    return first;
  }
}

function decodeExtendedKey(text: string): Uint8Array {
  try {
    const bytes = base58check.decode(text);
    if (bytes.length === EXTENDED_KEY_BYTES) return bytes;
  } catch {
    // Reported below.
  }
  throw new InvalidKeyError('this is not an extended public key (xpub…, zpub…, Ltub…), or it has a typo');
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

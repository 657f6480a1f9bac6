/** A wallet of Ethereum that is never online: it signs what it is told, and somebody else sends it. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { HDKey } from '@scure/bip32';

export interface Transfer {
  readonly chainId: number;
  readonly nonce: number;
  readonly gas: number;
  readonly gasPrice: bigint;
  readonly to: string;
  readonly value: bigint;
  /** Of a contract's call. */
  readonly data?: string;
}

export class OfflineWallet {
  readonly #account: HDKey;

  constructor(seed: Uint8Array) {
    this.#account = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'");
  }

  get publicKey(): string {
    return this.#account.publicExtendedKey;
  }

  /** From the address with this number; as any node takes it (EIP-155). */
  sign(number: number, { chainId, nonce, gas, gasPrice, to, value, data = '0x' }: Transfer): string {
    const key = this.#account.deriveChild(0).deriveChild(number).privateKey;
    if (!key) throw new Error('a private key was expected');
    const fields = [nonce, gasPrice, gas].map(whole);
    const unsigned = [...fields, bytes(to), whole(value), bytes(data)];
    const hash = keccak_256(list([...unsigned, whole(chainId), whole(0), whole(0)]));
    const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
    const [r, s] = [signature.subarray(1, 33), signature.subarray(33)].map((part) =>
      whole(BigInt(`0x${Buffer.from(part).toString('hex')}`)),
    );
    const v = whole(2 * chainId + 35 + (signature[0] ?? 0));
    return `0x${list([...unsigned, v, r ?? Buffer.alloc(0), s ?? Buffer.alloc(0)]).toString('hex')}`;
  }
}

/** Without zeros in front; 0 is no byte at all. */
function whole(value: number | bigint): Buffer {
  const digits = BigInt(value).toString(16);
  return digits === '0'
    ? Buffer.alloc(0)
    : Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

function bytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

/** Recursive length prefix, as transactions are written. */
function list(items: readonly Buffer[]): Buffer {
  const body = Buffer.concat(
    items.map((item) => (item.length === 1 && (item[0] ?? 0) < 0x80 ? item : prefixed(item, 0x80))),
  );
  return prefixed(body, 0xc0);
}

function prefixed(body: Buffer, short: number): Buffer {
  if (body.length <= 55) return Buffer.concat([Buffer.of(short + body.length), body]);
  const length = whole(body.length);
  return Buffer.concat([Buffer.of(short + 55 + length.length), length, body]);
}

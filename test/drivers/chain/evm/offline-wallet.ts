/** An offline Ethereum wallet: it signs transactions that another program sends. */
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
  /** Calldata, for a contract call. */
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

  /** Signs a transfer from the address with this index, in the format that every node accepts (EIP-155). */
  sign(index: number, { chainId, nonce, gas, gasPrice, to, value, data = '0x' }: Transfer): string {
    const key = this.#account.deriveChild(0).deriveChild(index).privateKey;
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

/** Encodes without leading zeros; 0 is empty. */
function whole(value: number | bigint): Buffer {
  const digits = BigInt(value).toString(16);
  return digits === '0'
    ? Buffer.alloc(0)
    : Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

function bytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

/** Recursive length prefix (RLP), the encoding of transactions. */
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

/**
 * A Monero account without its spend key. The operator configures its primary address. The private view key,
 * which reveals incoming payments but can't spend, comes from the view-only wallet and stays in memory.
 * Subaddresses are derived here and compared with the wallet's:
 *
 *     m = Hs("SubAddr\0" ‖ a ‖ account ‖ index)    D = B + m·G    C = a·D
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58xmr, hex } from '@scure/base';
import { InvalidKeyError } from '../account-key.ts';
import { moneroAddress } from '../addresses.ts';

export type MoneroNetwork = 'main' | 'stagenet' | 'testnet';

interface NetworkBytes {
  readonly primary: number;
  readonly integrated: number;
  readonly subaddress: number;
}

const NETWORKS: Readonly<Record<MoneroNetwork, NetworkBytes>> = {
  main: { primary: 18, integrated: 19, subaddress: 42 },
  stagenet: { primary: 24, integrated: 25, subaddress: 36 },
  testnet: { primary: 53, integrated: 54, subaddress: 63 },
};

/** Network, public spend key, public view key, checksum. */
const ADDRESS_BYTES = 69;
const CHECKSUM_BYTES = 4;
const ACCOUNT = 0;
const SUBADDRESS_DOMAIN = new TextEncoder().encode('SubAddr\0');

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;

export class MoneroAccount {
  readonly network: MoneroNetwork;
  /** The primary address. */
  readonly address: string;
  readonly #spendPublic: Point;
  readonly #viewPublic: Uint8Array;

  private constructor(address: string, network: MoneroNetwork, bytes: Uint8Array) {
    this.address = address;
    this.network = network;
    this.#spendPublic = Point.fromBytes(bytes.subarray(1, 33));
    this.#viewPublic = bytes.slice(33, 65);
  }

  /** Throws InvalidKeyError. */
  static parse(text: string): MoneroAccount {
    const address = text.trim();
    const bytes = decodeAddress(address);
    const version = bytes[0] ?? 0;
    for (const [network, { primary, integrated, subaddress }] of Object.entries(NETWORKS)) {
      if (version === subaddress) throw new InvalidKeyError('this is a subaddress; use the primary address');
      if (version === integrated) {
        throw new InvalidKeyError('this is an integrated address; use the primary address');
      }
      if (version !== primary) continue;
      try {
        return new MoneroAccount(address, network as MoneroNetwork, bytes);
      } catch {
        throw new InvalidKeyError('the address is damaged: it is not a point on the curve');
      }
    }
    throw new InvalidKeyError('this is not a Monero primary address (4…)');
  }

  /** Whether the private view key (hex) belongs to this account. */
  hasViewKey(text: string): boolean {
    const key = parseScalar(text);
    return key !== null && Buffer.compare(Point.BASE.multiply(key).toBytes(), this.#viewPublic) === 0;
  }

  /** Derives a subaddress. `viewKey` is the private view key (hex); `minor` is at least 1. */
  subaddress(viewKey: string, minor: number): string {
    const key = parseScalar(viewKey);
    if (key === null) throw new Error('the wallet returned an invalid view key');
    const place = Buffer.alloc(8);
    place.writeUInt32LE(ACCOUNT);
    place.writeUInt32LE(minor, 4);
    const hash = keccak_256(Buffer.concat([SUBADDRESS_DOMAIN, hex.decode(viewKey), place]));
    const offset = littleEndian(hash) % Point.Fn.ORDER;
    const spend = this.#spendPublic.add(Point.BASE.multiply(offset));
    return moneroAddress(NETWORKS[this.network].subaddress, spend.toBytes(), spend.multiply(key).toBytes());
  }
}

function decodeAddress(address: string): Uint8Array {
  try {
    const bytes = base58xmr.decode(address);
    const body = bytes.subarray(0, -CHECKSUM_BYTES);
    const sum = keccak_256(body).subarray(0, CHECKSUM_BYTES);
    // An integrated address is eight bytes longer; accept it here so that the error can name it.
    const isWhole = bytes.length === ADDRESS_BYTES || bytes.length === ADDRESS_BYTES + 8;
    if (isWhole && Buffer.compare(sum, bytes.subarray(-CHECKSUM_BYTES)) === 0) return bytes;
  } catch {
    // Reported below.
  }
  throw new InvalidKeyError('this is not a Monero primary address (4…), or it has a typo');
}

/** Parses a private key (hex); null if it is invalid. */
function parseScalar(text: string): bigint | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null;
  const scalar = littleEndian(hex.decode(text));
  return scalar > 0n && scalar < Point.Fn.ORDER ? scalar : null;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${hex.encode(Uint8Array.from(bytes).reverse())}`);
}

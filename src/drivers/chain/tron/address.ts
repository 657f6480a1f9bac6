/** Addresses of Tron: base58check for people, and in answers of nodes hex, with 41 in front or, inside contracts, without. */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { tronAddress } from '../addresses.ts';

const base58check = createBase58check(sha256);
const PREFIX = '41';
const HASH_DIGITS = 40;

/** Of an address as a node writes it; null where it is none. */
export function fromHexAddress(digits: string): string | null {
  const hash = addressHash(digits);
  return hash === null ? null : tronAddress(hex.decode(hash));
}

/** The forty digits that all its spellings share; null where it is none. */
export function addressHash(digits: string): string | null {
  const match = /^(?:41)?([0-9a-fA-F]{40})$/.exec(digits);
  return match?.[1]?.toLowerCase() ?? null;
}

/** As calls of the node want it; null where it is none. */
export function toHexAddress(address: string): string | null {
  try {
    const digits = hex.encode(base58check.decode(address));
    return digits.startsWith(PREFIX) && digits.length === PREFIX.length + HASH_DIGITS ? digits : null;
  } catch {
    return null;
  }
}

/**
 * Tron addresses: base58check for people; hex in node responses, with the prefix 41 or, inside contracts,
 * without.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { tronAddress } from '../addresses.ts';

const base58check = createBase58check(sha256);
const PREFIX = '41';
const HASH_DIGITS = 40;

/** Converts a node's hex address; null if it is invalid. */
export function fromHexAddress(digits: string): string | null {
  const hash = addressHash(digits);
  return hash === null ? null : tronAddress(hex.decode(hash));
}

/** Returns the 40 digits that all spellings share; null if the address is invalid. */
export function addressHash(digits: string): string | null {
  const match = /^(?:41)?([0-9a-fA-F]{40})$/.exec(digits);
  return match?.[1]?.toLowerCase() ?? null;
}

/** Returns the hex form for calls to the node; null if the address is invalid. */
export function toHexAddress(address: string): string | null {
  try {
    const digits = hex.encode(base58check.decode(address));
    return digits.startsWith(PREFIX) && digits.length === PREFIX.length + HASH_DIGITS ? digits : null;
  } catch {
    return null;
  }
}

/** Blocks of addresses in CIDR text. */
import { isIPv4, isIPv6 } from 'node:net';

export interface Cidr {
  readonly family: 4 | 6;
  /** Prefix length in bits. */
  readonly length: number;
  /** The block's first address as a number. */
  readonly first: bigint;
}

/** Reads `203.0.113.0/24` or `2001:db8::/56`; undefined when malformed or with host bits set. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text);
  const address = match?.[1] ?? '';
  const length = Number(match?.[2]);
  const family = familyOf(address);
  if (!family || length > bitsOf(family)) return undefined;
  const first = addressNumber(address);
  const hostBits = (1n << BigInt(bitsOf(family) - length)) - 1n;
  return (first & hostBits) === 0n ? { family, length, first } : undefined;
}

/** 4 or 6 for an address without a zone or an embedded IPv4 part, else undefined. */
export function familyOf(address: string): 4 | 6 | undefined {
  if (isIPv4(address)) return 4;
  return isIPv6(address) && !/[%.]/.test(address) ? 6 : undefined;
}

/** How many addresses the block has. */
export function cidrSize(cidr: Cidr): bigint {
  return 1n << BigInt(bitsOf(cidr.family) - cidr.length);
}

/** The `index`th address of an IPv4 block as text; the block's first address is number 0. */
export function ipv4Text(cidr: Cidr, index: number): string {
  const number = cidr.first + BigInt(index);
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function addressNumber(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

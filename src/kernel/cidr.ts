/** CIDR blocks. */
import { isIPv4, isIPv6 } from 'node:net';

export interface Cidr {
  readonly family: 4 | 6;
  /** Prefix length in bits. */
  readonly prefixLength: number;
  /** The first address as a number. */
  readonly first: bigint;
}

/** Parses `203.0.113.0/24` or `2001:db8::/56`. Undefined if it is malformed or has host bits set. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([0-9a-f.:]+)\/(0|[1-9]\d{0,2})$/i.exec(text);
  const address = match?.[1] ?? '';
  const prefixLength = Number(match?.[2]);
  const family = addressFamily(address);
  if (!family || prefixLength > addressBits(family)) return undefined;
  const first = parseAddressNumber(address);
  const hostBits = (1n << BigInt(addressBits(family) - prefixLength)) - 1n;
  return (first & hostBits) === 0n ? { family, prefixLength, first } : undefined;
}

/** Returns 4 or 6 for an address without a zone or an embedded IPv4 part, otherwise undefined. */
export function addressFamily(address: string): 4 | 6 | undefined {
  if (isIPv4(address)) return 4;
  return isIPv6(address) && !/[%.]/.test(address) ? 6 : undefined;
}

/** Returns the number of addresses in the block. */
export function cidrSize(cidr: Cidr): bigint {
  return 1n << BigInt(addressBits(cidr.family) - cidr.prefixLength);
}

/** Returns the `index`th address of an IPv4 block as text, counting from 0. */
export function ipv4AddressAt(cidr: Cidr, index: number): string {
  const number = cidr.first + BigInt(index);
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
}

/** Returns the canonical text of the block: RFC 5952 for IPv6. */
export function formatCidr(cidr: Cidr): string {
  if (cidr.family === 4) return `${ipv4AddressAt(cidr, 0)}/${cidr.prefixLength}`;
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((cidr.first >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  // The URL parser writes IPv6 hosts in exactly this form.
  const { hostname } = new URL(`http://[${groups.join(':')}]`);
  return `${hostname.slice(1, -1)}/${cidr.prefixLength}`;
}

function addressBits(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function parseAddressNumber(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Returns the block of a single address; undefined if the text is not an address. */
export function hostCidr(address: string): Cidr | undefined {
  const family = addressFamily(address);
  return family && { family, prefixLength: addressBits(family), first: parseAddressNumber(address) };
}

/** Whether all addresses of the inner block are in the outer one. */
export function isSubnet(inner: Cidr, outer: Cidr): boolean {
  const isNarrower = inner.family === outer.family && inner.prefixLength >= outer.prefixLength;
  return isNarrower && inner.first >= outer.first && inner.first < outer.first + cidrSize(outer);
}

/** Whether the block has the address. An IPv4 address may be mapped to IPv6, as sockets report it. */
export function cidrContains(cidr: Cidr, address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const host = hostCidr(mapped ?? address);
  return host !== undefined && isSubnet(host, cidr);
}

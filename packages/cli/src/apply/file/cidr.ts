/** Checks ports and CIDRs by the service's own rules, to find problems before anything is bought. */
import { isIPv4, isIPv6 } from 'node:net';

const PORT_MAX = 65_535;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

type ParsedCidr = { readonly text: string } | { readonly fault: string };

/** Returns the canonical form that the service uses (RFC 5952), so that equal CIDRs have equal text. */
export function parseCidr(text: string): ParsedCidr {
  const [, address = '', digits = ''] = /^([0-9a-f.:]+)\/(0|[1-9]\d{0,2})$/i.exec(text) ?? [];
  const isV4 = isIPv4(address);
  if (!isV4 && !isIPv6(address)) return { fault: 'is not a CIDR such as 203.0.113.0/24 or ::/0' };
  const bits = isV4 ? IPV4_BITS : IPV6_BITS;
  const length = Number(digits);
  if (length > bits) return { fault: `has a prefix length of ${length}; the maximum is ${bits}` };
  const own = isV4 ? address : new URL(`http://[${address}]`).hostname.slice(1, -1);
  const hostBits = BigInt(bits - length);
  const number = isV4 ? toBigInt(own.split('.'), 8n, 10) : toBigInt(expandIpv6(own), 16n, 16);
  const first = (number >> hostBits) << hostBits;
  if (first === number) return { text: `${own}/${length}` };
  const right = isV4 ? formatIpv4(first) : formatIpv6(first);
  return { fault: `is an address within a network; use ${right}/${length}` };
}

/** Checks text that has the syntax of ports; null: it is valid. */
export function findPortFault(text: string): string | null {
  const ranges = text.split(',').map((part) => part.split('-').map(Number));
  if (ranges.flat().some((port) => port > PORT_MAX)) return `has a port above ${PORT_MAX}`;
  const isBackwards = ranges.some(([low = 0, high = low]) => low > high);
  return isBackwards ? 'is a range whose end is below its start' : null;
}

function toBigInt(parts: readonly string[], bitsOfPart: bigint, base: number): bigint {
  return parts.reduce((sum, part) => (sum << bitsOfPart) + BigInt(Number.parseInt(part, base)), 0n);
}

/** Returns all eight groups of an address in canonical form. */
function expandIpv6(address: string): string[] {
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

function formatIpv4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
}

function formatIpv6(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((number >> BigInt(112 - 16 * at)) & 0xffffn).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

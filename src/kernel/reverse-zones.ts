/** Reverse DNS: the name of an address, the zone that contains it, and the zones that a block requires. */
import { addressFamily, type Cidr, cidrSize, ipv4AddressAt, parseCidr } from './cidr.ts';

/** Returns the reverse name of an address: `10.113.0.203.in-addr.arpa.`, or 32 digits and `ip6.arpa.`. */
export function reverseName(address: string): string {
  if (addressFamily(address) === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa.`;
  return `${ipv6Digits(address).reverse().join('.')}.ip6.arpa.`;
}

function ipv6Digits(address: string): string[] {
  const number = parseCidr(`${address}/128`)?.first ?? 0n;
  return [...number.toString(16).padStart(32, '0')];
}

/** A zone for a part of a /24 (RFC 2317): `0-15.…` gives first and last, `0/28.…` first and prefix length. */
interface ClasslessZone {
  readonly zone: string;
  readonly first: number;
  readonly last: number;
}

const CLASSLESS_ZONE = /^(\d{1,3})([-/])(\d{1,3})\.(\d+\.\d+\.\d+\.in-addr\.arpa\.)$/;

function parseClasslessZone(zone: string): (ClasslessZone & { readonly parentZone: string }) | undefined {
  const [, first, sign, second, parentZone] = CLASSLESS_ZONE.exec(zone) ?? [];
  if (first === undefined || second === undefined || parentZone === undefined) return undefined;
  const first24 = Number(first);
  const last = sign === '-' ? Number(second) : first24 + 2 ** (32 - Number(second)) - 1;
  return first24 <= last && last <= 255 ? { zone, first: first24, last, parentZone } : undefined;
}

/** The zones of a DNS server, with a lookup by address. */
export class ReverseZones {
  readonly #names: ReadonlySet<string>;
  /** By the enclosing /24. */
  readonly #classlessZones = new Map<string, ClasslessZone[]>();

  constructor(zones: Iterable<string>) {
    this.#names = new Set(zones);
    for (const zone of this.#names) {
      const part = parseClasslessZone(zone);
      if (part)
        this.#classlessZones.set(part.parentZone, [
          ...(this.#classlessZones.get(part.parentZone) ?? []),
          part,
        ]);
    }
  }

  /** Finds the longest zone that contains the address, and the name of the address in it. */
  find(address: string): { readonly zone: string; readonly name: string } | undefined {
    const name = reverseName(address);
    if (this.#names.has(name)) return { zone: name, name };
    const [label, whole] = splitFirstLabel(name);
    const part = this.#classlessZones
      .get(whole)
      ?.find(({ first, last }) => first <= Number(label) && Number(label) <= last);
    if (part) return { zone: part.zone, name: `${label}.${part.zone}` };
    const zone = this.findEnclosingZone(name);
    return zone === undefined ? undefined : { zone, name };
  }

  /** Finds the longest zone that equals or contains this name. */
  findEnclosingZone(name: string): string | undefined {
    for (let zone = name; zone !== ''; zone = splitFirstLabel(zone)[1]) {
      if (this.#names.has(zone)) return zone;
    }
    return undefined;
  }
}

function splitFirstLabel(name: string): [label: string, rest: string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

/** A zone that a block requires, and the zone that covers its part of it; null if not fully. */
export interface RequiredZone {
  readonly zone: string;
  readonly coveredBy: string | null;
  /** The zone contains more than the block, so the manager of the rest owns it. */
  readonly isShared: boolean;
}

/** Returns the zones that a block of the pool requires: an IPv4 /16 to /32, an IPv6 /32 to /64. */
export function requiredZones(block: string, zones: ReverseZones): RequiredZone[] {
  const cidr = parseCidr(block);
  if (!cidr) return [];
  if (cidr.family === 6) return ipv6Zones(cidr, zones);
  if (cidr.prefixLength > 16) return ipv4Zones(cidr, zones);
  const zone = dropLabels(reverseName(ipv4AddressAt(cidr, 0)), 2);
  const whole = { zone, coveredBy: zones.findEnclosingZone(zone) ?? null, isShared: false };
  if (whole.coveredBy !== null) return [whole];
  const parts = ipv4Zones(cidr, zones);
  return parts.every(({ coveredBy }) => coveredBy === null) ? [whole] : parts;
}

/** Returns one zone per value of a partly covered hexadecimal digit: a /55 has two zones of /56. */
function ipv6Zones(cidr: Cidr, zones: ReverseZones): RequiredZone[] {
  const digits = Math.ceil(cidr.prefixLength / 4);
  return Array.from({ length: 2 ** (4 * digits - cidr.prefixLength) }, (_, index) => {
    const first = (cidr.first >> BigInt(128 - 4 * digits)) + BigInt(index);
    const zone = `${[...first.toString(16).padStart(digits, '0')].reverse().join('.')}.ip6.arpa.`;
    return { zone, coveredBy: zones.findEnclosingZone(zone) ?? null, isShared: false };
  });
}

/** Returns one zone for each /24 that the block overlaps. */
function ipv4Zones(cidr: Cidr, zones: ReverseZones): RequiredZone[] {
  const size = Number(cidrSize(cidr));
  return Array.from({ length: Math.ceil(size / 256) }, (_, index) => {
    const zone = dropLabels(reverseName(ipv4AddressAt(cidr, 256 * index)), 1);
    const matches = Array.from({ length: Math.min(size, 256) }, (_each, at) =>
      zones.find(ipv4AddressAt(cidr, 256 * index + at)),
    );
    const isCovered = matches.every((each) => each !== undefined);
    return { zone, coveredBy: isCovered ? (matches[0]?.zone ?? null) : null, isShared: size < 256 };
  });
}

function dropLabels(name: string, labels: number): string {
  return name.split('.').slice(labels).join('.');
}

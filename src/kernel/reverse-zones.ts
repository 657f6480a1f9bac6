/** Names of reverse DNS: an address's own, the zone that it is in, and the zones that a block of addresses needs. */
import { type Cidr, cidrSize, familyOf, ipv4Text, parseCidr } from './cidr.ts';

/** The name that an address is looked up by: `10.113.0.203.in-addr.arpa.`, 32 digits and `ip6.arpa.`. */
export function reverseName(address: string): string {
  if (familyOf(address) === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa.`;
  return `${ipv6Digits(address).reverse().join('.')}.ip6.arpa.`;
}

function ipv6Digits(address: string): string[] {
  const number = parseCidr(`${address}/128`)?.first ?? 0n;
  return [...number.toString(16).padStart(32, '0')];
}

/** A zone for a part of a /24, as RFC 2317 describes them: `0-15.…` names first and last, `0/28.…` first and length. */
interface PartOfA24 {
  readonly zone: string;
  readonly first: number;
  readonly last: number;
}

const PART = /^(\d{1,3})([-/])(\d{1,3})\.(\d+\.\d+\.\d+\.in-addr\.arpa\.)$/;

function partOf(zone: string): (PartOfA24 & { readonly whole: string }) | undefined {
  const [, first, sign, second, whole] = PART.exec(zone) ?? [];
  if (first === undefined || second === undefined || whole === undefined) return undefined;
  const from = Number(first);
  const last = sign === '-' ? Number(second) : from + 2 ** (32 - Number(second)) - 1;
  return from <= last && last <= 255 ? { zone, first: from, last, whole } : undefined;
}

/** Zones that a server has, asked which of them an address belongs to. */
export class ReverseZones {
  readonly #names: ReadonlySet<string>;
  /** By the /24 that they are parts of. */
  readonly #parts = new Map<string, PartOfA24[]>();

  constructor(zones: Iterable<string>) {
    this.#names = new Set(zones);
    for (const zone of this.#names) {
      const part = partOf(zone);
      if (part) this.#parts.set(part.whole, [...(this.#parts.get(part.whole) ?? []), part]);
    }
  }

  /** The longest zone that holds the address, and the name that the address has in it. */
  find(address: string): { readonly zone: string; readonly name: string } | undefined {
    const name = reverseName(address);
    if (this.#names.has(name)) return { zone: name, name };
    const [label, whole] = split(name);
    const part = this.#parts
      .get(whole)
      ?.find(({ first, last }) => first <= Number(label) && Number(label) <= last);
    if (part) return { zone: part.zone, name: `${label}.${part.zone}` };
    const zone = this.above(name);
    return zone === undefined ? undefined : { zone, name };
  }

  /** The longest zone that is this name, or that the name is in. */
  above(name: string): string | undefined {
    for (let zone = name; zone !== ''; zone = split(zone)[1]) {
      if (this.#names.has(zone)) return zone;
    }
    return undefined;
  }
}

function split(name: string): [label: string, rest: string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

/** A zone that a block of addresses needs, and the zones that hold its part of the block; none of it, or not all: null. */
export interface NeededZone {
  readonly zone: string;
  readonly heldBy: string | null;
  /** The zone holds more than the block: whoever has the rest has the zone. */
  readonly isShared: boolean;
}

/** What a block of the pool needs: an IPv4 /16 to /32, an IPv6 /32 to /64. */
export function neededZones(block: string, zones: ReverseZones): NeededZone[] {
  const cidr = parseCidr(block);
  if (!cidr) return [];
  if (cidr.family === 6) return ipv6Zones(cidr, zones);
  if (cidr.length > 16) return ipv4Zones(cidr, zones);
  const zone = without(reverseName(ipv4Text(cidr, 0)), 2);
  const whole = { zone, heldBy: zones.above(zone) ?? null, isShared: false };
  if (whole.heldBy !== null) return [whole];
  const parts = ipv4Zones(cidr, zones);
  return parts.every(({ heldBy }) => heldBy === null) ? [whole] : parts;
}

/** One for each hexadecimal digit that the block leaves open in part: of a /55 two of /56. */
function ipv6Zones(cidr: Cidr, zones: ReverseZones): NeededZone[] {
  const digits = Math.ceil(cidr.length / 4);
  return Array.from({ length: 2 ** (4 * digits - cidr.length) }, (_, index) => {
    const first = (cidr.first >> BigInt(128 - 4 * digits)) + BigInt(index);
    const zone = `${[...first.toString(16).padStart(digits, '0')].reverse().join('.')}.ip6.arpa.`;
    return { zone, heldBy: zones.above(zone) ?? null, isShared: false };
  });
}

/** One for each /24 that the block has a part of. */
function ipv4Zones(cidr: Cidr, zones: ReverseZones): NeededZone[] {
  const size = Number(cidrSize(cidr));
  return Array.from({ length: Math.ceil(size / 256) }, (_, index) => {
    const zone = without(reverseName(ipv4Text(cidr, 256 * index)), 1);
    const held = Array.from({ length: Math.min(size, 256) }, (_each, at) =>
      zones.find(ipv4Text(cidr, 256 * index + at)),
    );
    const isHeld = held.every((each) => each !== undefined);
    return { zone, heldBy: isHeld ? (held[0]?.zone ?? null) : null, isShared: size < 256 };
  });
}

function without(name: string, labels: number): string {
  return name.split('.').slice(labels).join('.');
}

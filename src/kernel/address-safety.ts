/** Classifies addresses: the public internet, a private network, or this machine. */
import { BlockList, isIP } from 'node:net';
import { SPECIAL_IPV4, SPECIAL_IPV6, type SpecialRange, UNICAST_IPV6 } from '../spec/address-ranges.ts';

type Family = 'ipv4' | 'ipv6';

const blocksOf = (ranges: readonly SpecialRange[]) => ranges.map(({ block }) => block);
const loopbackOf = (ranges: readonly SpecialRange[]) => blocksOf(ranges.filter((each) => each.isLoopback));
const privateOf = (ranges: readonly SpecialRange[]) => blocksOf(ranges.filter((each) => each.isPrivate));

const SPECIAL = {
  ipv4: blocks('ipv4', blocksOf(SPECIAL_IPV4)),
  ipv6: blocks('ipv6', blocksOf(SPECIAL_IPV6)),
};
const UNICAST = blocks('ipv6', [UNICAST_IPV6]);
const LOOPBACK = {
  ipv4: blocks('ipv4', loopbackOf(SPECIAL_IPV4)),
  ipv6: blocks('ipv6', loopbackOf(SPECIAL_IPV6)),
};
// A list with blocks of both families also matches IPv4 addresses that are mapped to IPv6.
const PRIVATE = blocks('ipv6', privateOf(SPECIAL_IPV6), blocks('ipv4', privateOf(SPECIAL_IPV4)));
/** Connecting to the unspecified address reaches this machine. */
const THIS_MACHINE = blocks(
  'ipv6',
  ['::/128', ...loopbackOf(SPECIAL_IPV6)],
  blocks('ipv4', ['0.0.0.0/32', ...loopbackOf(SPECIAL_IPV4)]),
);

function blocks(family: Family, cidrs: readonly string[], list = new BlockList()): BlockList {
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/**
 * Whether a customer must not make the service connect to an address, as a resolver or a URL returns it
 * (without brackets): everything outside the public internet, and every form that embeds an IPv4 address
 * (mapped, translated, NAT64, 6to4, Teredo).
 */
export function isForbiddenAddress(address: string, options: { readonly allowLoopback: boolean }): boolean {
  const family = familyOf(address);
  if (family === undefined) return true;
  // One list per family: a list with IPv4 blocks would also match mapped addresses.
  if (LOOPBACK[family].check(address, family)) return !options.allowLoopback;
  if (SPECIAL[family].check(address, family)) return true;
  return family === 'ipv6' && !UNICAST.check(address, family);
}

/**
 * Whether the host of a URL, or the address to listen on, is this machine or in a network that the internet
 * does not reach (spec/address-ranges.ts). Names other than `localhost` do not count.
 */
export function isPrivateHost(hostname: string): boolean {
  return hostname === 'localhost' || isListed(hostname, PRIVATE);
}

/** Whether the host of a URL is this machine, in any spelling that needs no DNS lookup. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isListed(hostname, THIS_MACHINE);
}

function isListed(hostname: string, list: BlockList): boolean {
  // An address to listen on may name its link: fe80::1%eth0.
  const address = hostname.replace(/^\[|\]$|%.*$/g, '');
  const family = familyOf(address);
  return family !== undefined && list.check(address, family);
}

function familyOf(address: string): Family | undefined {
  return isIP(address) === 0 ? undefined : isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

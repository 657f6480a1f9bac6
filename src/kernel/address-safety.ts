/** Classifies addresses: the public internet, a private network, or this machine. */
import { BlockList, isIP } from 'node:net';

type Family = 'ipv4' | 'ipv6';

/** Registered special blocks. Every other IPv4 address is public. */
const SPECIAL_V4 = blocks('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/** IPv6 is public only inside this block and outside the next ones. */
const UNICAST_V6 = blocks('ipv6', ['2000::/3']);
const SPECIAL_V6 = blocks('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
const LOOPBACK = { ipv4: blocks('ipv4', ['127.0.0.0/8']), ipv6: blocks('ipv6', ['::1/128']) };
/** Connecting to the unspecified address reaches this machine. */
const THIS_MACHINE = blocks('ipv6', ['::/128', '::1/128'], blocks('ipv4', ['127.0.0.0/8', '0.0.0.0/32']));
const PRIVATE = blocks(
  'ipv6',
  ['::1/128', 'fc00::/7'],
  blocks('ipv4', ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
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
  if (family === 'ipv4') return SPECIAL_V4.check(address, family);
  return !UNICAST_V6.check(address, family) || SPECIAL_V6.check(address, family);
}

/**
 * Whether the host of a URL is this machine or a private address. Names other than `localhost` do not count.
 */
export function isPrivateHost(hostname: string): boolean {
  return hostname === 'localhost' || isListed(hostname, PRIVATE);
}

/** Whether the host of a URL is this machine, in any spelling that needs no DNS lookup. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isListed(hostname, THIS_MACHINE);
}

function isListed(hostname: string, list: BlockList): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = familyOf(address);
  return family !== undefined && list.check(address, family);
}

function familyOf(address: string): Family | undefined {
  return isIP(address) === 0 ? undefined : isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/**
 * Addresses that a customer must not make the service connect to: everything outside the public internet.
 * IPv4 is public except for the registered special blocks. IPv6 is public only inside 2000::/3 and outside
 * its special blocks, which excludes every form that embeds an IPv4 address (mapped, translated, NAT64, 6to4,
 * Teredo).
 */
import { BlockList, isIP } from 'node:net';

const SPECIAL_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

const SPECIAL_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const specialV4 = new BlockList();
for (const [network, bits] of SPECIAL_V4) specialV4.addSubnet(network, bits, 'ipv4');
const specialV6 = new BlockList();
for (const [network, bits] of SPECIAL_V6) specialV6.addSubnet(network, bits, 'ipv6');
const unicastV6 = new BlockList();
unicastV6.addSubnet('2000::', 3, 'ipv6');
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
const loopbackV6 = new BlockList();
loopbackV6.addAddress('::1', 'ipv6');

/**
 * Whether an address, as a resolver or a URL returns it (without brackets), is outside the public internet.
 */
export function isForbiddenAddress(address: string, options: { readonly allowLoopback: boolean }): boolean {
  const family = isIP(address);
  if (family === 4) {
    if (loopback.check(address, 'ipv4')) return !options.allowLoopback;
    return specialV4.check(address, 'ipv4');
  }
  if (family === 6) {
    if (loopbackV6.check(address, 'ipv6')) return !options.allowLoopback;
    return !unicastV6.check(address, 'ipv6') || specialV6.check(address, 'ipv6');
  }
  return true;
}

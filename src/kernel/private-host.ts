/** Hosts that are reachable without the public internet. */
import { BlockList, isIP } from 'node:net';

const loopbackBlocks = new BlockList();
loopbackBlocks.addSubnet('127.0.0.0', 8, 'ipv4');
// Connecting to the unspecified address reaches this machine.
loopbackBlocks.addAddress('0.0.0.0', 'ipv4');
loopbackBlocks.addAddress('::', 'ipv6');
loopbackBlocks.addAddress('::1', 'ipv6');

const privateBlocks = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  privateBlocks.addSubnet(network, bits, 'ipv4');
privateBlocks.addAddress('::1', 'ipv6');
privateBlocks.addSubnet('fc00::', 7, 'ipv6');

/**
 * Whether the host of a URL is this machine or a private address. Names other than `localhost` do not count.
 */
export function isPrivateHost(hostname: string): boolean {
  return hostname === 'localhost' || isListed(hostname, privateBlocks);
}

/** Whether the host of a URL is this machine, in any spelling that needs no DNS lookup. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isListed(hostname, loopbackBlocks);
}

function isListed(hostname: string, list: BlockList): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Namespaces of further hosts next to that of `net-fixture.ts`, each on a wire of its own to the outside. */
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import type { NetFixture } from './net-fixture.ts';

/** The addresses at both ends of the wire between a host and the outside, by family. */
export interface Wire {
  readonly host: Readonly<Record<4 | 6, string>>;
  readonly outside: Readonly<Record<4 | 6, string>>;
}

/** Creates a namespace, and connects it. The number tells its wire from others. */
export async function connectNamespace(net: NetFixture, netns: string, number: number): Promise<Wire> {
  const wire = wireOf(number);
  const outer = `wire${number}`;
  await run('ip', ['netns', 'add', netns]);
  const peer = ['type', 'veth', 'peer', 'name', outer, 'netns', net.outside];
  await run('ip', ['link', 'add', 'wire', 'netns', netns, ...peer]);
  const inHost = (line: string) => run('nsenter', [`--net=/run/netns/${netns}`, ...line.split(' ')]);
  for (const line of [
    'ip link set lo up',
    'ip link set wire up',
    `ip addr add ${wire.host[4]}/30 dev wire`,
    `ip addr add ${wire.host[6]}/64 dev wire nodad`,
    `ip route add default via ${wire.outside[4]}`,
    `ip route add default via ${wire.outside[6]}`,
    'sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1',
  ])
    await inHost(line);
  for (const line of [
    `link set ${outer} up`,
    `addr add ${wire.outside[4]}/30 dev ${outer}`,
    `addr add ${wire.outside[6]}/64 dev ${outer} nodad`,
  ])
    await net.runOutside('ip', line.split(' '));
  return wire;
}

function wireOf(number: number): Wire {
  const [four, six] = [`172.31.${255 - number}`, `fd00:5ce8:${number}:`];
  return {
    host: { 4: `${four}.1`, 6: `${six}:1` },
    outside: { 4: `${four}.2`, 6: `${six}:2` },
  };
}

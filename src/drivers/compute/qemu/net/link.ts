/**
 * The host's side of a machine's network: a tap connected to the guest's network card, and the routes to it.
 */
import { addressFamily, parseCidr } from '../../../../kernel/cidr.ts';
import type { AddressFamily, Ipv4Assignment, Ipv6Assignment } from '../../../../ports/network.ts';
import type { QemuHost } from '../host.ts';

/** The IPv6 gateway of every guest. */
export const GATEWAY_V6 = 'fe80::1';

/** A machine's link, as `ip` and `nft` need it. Its addresses do not change while it is plugged. */
export interface MachineLink {
  readonly tap: string;
  /** MAC address of the guest's network card. */
  readonly mac: string;
  readonly ipv4: Ipv4Assignment;
  readonly ipv6: Ipv6Assignment;
}

/** Validates the addresses, since they become parts of commands. */
export function toMachineLink(
  host: QemuHost,
  spec: { readonly id: string; readonly ipv4: Ipv4Assignment; readonly ipv6: Ipv6Assignment },
): MachineLink {
  const { ipv4, ipv6 } = spec;
  const prefix = parseCidr(ipv6.prefix);
  if (addressFamily(ipv4.address) !== 4 || addressFamily(ipv4.gateway) !== 4)
    throw new Error('not an IPv4 assignment');
  if (addressFamily(ipv6.address) !== 6 || prefix?.family !== 6 || prefix.prefixLength !== 64)
    throw new Error('not an IPv6 assignment');
  return { tap: host.tap(spec.id), mac: host.mac(spec.id), ipv4, ipv6 };
}

/** Prefixes of each family, sorted. */
export type Prefixes = Readonly<Record<4 | 6, readonly string[]>>;

interface Interface {
  readonly flags: readonly string[];
  readonly linkinfo?: {
    readonly info_kind?: string;
    readonly info_data?: { readonly user?: string | number };
  };
}

/**
 * Ensures that the tap exists and belongs to the user of the machine's QEMU, which can then open it without
 * network capabilities. An unused tap of another user is replaced: earlier versions of the service made them
 * root's.
 */
export async function ensureTap(host: QemuHost, name: string, uid: number): Promise<void> {
  if (await hasLink(host, name)) {
    const printed = await host.runInNet('ip', ['-json', '-details', 'link', 'show', 'dev', name]);
    const [{ flags, linkinfo } = { flags: [] }] = JSON.parse(printed) as readonly Interface[];
    const isUsed = flags.includes('LOWER_UP') || linkinfo?.info_kind !== 'tun';
    if (isUsed || linkinfo.info_data?.user === uid) return;
    await removeLink(host, name);
  }
  await host.runInNet('ip', ['tuntap', 'add', 'dev', name, 'mode', 'tap', 'user', String(uid)]);
}

/** Creates an interface for outbound queues unless it exists. */
export async function ensureIfb(host: QemuHost, name: string): Promise<void> {
  if (!(await hasLink(host, name))) await host.runInNet('ip', ['link', 'add', 'dev', name, 'type', 'ifb']);
}

export async function hasLink(host: QemuHost, name: string): Promise<boolean> {
  try {
    await host.runInNet('ip', ['-brief', 'link', 'show', 'dev', name]);
    return true;
  } catch {
    // If the cause is something else, creating the interface fails with it.
    return false;
  }
}

/**
 * Returns all interfaces by name, and whether each has a carrier. A tap has one while QEMU has it open: a tap
 * that was deleted and recreated has none.
 */
export async function readCarriers(host: QemuHost): Promise<ReadonlyMap<string, boolean>> {
  const printed = await host.runInNet('ip', ['-json', 'link', 'show']);
  const links = JSON.parse(printed) as readonly { readonly ifname?: string; readonly flags?: string[] }[];
  return new Map(links.map(({ ifname = '', flags }) => [ifname, flags?.includes('LOWER_UP') === true]));
}

export async function removeLink(host: QemuHost, name: string): Promise<void> {
  if (await hasLink(host, name)) await host.runInNet('ip', ['link', 'delete', 'dev', name]);
}

/**
 * Returns lines for `ip -batch -`. Several taps can share a gateway address, since each has it as a
 * single-address prefix. The guest's neighbor entries are permanent, so no guest can take over an address by
 * answering for it.
 */
export function linkBatch(
  link: MachineLink,
  isRouted: boolean,
  blackholed: readonly AddressFamily[] = [],
): string {
  const { tap, mac, ipv4, ipv6 } = link;
  const lines = [
    `link set dev ${tap} address ${gatewayMac(mac)} addrgenmode none`,
    `link set dev ${tap} up`,
    `addr replace ${ipv4.gateway}/32 dev ${tap}`,
    `addr replace ${GATEWAY_V6}/64 dev ${tap} nodad`,
    `neigh replace ${ipv4.address} lladdr ${mac} dev ${tap} nud permanent`,
    `neigh replace ${ipv6.address} lladdr ${mac} dev ${tap} nud permanent`,
  ];
  return `${lines.join('\n')}\n${isRouted ? routeBatch(link, blackholed) : ''}`;
}

/** Marks our blackhole routes: those of blocks are the operator's. */
export const BLACKHOLE_PROTOCOL = '119';

/** Lines for `ip -batch -` that route the machine's addresses to it, except those that are blackholed. */
export function routeBatch(link: MachineLink, blackholed: readonly AddressFamily[] = []): string {
  const { tap, ipv4, ipv6 } = link;
  const lines = [
    ...(blackholed.includes(4) ? [] : [`route replace ${ipv4.address}/32 dev ${tap}`]),
    // The route to a prefix needs that to its gateway.
    ...(blackholed.includes(6)
      ? []
      : [
          `route replace ${ipv6.address}/128 dev ${tap}`,
          `route replace ${ipv6.prefix} via ${ipv6.address} dev ${tap} onlink`,
        ]),
    ...blackholePrefixes(link, blackholed).map(blackholeLine),
  ];
  return `${lines.join('\n')}\n`;
}

/** Takes the place of the route to the machine, which has the same destination and metric. */
export function blackholeLine(prefix: string): string {
  return `route replace blackhole ${prefix} proto ${BLACKHOLE_PROTOCOL}`;
}

/** The destinations of the routes of these families. The last one of IPv6 is more specific than its /64. */
export function blackholePrefixes(
  { ipv4, ipv6 }: MachineLink,
  blackholed: readonly AddressFamily[],
): string[] {
  return [
    ...(blackholed.includes(4) ? [`${ipv4.address}/32`] : []),
    ...(blackholed.includes(6) ? [ipv6.prefix, `${ipv6.address}/128`] : []),
  ];
}

/** Lines that remove those routes. A missing route would be an error, so they are set first. */
export function unrouteBatch(link: MachineLink): string {
  const { tap, ipv4, ipv6 } = link;
  const removals = [
    `route delete ${ipv6.prefix} dev ${tap}`,
    `route delete ${ipv6.address}/128 dev ${tap}`,
    `route delete ${ipv4.address}/32 dev ${tap}`,
    '',
  ];
  return `${routeBatch(link)}${removals.join('\n')}`;
}

/** Stays the same when the tap is recreated, because guests cache it. */
function gatewayMac(mac: string): string {
  return `fe${mac.slice(2)}`;
}

/** Arguments for `sysctl -w`. Forwarding is a host-wide setting and usually on already. */
export function linkSettings(tap: string): string[] {
  return [
    'net.ipv4.ip_forward=1',
    'net.ipv6.conf.all.forwarding=1',
    `net.ipv4.conf.${tap}.forwarding=1`,
    `net.ipv4.conf.${tap}.rp_filter=1`,
    `net.ipv4.conf.${tap}.proxy_arp=0`,
    `net.ipv4.conf.${tap}.arp_ignore=1`,
    `net.ipv4.conf.${tap}.accept_redirects=0`,
    `net.ipv4.conf.${tap}.send_redirects=0`,
    `net.ipv6.conf.${tap}.disable_ipv6=0`,
    `net.ipv6.conf.${tap}.forwarding=1`,
    `net.ipv6.conf.${tap}.accept_ra=0`,
    `net.ipv6.conf.${tap}.autoconf=0`,
    `net.ipv6.conf.${tap}.accept_redirects=0`,
    `net.ipv6.conf.${tap}.proxy_ndp=0`,
  ];
}

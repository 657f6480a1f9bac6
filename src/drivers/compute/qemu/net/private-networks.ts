/**
 * Networks outside the public internet: those of the operator, of the provider, and of its metadata services.
 * A guest reaches none of them, except its gateway, the blocks that servers have their addresses from, and
 * what the operator allows. Neighbor discovery and answers to accepted connections are not affected.
 */
import { mkdir } from 'node:fs/promises';
import { type Cidr, cidrSize, parseCidr } from '../../../../kernel/cidr.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { MachineLink } from './link.ts';

const V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The metadata services of Azure, then of most other clouds.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
];
const V6 = [
  'fc00::/7',
  // NAT64 to a private network: the local prefix, and those networks in the well-known prefix.
  '64:ff9b:1::/48',
  '64:ff9b::a00:0/104',
  '64:ff9b::6440:0/106',
  '64:ff9b::a83f:8110/128',
  '64:ff9b::a9fe:0/112',
  '64:ff9b::ac10:0/108',
  '64:ff9b::c000:0/120',
  '64:ff9b::c0a8:0/112',
  '64:ff9b::c612:0/111',
];
const PRIVATE = [...V4, ...V6].map(requireCidr);

/** Every packet to a private network meets all exceptions. */
const EXCEPTIONS_MAX = 256;

/** Returns the statements that refuse packets of a guest to private networks, except to the allowed ones. */
export function privateNetworkStatements({ ipv4 }: MachineLink, allowed: readonly string[]): string[] {
  const exceptions = (family: 4 | 6) => allowed.filter((cidr) => requireCidr(cidr).family === family);
  return [refusal('ip', V4, [ipv4.gateway, ...exceptions(4)]), refusal('ip6', V6, exceptions(6))];
}

/** Each exception is a match of its own, because nftables rejects a set whose ranges overlap. */
function refusal(family: 'ip' | 'ip6', ranges: readonly string[], exceptions: readonly string[]): string {
  const others = exceptions.map((cidr) => `${family} daddr != ${cidr} `).join('');
  return `${family} daddr { ${ranges.join(', ')} } ${others}reject with icmpx admin-prohibited`;
}

/** Returns the private networks that guests reach: the operator's setting, and the servers' own blocks. */
export async function readAllowedNetworks(host: QemuHost): Promise<readonly string[]> {
  return [...(host.options.allowPrivate ?? []), ...(await readServerBlocks(host))];
}

/**
 * Stores which of the blocks that servers have their addresses from are private. They are in a file, because
 * any process may plug a machine, before it knows the inventory.
 */
export async function storeServerBlocks(host: QemuHost, blocks: readonly string[]): Promise<void> {
  const own = blocks.filter((block) => PRIVATE.some((range) => overlap(range, requireCidr(block)))).sort();
  const stored = own.slice(0, EXCEPTIONS_MAX);
  if (stored.join() === (await readServerBlocks(host)).join()) return;
  await mkdir(host.layout.dir, { recursive: true });
  await writeJson(host.layout.serverBlocks(), stored);
}

/** A damaged file is replaced by the next round of supervision. */
async function readServerBlocks(host: QemuHost): Promise<readonly string[]> {
  return (await readJson<readonly string[]>(host.layout.serverBlocks()).catch(() => undefined)) ?? [];
}

function overlap(one: Cidr, other: Cidr): boolean {
  if (one.family !== other.family) return false;
  return one.first < other.first + cidrSize(other) && other.first < one.first + cidrSize(one);
}

/** Also guarantees that only a CIDR becomes part of a rule. */
function requireCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error('not a CIDR');
  return cidr;
}

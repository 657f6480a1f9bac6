/**
 * Networks outside the public internet: those of the operator, of the provider, and of its metadata services.
 * A guest reaches none of them, except its gateway, the blocks that servers have their addresses from, and
 * what the operator allows. Neighbor discovery and answers to accepted connections are not affected.
 */
import { mkdir } from 'node:fs/promises';
import { type Cidr, cidrSize, formatCidr, parseCidr } from '../../../../kernel/cidr.ts';
import {
  NAT64_PREFIX,
  SPECIAL_IPV4,
  SPECIAL_IPV6,
  type SpecialRange,
} from '../../../../spec/address-ranges.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { MachineLink } from './link.ts';

const deniedBlocks = (ranges: readonly SpecialRange[]) =>
  ranges.flatMap(({ block, isDeniedToGuests }) => (isDeniedToGuests ? block : []));

const V4 = deniedBlocks(SPECIAL_IPV4);
/** NAT64 would reach the IPv4 networks, too. */
const V6 = [...deniedBlocks(SPECIAL_IPV6), ...V4.map(behindNat64)];
const PRIVATE = [...V4, ...V6].map(requireCidr);

function behindNat64(block: string): string {
  const [prefix, cidr] = [requireCidr(NAT64_PREFIX), requireCidr(block)];
  const prefixLength = prefix.prefixLength + cidr.prefixLength;
  return formatCidr({ family: 6, prefixLength, first: prefix.first + cidr.first });
}

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

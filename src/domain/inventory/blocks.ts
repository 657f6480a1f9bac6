/** Address blocks. An IPv4 block provides single addresses; an IPv6 block provides one /64 per server. */
import { addressFamily, type Cidr, cidrSize, ipv4AddressAt, parseCidr } from '../../kernel/cidr.ts';
import { newId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  findOverlappingBlock,
  insertBlock,
  insertIpv4Addresses,
  insertIpv6Prefixes,
  isInPool,
  lockBlocks,
  setAddressesBlocked,
} from '../../store/inventory/addresses.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireRegion } from './names.ts';

/** The maximum rows per block: every address or /64 is a row. */
const PREFIXES_MAX = 65_536;
const PREFIX_LENGTHS = { 4: { min: 16, max: 32 }, 6: { min: 32, max: 64 } } as const;
/** Guests reach their router by its link-local address. */
const IPV6_GATEWAY = 'fe80::1';

export interface NewBlock {
  readonly regionId: string;
  /** CIDR text. */
  readonly block: string;
  /** Null selects the first address of an IPv4 block, or `fe80::1` for IPv6. */
  readonly gateway: string | null;
}

/** Returns the problem of a block on its own, or undefined. */
export function blockProblem(wanted: Pick<NewBlock, 'block' | 'gateway'>): string | undefined {
  const cidr = parseCidr(wanted.block);
  if (!cidr) return 'expected a block such as 203.0.113.0/24 or 2001:db8::/56, without host bits';
  const { min, max } = PREFIX_LENGTHS[cidr.family];
  if (cidr.prefixLength < min || cidr.prefixLength > max)
    return `an IPv${cidr.family} block must be between /${min} and /${max}`;
  if (wanted.gateway === null) {
    return cidr.family === 4 && cidr.prefixLength > 30
      ? `a /${cidr.prefixLength} needs an explicit gateway`
      : undefined;
  }
  return addressFamily(wanted.gateway) === cidr.family
    ? undefined
    : `the gateway must be an IPv${cidr.family} address`;
}

/**
 * Adds a block to a region's pool and returns the number of addresses or /64s. Rejects overlapping blocks.
 */
export async function addBlock(service: Pick<Service, 'db' | 'clock'>, wanted: NewBlock): Promise<number> {
  return await service.db.transaction((tx) => createBlock(tx, wanted, service.clock.now()));
}

/** Like `addBlock`, in the caller's transaction. */
export async function createBlock(tx: Sql, wanted: NewBlock, now: Date): Promise<number> {
  const problem = blockProblem(wanted);
  const cidr = parseCidr(wanted.block);
  if (problem !== undefined || !cidr) throw new OperatorError(`${wanted.block}: ${problem}`);
  await requireRegion(tx, wanted.regionId);
  await lockBlocks(tx);
  const overlap = await findOverlappingBlock(tx, wanted.block);
  if (overlap !== undefined)
    throw new OperatorError(`${wanted.block} overlaps ${overlap}, which is already in the pool`);
  const row = {
    id: newId(now),
    region_id: wanted.regionId,
    family: cidr.family,
    block: wanted.block,
    gateway: wanted.gateway ?? (cidr.family === 4 ? ipv4AddressAt(cidr, 1) : IPV6_GATEWAY),
    created_at: now,
  };
  await insertBlock(tx, row);
  const resource = wanted.regionId;
  await recordAudit(tx, { actor: systemActor(now), action: 'ips.add', resource }, now);
  return cidr.family === 4
    ? await insertIpv4Addresses(tx, row, usableRange(cidr))
    : await insertIpv6Prefixes(tx, row, Math.min(2 ** (64 - cidr.prefixLength), PREFIXES_MAX));
}

/** Excludes the network and broadcast address, which blocks of one or two addresses do not have. */
function usableRange(cidr: Cidr): { from: number; to: number } {
  const size = Number(cidrSize(cidr));
  return size > 2 ? { from: 1, to: size - 2 } : { from: 0, to: size - 1 };
}

/**
 * Blocks an address or CIDR range permanently, such as a router's or one with a bad reputation, or unblocks
 * it. A server keeps its address; once released, the address is not assigned again. Returns the number of
 * changed addresses and /64s, and how many of them servers still have.
 */
export async function blockAddresses(
  service: Pick<Service, 'db' | 'clock'>,
  range: string,
  blocked: boolean,
): Promise<{ readonly changed: number; readonly assigned: number }> {
  if (!addressFamily(range) && !parseCidr(range)) {
    throw new OperatorError(`${range} is not an address or a block such as 203.0.113.0/28`);
  }
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    if (!(await isInPool(tx, range))) throw new OperatorError(`no address in ${range} is in the pool`);
    const done = await setAddressesBlocked(tx, range, blocked);
    const action = blocked ? 'ips.block' : 'ips.unblock';
    if (done.changed > 0) await recordAudit(tx, { actor: systemActor(now), action, resource: null }, now);
    return done;
  });
}

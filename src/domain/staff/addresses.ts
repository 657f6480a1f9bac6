/** The pool of addresses as staff read it. */
import { isIP } from 'node:net';
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339, parseRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type AssignmentRow, listAssignments } from '../../store/inventory/address-history.ts';
import { countPool, listBlocks } from '../../store/inventory/addresses.ts';
import { findAddress } from '../../store/inventory/find-address.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export type PoolObject = Awaited<ReturnType<typeof listPools>>[number];
export type AddressObject = Awaited<ReturnType<typeof readAddress>>;
export type AssignmentObject = ReturnType<typeof toAssignmentObject>;

/** One row for each region and family. */
export async function listPools({ db, clock }: Deps) {
  const blocks = await listBlocks(db);
  return (await countPool(db, clock.now())).map((row) => ({
    object: 'address_pool' as const,
    id: `${row.region_id}-ipv${row.family}`,
    region: row.region_id,
    family: row.family,
    /** Single IPv4 addresses, or /64s. */
    free: Number(row.free),
    assigned: Number(row.held),
    released: Number(row.resting),
    blocked: Number(row.blocked),
    blocks: blocks
      .filter(
        ({ region_id: id, block }) => id === row.region_id && block.includes(':') === (row.family === 6),
      )
      .map(({ block }) => block),
  }));
}

/**
 * Who has an address, and who had it: the newest assignments, or that at a time. Fails with `not_found` if it
 * is not in the pool.
 */
export async function readAddress({ db, clock }: Deps, address: string, at: Date | null = null) {
  const text = checkAddress(address);
  const row = (await findAddress(db, text)) ?? fail('not_found', {}, 'This address is not in the pool.');
  const history = await listAssignments(db, text, { at, limit: LIMITS.addressHistoryShown });
  const isResting = row.free_from > clock.now();
  const free = row.blocked ? 'blocked' : isResting ? 'released' : 'free';
  return {
    object: 'address' as const,
    state: row.server_id === null ? free : 'assigned',
    blocked: row.blocked,
    region: row.region_id,
    block: row.block,
    gateway: row.gateway,
    server: row.server_id && formatId('server', row.server_id),
    server_name: row.server_name,
    customer: row.email,
    names: namesOf(row.rdns ?? {}, text),
    /** Null: it is available, or a lost host may still use it. */
    free_from: isResting && row.held_by === null ? formatRfc3339(row.free_from) : null,
    held_by_host: row.held_by,
    history: history.map(toAssignmentObject),
  };
}

/** Returns a single address without spaces around it. */
function checkAddress(address: string): string {
  const text = address.trim();
  if (isIP(text) === 0 || text.includes('%'))
    fail('bad_request', { field: 'address' }, 'Enter an IPv4 or IPv6 address.');
  return text;
}

/** Parses a point in time. */
export function checkTime(text: string): Date {
  const time = parseRfc3339(text.trim());
  return time ?? fail('bad_request', { field: 'at' }, 'Enter a time such as 2026-12-01T22:00:00Z.');
}

function toAssignmentObject(row: AssignmentRow) {
  return {
    server: formatId('server', row.server_id),
    /** Null: the server was deleted. */
    server_name: row.server_name,
    customer: formatId('customer', row.customer_id),
    /** Null: the account was deleted. */
    customer_email: row.email,
    from: formatRfc3339(row.assigned_at),
    until: row.released_at && formatRfc3339(row.released_at),
  };
}

/** Of the address, or of all in its /64. */
function namesOf(rdns: Readonly<Record<string, string>>, address: string): string[] {
  const isIpv6 = address.includes(':');
  const rows = Object.entries(rdns).filter(([key]) => (isIpv6 ? key.includes(':') : key === address));
  return rows.map(([, name]) => name);
}

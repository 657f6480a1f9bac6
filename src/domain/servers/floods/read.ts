/** Floods as staff read them, and what they do about one. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { BlackholeTarget, FloodDirection, FloodState } from '../../../spec/staff/floods.ts';
import { countBlackholes, countOpenFloods } from '../../../store/servers/blackholes.ts';
import { findFlood, listFloods, type ShownFloodRow } from '../../../store/servers/floods.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { type BlackholeOrder, blackholeServer, requireLifted } from './blackhole.ts';

export interface FloodQuery {
  readonly state?: FloodState;
  readonly direction?: FloodDirection;
  /** An email address or an id. */
  readonly customer?: string;
  /** `srv_…` */
  readonly server?: string;
  /** `fld_…`: only older floods. */
  readonly before?: string;
  readonly limit: number;
}

export type Flood = ReturnType<typeof toFlood>;

/** Newest first, and whether there are more. */
export async function listFloodsForStaff(
  { db }: Pick<Service, 'db'>,
  { state, direction, customer, server, before, limit }: FloodQuery,
): Promise<{ readonly floods: readonly Flood[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? undefined : parseId('flood', before);
  if (before !== undefined && beforeId === undefined) return { floods: [], hasMore: false };
  const filter = {
    ...(state && { [state]: true as const }),
    ...(direction && { direction }),
    ...(customer && { customerId: (await requireCustomer(db, customer)).id }),
    ...(server && { serverId: requireServer(server) }),
    ...(beforeId && { beforeId }),
  };
  const rows = await listFloods(db, filter, limit + 1);
  return { floods: rows.slice(0, limit).map(toFlood), hasMore: rows.length > limit };
}

function requireServer(text: string): string {
  const id = parseId('server', text.trim());
  return id ?? invalidRequest([{ field: 'server', issue: 'invalid_format' }], 'Enter the id of a server.');
}

/** Fails with `not_found`. */
export async function readFlood({ db }: Pick<Service, 'db'>, shownId: string): Promise<Flood> {
  return toFlood(await requireFlood({ db }, shownId));
}

async function requireFlood({ db }: Pick<Service, 'db'>, shownId: string): Promise<ShownFloodRow> {
  const id = parseId('flood', shownId);
  const row = id === undefined ? undefined : await findFlood(db, id);
  return row ?? fail('not_found', {}, 'There is no flood with this id.');
}

/** Drops the packets of the flooded address, or of both. Fails with `not_found` and `conflict_state`. */
export async function blackholeByFlood(
  service: Service,
  shownId: string,
  { target, minutes }: { readonly target?: BlackholeTarget; readonly minutes: number },
): Promise<Flood> {
  const row = await requireFlood(service, shownId);
  if (row.ended_at !== null) fail('conflict_state', {}, 'The flood has ended. Blackhole its server instead.');
  const order: BlackholeOrder = { target: target ?? `ipv${row.family}`, minutes, flood: row };
  await blackholeServer(service, formatId('server', row.server_id), order);
  return await readFlood(service, shownId);
}

/** Fails with `not_found` and `conflict_state`. */
export async function liftByFlood(service: Service, shownId: string): Promise<Flood> {
  const row = await requireFlood(service, shownId);
  await requireLifted(service, formatId('server', row.server_id));
  return await readFlood(service, shownId);
}

function toFlood(row: ShownFloodRow) {
  const time = (value: Date | null) => value && formatRfc3339(value);
  const state: FloodState = row.ended_at !== null ? 'ended' : row.is_blackholed ? 'blackholed' : 'open';
  return {
    object: 'flood' as const,
    id: formatId('flood', row.id),
    state,
    direction: row.direction,
    address: `ipv${row.family}` as const,
    /** That of the server now; null: it was deleted. */
    ip: row.address,
    server: formatId('server', row.server_id),
    /** Null: it was deleted. */
    server_name: row.server_name,
    server_blackholed: row.is_blackholed,
    host: row.host,
    customer: row.email,
    customer_id: formatId('customer', row.customer_id),
    peak_packets_per_s: Number(row.peak_packets_per_s),
    peak_bits_per_s: Number(row.peak_bits_per_s),
    began_at: formatRfc3339(row.began_at),
    noticed_at: time(row.noticed_at),
    last_seen_at: formatRfc3339(row.last_seen_at),
    ended_at: time(row.ended_at),
    ending: row.ending,
    blackholes: row.blackholes,
    blackholed_at: time(row.blackholed_at),
    blackhole_until: time(row.blackhole_until),
    lifted_at: time(row.lifted_at),
    lifted_by: row.lifted_by,
  };
}

interface FloodFinding {
  readonly level: 'warn' | 'note';
  readonly subject: string;
  readonly message: string;
}

/** For `status`. */
export async function floodFindings({ db }: Pick<Service, 'db'>): Promise<FloodFinding[]> {
  const counts = await countOpenFloods(db);
  const count = (wanted: (row: (typeof counts)[number]) => boolean) =>
    counts.filter(wanted).reduce((sum, { n }) => sum + n, 0n);
  const wayIn = count(({ direction, blackholed }) => direction === 'in' && !blackholed);
  const wayOut = count(({ direction, blackholed }) => direction === 'out' && !blackholed);
  const dropped = await countBlackholes(db);
  const finding = (level: 'warn' | 'note', subject: string, n: bigint, says: string): FloodFinding[] =>
    n > 0n ? [{ level, subject, message: `${n} ${says}` }] : [];
  return [
    ...finding('warn', 'floods', wayIn, 'inbound, not blackholed: see skerryd floods list --state open'),
    ...finding('warn', 'floods', wayOut, 'outbound, not blackholed: see skerryd floods list --state open'),
    ...finding('note', 'servers', dropped, 'blackholed'),
  ];
}

/**
 * Blackholes servers: their host drops what is sent to their addresses, and what they send. The table has
 * what is wanted, with its end, and the task `traffic` brings it to the host, also after a move.
 */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatSessionTime, MINUTE_MS } from '../../../kernel/time.ts';
import type { AddressFamily } from '../../../ports/network.ts';
import { type BlackholeTarget, FLOOD_LIMITS } from '../../../spec/staff/floods.ts';
import { isUnavailable } from '../../../store/connections/errors.ts';
import {
  type BlackholeRow,
  deleteBlackhole,
  findBlackhole,
  listDueBlackholes,
  saveBlackhole,
} from '../../../store/servers/blackholes.ts';
import { type FloodRow, markBlackholed, markLifted } from '../../../store/servers/floods.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { hasDriver } from '../hardware.ts';
import { requireServerId, throwServerNotFound } from '../operator/find.ts';
import { auditServer } from '../transition.ts';

const FAMILIES_OF = { ipv4: [4], ipv6: [6], both: [4, 6] } as const satisfies Readonly<
  Record<BlackholeTarget, readonly AddressFamily[]>
>;

export function blackholedFamilies({ ipv4, ipv6 }: Pick<BlackholeRow, 'ipv4' | 'ipv6'>): AddressFamily[] {
  return [...(ipv4 ? [4 as const] : []), ...(ipv6 ? [6 as const] : [])];
}

function blackholeTarget({ ipv4, ipv6 }: Pick<BlackholeRow, 'ipv4' | 'ipv6'>): BlackholeTarget {
  return ipv4 && ipv6 ? 'both' : ipv4 ? 'ipv4' : 'ipv6';
}

const ADDRESSES: Readonly<Record<BlackholeTarget, string>> = {
  ipv4: 'the IPv4 address',
  ipv6: 'the IPv6 network',
  both: 'the IPv4 address and the IPv6 network',
};

/** Explains it to the customer. */
export function describeBlackhole(row: BlackholeRow): string {
  const until = `${formatSessionTime(row.until)} UTC`;
  return (
    `We drop all packets to and from ${ADDRESSES[blackholeTarget(row)]} of this server until ${until}, ` +
    'or earlier if we lift this. The server keeps running, and its console works.'
  );
}

type Flooded = Pick<FloodRow, 'id' | 'server_id' | 'direction' | 'family' | 'blackholes'>;

/** Each time the flood comes back at once, the blackhole lasts twice as long. */
export async function blackholeFlood(service: Service, flood: Flooded): Promise<void> {
  const known = await findBlackhole(service.db, flood.server_id);
  if (known && blackholedFamilies(known).includes(flood.family)) return;
  const base = service.settings.floods.blackholeMinutes;
  const minutes = Math.min(base * 2 ** Math.min(flood.blackholes, 20), FLOOD_LIMITS.automaticMaxMinutes);
  const until = new Date(service.clock.now().getTime() + minutes * MINUTE_MS);
  const changed = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, flood.server_id);
    if (!server || server.status === 'destroying' || !hasDriver(service, server)) return false;
    const existing = await findBlackhole(tx, server.id);
    if (existing && blackholedFamilies(existing).includes(flood.family)) return false;
    await place(tx, service, server, {
      ipv4: flood.family === 4 || existing?.ipv4 === true,
      ipv6: flood.family === 6 || existing?.ipv6 === true,
      until: existing && existing.until > until ? existing.until : until,
      flood,
    });
    return true;
  });
  if (changed) service.wake();
}

export interface BlackholeOrder {
  readonly target: BlackholeTarget;
  readonly minutes: number;
  /** The flood that it is about, if it is about one. */
  readonly flood?: Flooded;
}

/** By staff: replaces what is in force. Takes a public id. */
export async function blackholeServer(
  service: Service,
  shownId: string,
  { target, minutes, flood }: BlackholeOrder,
): Promise<void> {
  const id = requireServerId(shownId);
  await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    if (!hasDriver(service, server))
      throw new OperatorError('the machine was set up by hand: blackhole its address in your own network');
    const until = new Date(service.clock.now().getTime() + minutes * MINUTE_MS);
    const families: readonly AddressFamily[] = FAMILIES_OF[target];
    const wanted = { ipv4: families.includes(4), ipv6: families.includes(6), until };
    await place(tx, service, server, { ...wanted, flood });
  });
  service.wake();
}

interface Placement extends Pick<BlackholeRow, 'ipv4' | 'ipv6' | 'until'> {
  readonly flood?: Flooded | undefined;
}

/** One commit: the wanted state, its task, the mail, and the audit entry. */
async function place(
  tx: Sql,
  service: Service,
  server: ServerRow,
  { ipv4, ipv6, until, flood }: Placement,
): Promise<void> {
  const now = service.clock.now();
  await saveBlackhole(tx, { server_id: server.id, ipv4, ipv6, began_at: now, until });
  if (flood) await markBlackholed(tx, { id: flood.id, until, now });
  await enqueueTask(tx, { kind: 'traffic', subject: server.id, now });
  const data = {
    server: server.name,
    target: blackholeTarget({ ipv4, ipv6 }),
    flood: flood?.direction ?? null,
    blackholedAt: now,
    until,
  };
  const cause = `blackhole:${server.id}:${now.getTime()}`;
  const mail = { customerId: server.customer_id, kind: 'server_blackholed', cause, data } as const;
  await enqueueMail(tx, mail, now, service.keys);
  await auditServer(tx, server, 'server.blackhole', now);
}

/** By staff. Returns false if the server is not blackholed. */
export async function liftBlackhole(service: Service, shownId: string): Promise<boolean> {
  const lifted = await lift(service, requireServerId(shownId), 'staff');
  if (lifted) service.wake();
  return lifted;
}

const NOT_BLACKHOLED = 'The server is not blackholed. Its host gets this state again.';

/** Fails with `conflict_state` if the server is not blackholed. */
export async function requireLifted(service: Service, shownId: string): Promise<void> {
  if (!(await liftBlackhole(service, shownId))) fail('conflict_state', {}, NOT_BLACKHOLED);
}

/** Lifts the blackholes that have ended. Returns how many there were. */
export async function liftDueBlackholes(service: Service, limit: number): Promise<number> {
  const ids = await listDueBlackholes(service.db, service.clock.now(), limit);
  let lifted = 0;
  for (const id of ids) {
    try {
      if (await lift(service, id, 'time')) lifted += 1;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      service.log.error({ err: error, server: formatId('server', id) }, 'lifting a blackhole failed');
    }
  }
  if (lifted > 0) service.wake();
  return lifted;
}

async function lift(service: Service, serverId: string, by: 'time' | 'staff'): Promise<boolean> {
  return await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, serverId);
    if (!server) return by === 'staff' ? throwServerNotFound() : false;
    const lifted = await liftWithin(tx, service, server, by);
    // Its host may know a blackhole of before the database was restored.
    if (!lifted && by === 'staff')
      await enqueueTask(tx, { kind: 'traffic', subject: serverId, now: service.clock.now() });
    return lifted;
  });
}

/**
 * The caller holds the server's lock. `time`: only if it is due; `addresses`: the server gets others. Returns
 * false if there is nothing to lift.
 */
export async function liftWithin(
  tx: Sql,
  { clock, keys }: Pick<Service, 'clock' | 'keys'>,
  server: ServerRow,
  by: 'time' | 'staff' | 'addresses',
): Promise<boolean> {
  const now = clock.now();
  const row = await deleteBlackhole(tx, server.id, by === 'time' ? now : null);
  if (!row) return false;
  await markLifted(tx, { serverId: server.id, by, now });
  await enqueueTask(tx, { kind: 'traffic', subject: server.id, now });
  const data = { server: server.name, target: blackholeTarget(row), liftedAt: now };
  const cause = `blackhole:${server.id}:lifted:${now.getTime()}`;
  const mail = { customerId: server.customer_id, kind: 'blackhole_lifted', cause, data } as const;
  await enqueueMail(tx, mail, now, keys);
  await auditServer(tx, server, 'server.lift_blackhole', now);
  return true;
}

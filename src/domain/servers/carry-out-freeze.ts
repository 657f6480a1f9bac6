/**
 * Frozen is what the operator wants of a server, kept on its row. What is being done to the server is finished first: whoever
 * records its end carries out what is wanted by then, in the same commit. So nothing is half done, nobody gets in
 * between, and a process may be killed anywhere.
 */
import type { Sql } from '../../kernel/sql.ts';
import { lockBalance } from '../../store/ledger.ts';
import { hasOperation } from '../../store/operations.ts';
import { findServer, type ServerRow } from '../../store/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordEvent } from '../record.ts';
import { serverObject } from './object.ts';
import { priceFrom } from './price.ts';
import { resumeServer } from './resume.ts';
import { suspendServer, tellSuspended } from './suspend.ts';

type Parts = Pick<Service, 'settings' | 'keys' | 'compute'>;

/** Whether this server is not as frozen, or as free, as it is wanted; one that is being made or installed is neither yet. */
export function awaitsFreeze(
  server: Pick<ServerRow, 'status' | 'suspended_reason' | 'frozen_at'>,
): 'freeze' | 'thaw' | null {
  const { status, suspended_reason: reason } = server;
  if (server.frozen_at === null) return reason === 'operator' ? 'thaw' : null;
  if (status === 'suspended') return reason === 'operator' ? null : 'freeze';
  return status === 'running' || status === 'stopped' ? 'freeze' : null;
}

/** In the caller's transaction, which holds the server's lock. While an operation is under way nothing is done yet. */
export async function carryOutFreeze(tx: Sql, service: Parts, serverId: string, now: Date): Promise<void> {
  const server = await findServer(tx, serverId);
  const wanted = server && awaitsFreeze(server);
  if (!wanted || (await hasOperation(tx, serverId))) return;
  if (wanted === 'freeze') await freeze(tx, service, server, now);
  else await thaw(tx, service, server, now);
}

async function freeze(tx: Sql, service: Parts, server: ServerRow, now: Date): Promise<void> {
  await suspendServer(tx, service, server, 'operator', now);
  // One that was suspended already has another reason only; its grace period goes on.
  if (server.status === 'suspended') await tell(tx, service, server, server.suspended_at ?? now, now);
}

/** Its customer is told when it is his turn now: what was paid is over, and the balance does not pay the next cycle by itself. */
async function thaw(tx: Sql, service: Parts, server: ServerRow, now: Date): Promise<void> {
  await resumeServer(tx, service, server, now);
  if (server.paid_until > now) return;
  const have = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (server.auto_renew && have >= (await priceFrom(tx, server, now)).cycleCents) return;
  await tell(tx, service, server, now, now);
}

/** Event and mail about a server that was suspended before and is now for another reason. */
async function tell(tx: Sql, service: Parts, before: ServerRow, suspendedAt: Date, now: Date): Promise<void> {
  const server = (await findServer(tx, before.id)) ?? before;
  const { customer_id: customerId, paid_until: paidUntil, suspended_reason: reason } = server;
  if (reason === null) return;
  await recordEvent(tx, { customerId, type: 'server.suspended', object: serverObject(server) }, now);
  const destroyAt = graceEnd({ suspendedAt, paidUntil }, service.settings.graceDays);
  await tellSuspended(tx, service, server, { reason, destroyAt }, now);
}

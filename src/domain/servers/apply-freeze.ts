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
import { sendSuspendedMail, suspendServer } from './suspend.ts';

type Deps = Pick<Service, 'settings' | 'keys' | 'compute'>;

/** Whether this server is not as frozen, or as free, as it is wanted; one that is being made or installed is neither yet. */
export function pendingFreezeChange(
  server: Pick<ServerRow, 'status' | 'suspended_reason' | 'frozen_at'>,
): 'freeze' | 'thaw' | null {
  const { status, suspended_reason: reason } = server;
  if (server.frozen_at === null) return reason === 'operator' ? 'thaw' : null;
  if (status === 'suspended') return reason === 'operator' ? null : 'freeze';
  return status === 'running' || status === 'stopped' ? 'freeze' : null;
}

/** In the caller's transaction, which holds the server's lock. While an operation is under way nothing is done yet. */
export async function applyFreeze(tx: Sql, service: Deps, serverId: string, now: Date): Promise<void> {
  const server = await findServer(tx, serverId);
  const change = server && pendingFreezeChange(server);
  if (!change || (await hasOperation(tx, serverId))) return;
  if (change === 'freeze') await freeze(tx, service, server, now);
  else await unfreeze(tx, service, server, now);
}

async function freeze(tx: Sql, service: Deps, server: ServerRow, now: Date): Promise<void> {
  await suspendServer(tx, service, server, 'operator', now);
  // One that was suspended already has another reason only; its grace period goes on.
  if (server.status === 'suspended')
    await notifySuspensionChange(tx, service, server, server.suspended_at ?? now, now);
}

/** Its customer is told when it is his turn now: what was paid is over, and the balance does not pay the next cycle by itself. */
async function unfreeze(tx: Sql, service: Deps, server: ServerRow, now: Date): Promise<void> {
  await resumeServer(tx, service, server, now);
  if (server.paid_until > now) return;
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (server.auto_renew && balanceCents >= (await priceFrom(tx, server, now)).cycleCents) return;
  await notifySuspensionChange(tx, service, server, now, now);
}

/** Event and mail about a server that was suspended before and is now for another reason. */
async function notifySuspensionChange(
  tx: Sql,
  service: Deps,
  previous: ServerRow,
  suspendedAt: Date,
  now: Date,
): Promise<void> {
  const server = (await findServer(tx, previous.id)) ?? previous;
  const { customer_id: customerId, paid_until: paidUntil, suspended_reason: reason } = server;
  if (reason === null) return;
  await recordEvent(tx, { customerId, type: 'server.suspended', object: serverObject(server) }, now);
  const destroyAt = graceEnd({ suspendedAt, paidUntil }, service.settings.graceDays);
  await sendSuspendedMail(tx, service, server, { reason, destroyAt }, now);
}

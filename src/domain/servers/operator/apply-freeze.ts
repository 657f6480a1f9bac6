/**
 * Applies the operator's freeze, which is stored on the server's row. An operation that is under way finishes
 * first; the commit that completes it also applies the freeze stored by then. So no operation is left half
 * done, no request slips in between, and the process may be killed at any point.
 */
import type { Sql } from '../../../kernel/sql.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { hasOperation } from '../../../store/servers/operations.ts';
import { findServer, type ServerRow } from '../../../store/servers/servers.ts';
import { graceEnd } from '../../billing/grace.ts';
import { findSuspensionTime } from '../../billing/negative-balance.ts';
import type { Service } from '../../context.ts';
import { recordEvent } from '../../record.ts';
import { priceFrom } from '../billing/price.ts';
import { resumeServer, sendSuspendedMail, suspendServer } from '../billing/suspend.ts';
import { serverObject } from '../object.ts';

type Deps = Pick<Service, 'settings' | 'keys' | 'compute'>;

/** Returns the change that the freeze still requires; null while the server is being created or installed. */
export function pendingFreezeChange(
  server: Pick<ServerRow, 'status' | 'suspended_reason' | 'frozen_at'>,
): 'freeze' | 'thaw' | null {
  const { status, suspended_reason: reason } = server;
  if (server.frozen_at === null) return reason === 'operator' ? 'thaw' : null;
  if (status === 'suspended') return reason === 'operator' ? null : 'freeze';
  return status === 'running' || status === 'stopped' ? 'freeze' : null;
}

/** Runs in the caller's transaction, which locked the server. Does nothing during an operation. */
export async function applyFreeze(tx: Sql, service: Deps, serverId: string, now: Date): Promise<void> {
  const server = await findServer(tx, serverId);
  const change = server && pendingFreezeChange(server);
  if (!change || (await hasOperation(tx, serverId))) return;
  if (change === 'freeze') await freeze(tx, service, server, now);
  else await unfreeze(tx, service, server, now);
}

async function freeze(tx: Sql, service: Deps, server: ServerRow, now: Date): Promise<void> {
  await suspendServer(tx, service, server, 'operator', now);
  // A server that was already suspended only changes its reason; its grace period continues.
  if (server.status === 'suspended')
    await notifySuspensionChange(tx, service, server, server.suspended_at ?? now, now);
}

/** Notifies the customer if they must act: the cycle has ended and the balance cannot renew it. */
async function unfreeze(tx: Sql, service: Deps, server: ServerRow, now: Date): Promise<void> {
  const suspendAt = await findSuspensionTime(tx, service, { customerId: server.customer_id });
  if (server.paid_until > now && suspendAt !== null && suspendAt <= now) {
    await suspendServer(tx, service, server, 'negative_balance', now);
    return await notifySuspensionChange(tx, service, server, server.suspended_at ?? now, now);
  }
  await resumeServer(tx, service, server, now);
  if (server.paid_until > now) return;
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (server.auto_renew && balanceCents >= (await priceFrom(tx, server, now)).cycleCents) return;
  await notifySuspensionChange(tx, service, server, now, now);
}

/** Records the event and the mail for a server that stays suspended for a different reason. */
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

/** Suspends a server: the status changes at once; an operation powers off its machine. */
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findTransition, SERVER_TRANSITIONS, type SuspendedReason } from '../../spec/states.ts';
import { setSuspended, setSuspendedReason } from '../../store/billing/cycles.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import { insertOperation } from '../../store/servers/operations.ts';
import { findServerControls } from '../../store/servers/operator.ts';
import { findServer, type ServerRow } from '../../store/servers/servers.ts';
import { graceEnd, nextGraceCheck } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordEvent } from '../record.ts';
import { hasDriver } from './hardware.ts';
import { serverObject } from './object.ts';
import { priceFrom } from './price.ts';

/**
 * Runs in the caller's transaction, which holds the server's lock, found no operation under way, and writes
 * the audit row. A running or stopped server becomes `suspended`, with its event and its mail. If it was
 * running, its guest is asked to shut down with the usual deadline; if no driver reaches the machine,
 * `status` tells the operator to power it off. A server that is already suspended only changes its reason,
 * and nothing is sent.
 */
export async function suspendServer(
  tx: Sql,
  service: Pick<Service, 'settings' | 'keys' | 'compute'>,
  server: ServerRow,
  reason: SuspendedReason,
  now: Date,
): Promise<void> {
  const { id, status, customer_id: customerId, paid_until: paidUntil } = server;
  if (status === 'suspended') return await setSuspendedReason(tx, { id, reason, now });
  if (status !== 'running' && status !== 'stopped')
    throw new Error(`cannot suspend a server that is ${status}`);
  const { event } = findTransition(SERVER_TRANSITIONS, status, 'suspend');
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  const billAt = nextGraceCheck({ suspendedAt: now, destroyAt, warnedDays: null });
  await setSuspended(tx, { id, reason, resumeTo: status, destroyAt, billAt, now });
  const suspended = (await findServer(tx, id)) ?? server;
  await recordEvent(tx, { customerId, type: event, object: serverObject(suspended) }, now);
  if (status === 'running' && hasDriver(service, server)) {
    await insertOperation(tx, {
      id: newId(now),
      server_id: id,
      kind: 'suspend',
      step: 'shut_down',
      payload_sealed: null,
      snapshot_id: null,
      now,
    });
  }
  await sendSuspendedMail(tx, service, suspended, { reason, destroyAt }, now);
}

/** Mails the customer that the server is suspended, why, and when it will be destroyed. */
export async function sendSuspendedMail(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  server: ServerRow,
  { reason, destroyAt }: { reason: SuspendedReason; destroyAt: Date },
  now: Date,
): Promise<void> {
  const { customer_id: customerId } = server;
  const controls = reason === 'operator' ? await findServerControls(tx, server.id) : undefined;
  const note = controls?.freeze_reason;
  const data = {
    server: server.name,
    reason,
    ...(note ? { note } : {}),
    suspendedAt: now,
    months: server.billing_months,
    priceCents: (await priceFrom(tx, server, now)).cycleCents,
    balanceCents: await readBalance(tx, customerId),
    destroyAt: server.held_at === null ? destroyAt : null,
  };
  const cause = `suspended:${server.id}:${now.toISOString()}`;
  await enqueueMail(tx, { customerId, kind: 'server_suspended', cause, data }, now, service.keys);
}

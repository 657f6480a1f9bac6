/** Moves servers along the table of states, and audits what the service or the operator did to them. */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import type { EventType } from '../../spec/events.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { findServer, type ServerRow, setServerStatus } from '../../store/servers/servers.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { serverObject } from './object.ts';

/** Transitions that change only the status. Installs and suspensions also write other columns. */
type StatusTrigger =
  | 'install_begins'
  | 'guest_went_off'
  | 'resume_running'
  | 'resume_stopped'
  | 'destroy'
  | 'host_lost';

/** Moves the server by the table and records the event, if any. The caller holds the server's lock. */
export async function moveServer(
  tx: Sql,
  server: ServerRow,
  trigger: StatusTrigger,
  now: Date,
): Promise<void> {
  const { to, event } = findTransition(SERVER_TRANSITIONS, server.status, trigger);
  await setServerStatus(tx, { id: server.id, status: to, now });
  if (event) await recordServerEvent(tx, server, event, now);
}

/** Records an event with the server as stored now. */
export async function recordServerEvent(
  tx: Sql,
  server: ServerRow,
  type: EventType,
  now: Date,
): Promise<void> {
  const object = serverObject((await findServer(tx, server.id)) ?? server);
  await recordEvent(tx, { customerId: server.customer_id, type, object }, now);
}

/** Records an action of the service or the operator in the audit log of the server's customer. */
export async function auditServer(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'customer_id'>,
  action: Action,
  now: Date,
  result: 'ok' | 'error' = 'ok',
): Promise<void> {
  const { id, customer_id: customerId } = server;
  const resource = formatId('server', id);
  await recordAudit(tx, { actor: systemActor(now), action, resource, result, customerId }, now);
}

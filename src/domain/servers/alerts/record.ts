/** Records that alerts begin or cease to fire: one event for each alert and server. */
import { notFound } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { Alert } from '../../../spec/schemas/alert.ts';
import { findAlert } from '../../../store/servers/alerts.ts';
import { deleteFiringsForServer, deleteFiringsOfAlert } from '../../../store/servers/firings.ts';
import { findServer, type ServerRow } from '../../../store/servers/servers.ts';
import { recordEvent } from '../../record.ts';
import { serverObject } from '../object.ts';
import { alertObject } from './read.ts';

interface FiringEvent {
  readonly type: 'alert.fired' | 'alert.resolved';
  readonly customerId: string;
  readonly alertId: string;
  readonly serverId: string;
}

/** Alerts and servers by id, read once after the change. */
export class FiringRecorder {
  readonly #tx: Sql;
  readonly #alerts = new Map<string, Alert>();
  readonly #servers = new Map<string, ServerRow | undefined>();

  constructor(tx: Sql) {
    this.#tx = tx;
  }

  async record({ type, customerId, alertId, serverId }: FiringEvent, now: Date): Promise<void> {
    const server = await this.server(serverId);
    if (server === undefined) return;
    const object = await this.alert(customerId, alertId);
    const event = { customerId, type, object, related: { server: serverObject(server) } };
    await recordEvent(this.#tx, event, now);
  }

  async alert(customerId: string, id: string): Promise<Alert> {
    const known = this.#alerts.get(id);
    if (known) return known;
    const alert = alertObject((await findAlert(this.#tx, customerId, id)) ?? notFound('alert'));
    this.#alerts.set(id, alert);
    return alert;
  }

  async server(id: string): Promise<ServerRow | undefined> {
    if (!this.#servers.has(id)) this.#servers.set(id, await findServer(this.#tx, id));
    return this.#servers.get(id);
  }
}

/** Ends what an alert fires for, before it is deleted or its rule changes. The caller holds its lock. */
export async function resolveAlert(tx: Sql, customerId: string, alertId: string, now: Date): Promise<void> {
  const recorder = new FiringRecorder(tx);
  for (const serverId of await deleteFiringsOfAlert(tx, alertId)) {
    await recorder.record({ type: 'alert.resolved', customerId, alertId, serverId }, now);
  }
}

/** Ends what fires for a server, before its row is deleted. The caller holds its lock. */
export async function resolveForServer(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'customer_id'>,
  now: Date,
): Promise<void> {
  const recorder = new FiringRecorder(tx);
  const { id: serverId, customer_id: customerId } = server;
  for (const alertId of await deleteFiringsForServer(tx, serverId)) {
    await recorder.record({ type: 'alert.resolved', customerId, alertId, serverId }, now);
  }
}

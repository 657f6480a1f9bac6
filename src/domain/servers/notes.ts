/** Notes to the customer about a server in an unusual condition. */
import { explainDenial } from '../../spec/states.ts';
import { findServerControls } from '../../store/servers/operator.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import { findSentTransfer } from '../../store/servers/traffic.ts';
import type { Service } from '../context.ts';
import { describeThrottle } from './throttle.ts';

type Deps = Pick<Service, 'db' | 'settings'>;

/** Returns sentences about a suspension, a message from the operator, a legal hold, or a throttle. */
export async function serverNotes(service: Deps, server: ServerRow): Promise<string[]> {
  const { id, status, suspended_reason: suspendedReason, frozen_at, held_at } = server;
  const notes = status === 'suspended' ? [explainDenial({ status, suspendedReason }, 'stop')] : [];
  if (server.throttled) notes.push(...(await throttleNotes(service, id)));
  if (frozen_at === null && held_at === null) return notes;
  const controls = await findServerControls(service.db, id);
  if (controls?.freeze_reason) notes.push(`Message from the operator: ${controls.freeze_reason}`);
  if (controls?.hold_order)
    notes.push(`This server is under a legal hold and cannot be destroyed: ${controls.hold_order}`);
  return notes;
}

async function throttleNotes({ db, settings }: Deps, serverId: string): Promise<string[]> {
  const transfer = await findSentTransfer(db, serverId);
  return transfer ? [describeThrottle(transfer, settings.throttleMbps)] : [];
}

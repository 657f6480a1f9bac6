/** What the customer is told of a server that is not as usual. */
import { explainDenial } from '../../spec/states.ts';
import { findServerControls } from '../../store/server-controls.ts';
import type { ServerRow } from '../../store/servers.ts';
import { findSentTransfer } from '../../store/transfers-out.ts';
import type { Service } from '../context.ts';
import { describeThrottle } from './throttle.ts';

type Deps = Pick<Service, 'db' | 'settings'>;

/** Why it is suspended and what to do about it, what the operator wrote, the order that holds it, why it is slow: sentences, or none. */
export async function serverNotes(service: Deps, server: ServerRow): Promise<string[]> {
  const { id, status, suspended_reason: suspendedReason, frozen_at, held_at } = server;
  const notes = status === 'suspended' ? [explainDenial({ status, suspendedReason }, 'stop')] : [];
  if (server.throttled) notes.push(...(await throttleNotes(service, id)));
  if (frozen_at === null && held_at === null) return notes;
  const controls = await findServerControls(service.db, id);
  if (controls?.freeze_reason) notes.push(`The operator writes: ${controls.freeze_reason}`);
  if (controls?.hold_order)
    notes.push(`It is under a legal hold and cannot be destroyed: ${controls.hold_order}`);
  return notes;
}

async function throttleNotes({ db, settings }: Deps, serverId: string): Promise<string[]> {
  const transfer = await findSentTransfer(db, serverId);
  return transfer ? [describeThrottle(transfer, settings.throttleMbps)] : [];
}

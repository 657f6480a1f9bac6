/** What the customer is told of a server that is not as usual. */
import { whyNot } from '../../spec/states.ts';
import { findServerLevers } from '../../store/server-levers.ts';
import type { ServerRow } from '../../store/servers.ts';
import { findTransfer } from '../../store/transfers-out.ts';
import type { Service } from '../context.ts';
import { throttleNote } from './throttle.ts';

type Parts = Pick<Service, 'db' | 'settings'>;

/** Why it is suspended and what to do about it, what the operator wrote, the order that holds it, why it is slow: sentences, or none. */
export async function notesOnServer(service: Parts, server: ServerRow): Promise<string[]> {
  const { id, status, suspended_reason: suspendedReason, frozen_at, held_at } = server;
  const notes = status === 'suspended' ? [whyNot({ status, suspendedReason }, 'stop')] : [];
  if (server.throttled) notes.push(...(await slow(service, id)));
  if (frozen_at === null && held_at === null) return notes;
  const levers = await findServerLevers(service.db, id);
  if (levers?.freeze_reason) notes.push(`The operator writes: ${levers.freeze_reason}`);
  if (levers?.hold_order)
    notes.push(`It is under a legal hold and cannot be destroyed: ${levers.hold_order}`);
  return notes;
}

async function slow({ db, settings }: Parts, serverId: string): Promise<string[]> {
  const transfer = await findTransfer(db, serverId);
  return transfer ? [throttleNote(transfer, settings.throttleMbps)] : [];
}

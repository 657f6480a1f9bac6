/** Stops, starts, and reboots a server. */
import type { Server } from '../../spec/schemas/server.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { chargeCycleFromNow } from './charge-cycle.ts';
import { hasDriver } from './hardware.ts';
import { requestOperation } from './request-operation.ts';
import { resumeServer } from './resume.ts';

/**
 * Requests a guest shutdown. The server stays `running` until it is off, and is powered off after a deadline.
 */
export async function stopServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  beforeCommit?: SaveResponse,
): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'stop', beforeCommit }, async () => ({
    step: 'shut_down',
  }));
}

/** Soft: shuts the guest down and powers it on again. Hard: resets it. */
export async function rebootServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  options: { readonly hard: boolean },
  beforeCommit?: SaveResponse,
): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'reboot', beforeCommit }, async () => ({
    step: options.hard ? 'reset' : 'shut_down',
  }));
}

/**
 * Powers on a stopped server. A server that was suspended because it was not renewed is charged a cycle from
 * now and resumes; that also refuses with `insufficient_balance`.
 */
export async function startServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  beforeCommit?: SaveResponse,
): Promise<Server> {
  return await requestOperation(
    service,
    { actor, shownId, action: 'start', beforeCommit },
    async (tx, server, now) => {
      if (server.status !== 'suspended') return { step: 'wait_on' };
      const paidUntil = await chargeCycleFromNow(tx, server, now);
      if (hasDriver(service, server)) return { step: 'wait_on' };
      await resumeServer(tx, service, { ...server, paid_until: paidUntil }, now);
      return null;
    },
  );
}

/** Stops, starts, and reboots a server, and boots it into the rescue system. */
import { rootPasswordHasher } from '../../../kernel/crypt/crypt.ts';
import { fail } from '../../../kernel/fail.ts';
import { newSecretToken } from '../../../kernel/ids.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { RescuedServer, StartBody } from '../../../spec/schemas/server-actions.ts';
import { readPriceLimits, requireWithinLimits } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { spend } from '../../tokens/limits/spend.ts';
import { chargeCycleFromNow } from '../billing/charge.ts';
import { priceStart } from '../billing/price.ts';
import { resumeServer } from '../billing/suspend.ts';
import { hasDriver } from '../hardware.ts';
import { getServer } from '../read.ts';
import { requestOperation } from './request.ts';

/**
 * Requests a guest shutdown. The server stays `running` until it is off, and is powered off after a deadline.
 */
export async function stopServer(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'stop' }, async () => ({
    step: 'shut_down',
  }));
}

/** Soft: shuts the guest down and powers it on again. Hard: resets it. */
export async function rebootServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  options: { readonly hard: boolean },
): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'reboot' }, async () => ({
    step: options.hard ? 'reset' : 'shut_down',
  }));
}

/**
 * Powers on a stopped server. A server that was suspended because it was not renewed is charged a cycle from
 * now and resumes; that also refuses with `insufficient_balance`, and with `price_changed` above a limit in
 * the body.
 */
export async function startServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: StartBody = {},
): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'start' }, async (tx, server, now) => {
    const cycle = await priceStart(tx, server, now);
    const limits = readPriceLimits(service, actor, { operation: 'server.start', resource: shownId }, body);
    requireWithinLimits(limits, cycle?.cycleCents ?? 0n);
    if (cycle) await spend(tx, actor, cycle.cycleCents, now);
    const paidUntil = cycle ? await chargeCycleFromNow(tx, server, cycle, now) : server.paid_until;
    if (server.status !== 'suspended' || hasDriver(service, server)) return { step: 'wait_on' };
    await resumeServer(tx, service, { ...server, paid_until: paidUntil }, now);
    return null;
  });
}

/**
 * Boots a server into the rescue system. Returns the password in the response only; its hash is stored sealed
 * until the rescue system has it. Refuses with `not_found`, `conflict_state`, and `unavailable` if the driver
 * has no rescue system.
 */
export async function rescueServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<RescuedServer> {
  // Check first: hashing is expensive, and some servers cannot be rescued.
  await getServer(service, actor, shownId);
  const password = newSecretToken();
  const passwordHash = await rootPasswordHasher.hash(password);
  const { images } = service.compute;
  const hasRescueImage = images === null || (await images.rescue()) !== null;
  const plan = async () => {
    if (!hasRescueImage) fail('unavailable', { field: '' }, 'No rescue system is available for this server.');
    return { step: 'enter_rescue', payload: { passwordHash } } as const;
  };
  const rescue = { username: 'root', password } as const;
  return await requestOperation(service, { actor, shownId, action: 'rescue' }, plan, {
    rescue,
  });
}

/**
 * Acts of the operator that are those of its customer: the same checks, charges, and events. The audit log of
 * the customer shows them without an actor.
 */
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { DeletedServer, RescuedServer, ResizeBody } from '../../../spec/schemas/server-actions.ts';
import { findServer } from '../../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { openConsole } from '../console.ts';
import { destroyServer } from '../operations/destroy.ts';
import { rebootServer, rescueServer, startServer, stopServer } from '../operations/power.ts';
import { rebuildServer } from '../operations/reinstall.ts';
import { requestOperation } from '../operations/request.ts';
import { resizeServer } from '../resize/resize.ts';
import { requireServerId, throwServerNotFound } from './find.ts';

/** `shutdown` and `reboot` ask the guest first. */
export const POWER_ACTS = ['start', 'shutdown', 'reboot', 'reset', 'poweroff'] as const;
export type PowerAct = (typeof POWER_ACTS)[number];

type Verb<Result> = (actor: CustomerActor, shownId: string) => Promise<Result>;

async function actFor<Result>(service: Service, name: string, verb: Verb<Result>): Promise<Result> {
  const server = (await findServer(service.db, requireServerId(name))) ?? throwServerNotFound();
  const actor = { ...systemActor(service.clock.now()), customerId: server.customer_id };
  return await verb(actor, formatId('server', server.id));
}

/** Never charges: a suspended server is started by its customer, who pays for a cycle. */
export async function setServerPower(service: Service, name: string, act: PowerAct): Promise<void> {
  await actFor(service, name, async (actor, id) => {
    switch (act) {
      case 'start':
        await requireUnsuspended(service, id);
        return await startServer(service, actor, id);
      case 'shutdown':
        return await stopServer(service, actor, id);
      case 'poweroff':
        return await powerOff(service, actor, id);
      default:
        return await rebootServer(service, actor, id, { hard: act === 'reset' });
    }
  });
}

async function requireUnsuspended({ db }: Service, id: string): Promise<void> {
  const server = (await findServer(db, requireServerId(id))) ?? notFound('server');
  if (server.status === 'suspended')
    fail('conflict_state', {}, 'The server is suspended: its customer starts it and pays for a cycle.');
}

/** A stop whose guest has had its time to shut down. */
async function powerOff(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  await requestOperation(service, { actor, shownId, action: 'stop' }, async (_tx, _server, now) => {
    const placedAt = new Date(now.getTime() - service.settings.shutdownDeadlineS * SECOND_MS);
    return { step: 'wait_off', placedAt };
  });
}

/** Returns the password of the rescue system, which lasts until the next restart. */
export async function rescueForOperator(service: Service, name: string): Promise<RescuedServer> {
  return await actFor(service, name, (actor, id) => rescueServer(service, actor, id));
}

/** All data on its disk is lost. `sshKey` is a key of the customer; null keeps those that the server has. */
export async function rebuildForOperator(
  service: Service,
  name: string,
  { image, sshKey }: { readonly image: string | null; readonly sshKey: string | null },
): Promise<void> {
  const body = {
    ...(image !== null && { image }),
    ...(sshKey !== null && { ssh_keys: [sshKey] }),
  };
  await actFor(service, name, (actor, id) => rebuildServer(service, actor, id, body));
}

/** Charges or credits its customer as their own resize does, up to `max_price_usd`. */
export async function resizeForOperator(service: Service, name: string, body: ResizeBody): Promise<void> {
  await actFor(service, name, (actor, id) => resizeServer(service, actor, id, body));
}

/** Refused like that of its customer: under a legal hold, and while it is protected. */
export async function deleteForOperator(service: Service, name: string): Promise<DeletedServer> {
  return await actFor(service, name, (actor, id) => destroyServer(service, actor, id));
}

/** The link works once, for five minutes, and its customer reads in the audit log that it was made. */
export async function openConsoleForOperator(
  service: Service,
  name: string,
  { readOnly }: { readonly readOnly: boolean },
) {
  return await actFor(service, name, async (actor, id) => {
    const opened = await openConsole(service, actor, id, { readOnly, baseUrl: service.settings.baseUrl });
    // No one has the link before its row is there.
    const audit = { actor, action: 'server.open_console', resource: id } as const;
    await recordAudit(service.db, audit, service.clock.now());
    return opened;
  });
}

/** The operator's controls of a server: freeze, legal hold, release, and outbound mail. */
import { OperatorError, requireLine } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { Action } from '../../../spec/actions.ts';
import { restartSuspension } from '../../../store/billing/cycles.ts';
import {
  findServerControls,
  type ServerControls,
  setServerControls,
} from '../../../store/servers/operator.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { setMailAllowed } from '../../../store/servers/traffic.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import { graceEnd } from '../../billing/grace.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { hasDriver } from '../hardware.ts';
import { applyFreeze } from './apply-freeze.ts';
import { requireServerId, throwServerNotFound } from './find.ts';

/**
 * One commit that stores the change and applies it. `decide` returns the new controls, or null if they
 * already apply; the result is false then.
 */
export async function changeControls(
  service: Service,
  shownId: string,
  action: Action,
  decide: (current: ServerControls, now: Date, server: ServerRow) => ServerControls | null,
): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    const previous = (await findServerControls(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    const now = service.clock.now();
    const next = decide(previous, now, server);
    if (next === null) return false;
    await setServerControls(tx, id, next);
    const { customer_id: customerId } = server;
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId, customerId }, now);
    if (previous.held_at !== null && next.held_at === null)
      await restartGracePeriod(tx, service, server, now);
    await applyFreeze(tx, service, id, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}

/** Restarts the grace period and its warnings: during the hold the customer received no deletion date. */
async function restartGracePeriod(tx: Sql, service: Service, server: ServerRow, now: Date): Promise<void> {
  const { id, suspended_reason: reason, paid_until: paidUntil } = server;
  if (reason === null) return;
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  await restartSuspension(tx, { id, reason, destroyAt, now });
}

/**
 * Freezes a server: powers off its machine and leaves its customer only viewing and destroying it. Returns
 * false if it is already frozen for this reason. `reason` is one line that its customer reads.
 */
export async function freezeServer(service: Service, shownId: string, reason: string): Promise<boolean> {
  const line = requireLine('reason', reason);
  return await changeControls(service, shownId, 'server.freeze', (controls, now) => {
    if (controls.freeze_reason === line) return null;
    return { ...controls, frozen_at: controls.frozen_at ?? now, freeze_reason: line };
  });
}

const NOT_RUN_YET =
  'the server has not run yet, so there is no disk to preserve: place the hold after its install';

/**
 * Places a legal hold: the server and its disk are preserved (lock-server.ts). The server keeps running.
 * Returns false if this order already holds it. `order` names it in one line, which the customer sees.
 */
export async function placeLegalHold(service: Service, shownId: string, order: string): Promise<boolean> {
  const line = requireLine('order', order);
  return await changeControls(service, shownId, 'server.hold', (controls, now, server) => {
    // A server that cannot be provisioned is removed, and it has no disk.
    if (server.first_run_at === null) throw new OperatorError(NOT_RUN_YET);
    if (controls.hold_order === line) return null;
    return { ...controls, held_at: controls.held_at ?? now, hold_order: line };
  });
}

/** The controls to lift; if neither is set, the one in force. */
export interface ReleaseScope {
  readonly freeze: boolean;
  readonly hold: boolean;
}

/**
 * Releases a server by its public id; false if there is nothing to lift. A frozen server that is paid for
 * returns to its previous state. Otherwise its next cycle is charged, or it stays suspended until its
 * customer pays. Refuses to guess between a freeze and a legal hold.
 */
export async function releaseServer(
  service: Service,
  shownId: string,
  scope: ReleaseScope,
): Promise<boolean> {
  return await changeControls(service, shownId, 'server.release', (controls) => {
    const frozen = controls.frozen_at !== null;
    const held = controls.held_at !== null;
    const { freeze, hold } = scope.freeze || scope.hold ? scope : inferScope(frozen, held);
    if (!(freeze && frozen) && !(hold && held)) return null;
    return { ...controls, ...(freeze ? UNFROZEN : {}), ...(hold ? NO_LEGAL_HOLD : {}) };
  });
}

const UNFROZEN = { frozen_at: null, freeze_reason: null } as const satisfies Partial<ServerControls>;
const NO_LEGAL_HOLD = { held_at: null, hold_order: null } as const satisfies Partial<ServerControls>;

function inferScope(frozen: boolean, held: boolean): ReleaseScope {
  if (frozen && held)
    throw new OperatorError('the server is frozen and under a legal hold: pass --freeze, --hold or both');
  return { freeze: frozen, hold: held };
}

/**
 * Allows a server to reach other mail servers, which is blocked until then to keep spammers away. Takes a
 * public id; returns false if nothing changed.
 */
export async function setOutboundMail(service: Service, shownId: string, allowed: boolean): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    if (!hasDriver(service, server)) {
      throw new OperatorError('the machine was set up by hand: allow or block its mail in your own network');
    }
    if (!(await setMailAllowed(tx, id, allowed))) return false;
    const now = service.clock.now();
    const action = allowed ? 'server.allow_mail' : 'server.block_mail';
    await recordAudit(
      tx,
      { actor: systemActor(now), action, resource: shownId, customerId: server.customer_id },
      now,
    );
    await enqueueTask(tx, { kind: 'traffic', subject: id, now });
    return true;
  });
  if (changed) service.wake();
  return changed;
}

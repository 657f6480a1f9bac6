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
import { hasDriver } from '../hardware.ts';
import { auditServer } from '../transition.ts';
import { applyFreeze } from './apply-freeze.ts';
import { requireServerId, throwServerNotFound } from './find.ts';

/**
 * Freezes a server: powers off its machine and leaves its customer only viewing and destroying it. Returns
 * false if it is already frozen for this reason. `reason` is one line that its customer reads.
 */
export async function freezeServer(
  service: Service,
  shownId: string,
  reason: string,
  { also, keepsReason = false }: FreezeOptions = {},
): Promise<boolean> {
  const line = requireLine('reason', reason);
  const change = { action: 'server.freeze', also } as const;
  return await changeControls(service, shownId, change, (controls, now) => {
    if (controls.freeze_reason === line || (keepsReason && controls.frozen_at !== null)) return null;
    return { ...controls, frozen_at: controls.frozen_at ?? now, freeze_reason: line };
  });
}

interface FreezeOptions {
  /** Runs in the same commit, under the server's lock. False: the server is not frozen. */
  readonly also?: ((tx: Sql, now: Date) => Promise<boolean>) | undefined;
  /** A frozen server keeps the reason that it has. */
  readonly keepsReason?: boolean;
}

/**
 * Places a legal hold: the server and its disk are preserved (lock-server.ts). The server keeps running.
 * Returns false if this order already holds it. `order` names it in one line, which the customer sees.
 */
export async function placeLegalHold(service: Service, shownId: string, order: string): Promise<boolean> {
  const line = requireLine('order', order);
  return await changeControls(service, shownId, { action: 'server.hold' }, (controls, now, server) => {
    // A server that cannot be provisioned is removed, and it has no disk.
    if (server.first_run_at === null)
      throw new OperatorError(
        'the server has not run yet, so there is no disk to preserve: place the hold after its install',
      );
    if (controls.hold_order === line) return null;
    return { ...controls, held_at: controls.held_at ?? now, hold_order: line };
  });
}

/** The controls to lift; if neither is set, the one in force. */
interface ReleaseScope {
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
  return await changeControls(service, shownId, { action: 'server.release' }, (controls) => {
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
  const action = allowed ? 'server.allow_mail' : 'server.block_mail';
  return await changeServer(service, shownId, action, async (tx, server, now) => {
    if (!hasDriver(service, server)) {
      throw new OperatorError('the machine was set up by hand: allow or block its mail in your own network');
    }
    if (!(await setMailAllowed(tx, server.id, allowed))) return false;
    await enqueueTask(tx, { kind: 'traffic', subject: server.id, now });
    return true;
  });
}

/** Stores and applies new controls. `decide` returns null if they already apply. */
async function changeControls(
  service: Service,
  shownId: string,
  { action, also }: { readonly action: Action } & Pick<FreezeOptions, 'also'>,
  decide: (current: ServerControls, now: Date, server: ServerRow) => ServerControls | null,
): Promise<boolean> {
  return await changeServer(service, shownId, action, async (tx, server, now) => {
    const { id, suspended_reason: reason, paid_until: paidUntil } = server;
    if (also && !(await also(tx, now))) return false;
    const previous = (await findServerControls(tx, id)) ?? throwServerNotFound();
    const next = decide(previous, now, server);
    if (next === null) return false;
    await setServerControls(tx, id, next);
    if (reason !== null && previous.held_at !== null && next.held_at === null) {
      // During the hold the customer received no deletion date: restart the grace period and its warnings.
      const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
      await restartSuspension(tx, { id, reason, destroyAt, now });
    }
    await applyFreeze(tx, service, id, now);
    return true;
  });
}

/** Makes and audits a change in one commit. `change` returns false if there is nothing to change. */
async function changeServer(
  service: Service,
  shownId: string,
  action: Action,
  change: (tx: Sql, server: ServerRow, now: Date) => Promise<boolean>,
): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    const now = service.clock.now();
    if (!(await change(tx, server, now))) return false;
    await auditServer(tx, server, action, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}

/** The operator's view and control of the work that is under way on servers. */

import { fail } from '../../../kernel/fail.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { WORK_LIMITS } from '../../../spec/staff/work.ts';
import { newLeaseId } from '../../../store/leases.ts';
import type { OperationKind, OperationRow, OperationStep } from '../../../store/servers/operations.ts';
import {
  claimOperationOf,
  listUnderWay,
  makeOperationDue,
  type UnderWayRow,
} from '../../../store/servers/under-way.ts';
import type { Service } from '../../context.ts';
import { failOperation } from '../operations/complete.ts';
import { advance } from '../operations/step.ts';
import { requireServerId } from './find.ts';

const STUCK_AFTER_MS = WORK_LIMITS.stuckMinutes * MINUTE_MS;
const LEASE_S = 30;
const GIVEN_UP = 'given up by the operator';

export interface UnderWayQuery {
  /** `failing`: its current step failed. `stuck`: it runs for more than 30 minutes. */
  readonly state?: 'failing' | 'stuck';
  readonly kind?: OperationKind;
  /** The name of a host or machine. */
  readonly host?: string;
  /** `srv_…`: only those of older servers. */
  readonly before?: string;
  readonly limit: number;
}

export async function listOperations(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { state, before, limit, ...query }: UnderWayQuery,
): Promise<{ readonly operations: readonly UnderWayRow[]; readonly hasMore: boolean }> {
  const filter = {
    ...query,
    ...(state === 'failing' && { attempts: 1 }),
    ...(state === 'stuck' && { since: new Date(clock.now().getTime() - STUCK_AFTER_MS) }),
    ...(before !== undefined && { beforeServerId: requireServerId(before) }),
  };
  const rows = await listUnderWay(db, filter, limit + 1);
  return { operations: rows.slice(0, limit), hasMore: rows.length > limit };
}

export function isStuck({ kind, created_at: begunAt }: UnderWayRow, now: Date): boolean {
  return kind !== 'move' && now.getTime() - begunAt.getTime() > STUCK_AFTER_MS;
}

export async function requireUnderWay({ db }: Pick<Service, 'db'>, shownId: string): Promise<UnderWayRow> {
  const [row] = await listUnderWay(db, { serverId: requireServerId(shownId) }, 1);
  return row ?? fail('not_found', {}, 'No work is under way on this server.');
}

/** Tries the current step now instead of after its backoff. */
export async function retryOperation(service: Service, shownId: string): Promise<void> {
  const { server_id: id } = await requireUnderWay(service, shownId);
  await makeOperationDue(service.db, id, service.clock.now());
  service.wake();
}

/** The step in which an operation goes back when its attempts are exhausted. */
const WAYS_BACK: Partial<Record<OperationKind, Partial<Record<OperationStep, OperationStep>>>> = {
  provision: { ensure: 'give_up', observe: 'give_up', leave_host: 'give_up' },
  rebuild: { reinstall: 'go_back', wait_installed: 'go_back' },
  restore: { reinstall: 'go_back', wait_installed: 'go_back' },
  move: { copy: 'keep' },
  resize: {
    ...{ shut_down: 'undo_resize', wait_off: 'undo_resize', resize: 'undo_resize', wait_on: 'undo_resize' },
    copy: 'keep',
  },
  insert_iso: { change_iso: 'empty_drive' },
  eject_iso: { change_iso: 'empty_drive' },
  set_boot: { change_iso: 'empty_drive' },
};

/** Kinds that change nothing to go back from. */
const POWER_KINDS: readonly OperationKind[] = ['stop', 'start', 'reboot', 'rescue'];

/**
 * Ends the operation as its exhausted attempts would: a first install is refunded and its server deleted, a
 * rebuild or resize goes back, and a power action ends with an error. Refuses others, and while a worker has
 * it.
 */
export async function giveUpOperation(service: Service, shownId: string): Promise<void> {
  const { server_id: serverId } = await requireUnderWay(service, shownId);
  const claim = { serverId, leaseId: newLeaseId(), leaseS: LEASE_S };
  const operation = await claimOperationOf(service.db, claim);
  if (operation === undefined)
    fail('conflict_state', {}, 'A worker is busy with the current step. Try again in a moment.');
  await endClaimed(service, operation);
  service.wake();
}

async function endClaimed(service: Service, operation: OperationRow): Promise<void> {
  const { kind, step } = operation;
  const cause = operation.cause ?? 'host_failed';
  if (POWER_KINDS.includes(kind)) return await failOperation(service, operation, GIVEN_UP, cause);
  const back = WAYS_BACK[kind]?.[step];
  if (back === undefined) {
    await advance(service, operation, { attempts: operation.attempts });
    throw new OperatorError(`a ${kind} cannot be given up at step ${step}`);
  }
  await advance(service, operation, { step: back, fault: operation.last_fault ?? GIVEN_UP, cause });
}

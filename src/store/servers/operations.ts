/** Operations on servers: the work queue. A finished operation is deleted. */
import type { Sql } from '../../kernel/sql.ts';
import type { ActionErrorCode, ActionPosition } from '../../spec/action-commands.ts';
import { SET_POSITION } from '../actions.ts';
import { assignmentsFor } from '../parameters.ts';

export type OperationKind =
  | 'provision'
  | 'destroy'
  | 'stop'
  | 'start'
  | 'reboot'
  | 'rescue'
  | 'rebuild'
  | 'restore'
  /** Powers off the machine of a suspended server. */
  | 'suspend'
  /** To another host, with its disk and volumes. Its status stays. */
  | 'move'
  | 'resize'
  | 'insert_iso'
  | 'eject_iso'
  /** Changes the boot order. */
  | 'set_boot';

export type OperationStep =
  | 'ensure'
  | 'observe'
  | 'leave_host'
  | 'give_up'
  | 'remove'
  | 'shut_down'
  | 'wait_off'
  | 'reset'
  | 'enter_rescue'
  | 'wait_on'
  | 'reinstall'
  | 'wait_installed'
  | 'go_back'
  | 'place'
  | 'replace'
  | 'wait_replaced'
  | 'copy'
  | 'take_over'
  | 'keep'
  | 'resize'
  | 'undo_resize'
  | 'change_iso'
  | 'empty_drive';

export interface OperationRow {
  readonly id: string;
  readonly server_id: string;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  /** Consecutive failures of this step. */
  readonly attempts: number;
  readonly tried_hosts: string[];
  /**
   * When the time limit of the current step began: the host taken, the shutdown requested, the install
   * started.
   */
  readonly placed_at: Date;
  /** Why the last attempt failed, for the operator. */
  readonly last_fault: string | null;
  /** The code with which its action ends if the operation fails. */
  readonly cause: ActionErrorCode | null;
  /** The action that ends with it. Null: a previous version started it. */
  readonly action_id: string | null;
  readonly payload_sealed: string | null;
  readonly snapshot_id: string | null;
  readonly due_at: Date;
  readonly lease_id: string;
  /** The server's host or machine at the time of the claim. */
  readonly host: string | null;
  /** The server's disk at the time of the claim. A rebuild or restore creates the next one. */
  readonly generation: number;
  /** The server was created stopped, and its system has never booted. */
  readonly never_started: boolean;
  readonly created_at: Date;
}

/** Leases due operations, most overdue first. The lease expires on the database's clock. */
export async function claimOperations(
  tx: Sql,
  claim: { leaseId: string; now: Date; leaseS: number; limit: number },
): Promise<OperationRow[]> {
  return await tx.rows<OperationRow>(
    `with due as (
       select id, server_id from operations
        where due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())
        order by due_at limit $2 for update skip locked)
     update operations o set lease_id = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
       from due
       join servers s on s.id = due.server_id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where o.id = due.id
     returning o.id, o.server_id, o.kind, o.step, o.attempts, o.tried_hosts, o.placed_at, o.last_fault,
               o.cause, o.action_id, o.payload_sealed, o.snapshot_id, o.due_at, o.lease_id,
               coalesce(h.name, m.name) as host, s.generation, s.never_started, o.created_at`,
    [claim.now, claim.limit, claim.leaseId, claim.leaseS],
  );
}

/** Starts an operation, due now. The caller holds the server's lock and found no other operation. */
export async function insertOperation(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'server_id' | 'kind' | 'step' | 'action_id'> &
    Partial<Pick<OperationRow, 'payload_sealed' | 'snapshot_id' | 'placed_at'>> & { readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into operations (id, server_id, kind, step, action_id, payload_sealed, snapshot_id, placed_at,
                             due_at, created_at)
     values ($id, $server_id, $kind, $step, $action_id, $payload_sealed, $snapshot_id, $placed_at, $now,
             $now)`,
    { payload_sealed: null, snapshot_id: null, placed_at: operation.now, ...operation },
  );
}

/**
 * Starts an operation that replaces the current one. The caller holds the server's lock. The previous
 * leaseholder no longer finds its operation's id, so none of its results are written. Its lease stays: the
 * new one starts only after its driver call ended or its process died.
 */
export async function replaceOperation(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'server_id' | 'kind' | 'step' | 'action_id' | 'payload_sealed'> & {
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into operations (id, server_id, kind, step, action_id, payload_sealed, placed_at, due_at,
                             created_at)
     values ($id, $server_id, $kind, $step, $action_id, $payload_sealed, $now, $now, $now)
     on conflict (server_id) do update
       set id = excluded.id, kind = excluded.kind, step = excluded.step, attempts = 0, tried_hosts = '{}',
           placed_at = excluded.placed_at, last_fault = null, cause = null, action_id = excluded.action_id,
           payload_sealed = excluded.payload_sealed, due_at = excluded.due_at,
           created_at = excluded.created_at,
           -- A first install that continues elsewhere is still from its snapshot.
           snapshot_id = case when excluded.kind = 'provision' then operations.snapshot_id end`,
    operation,
  );
}

/** Returns the operation of a server. The caller holds the server's lock. */
export async function findServerOperation(
  tx: Sql,
  serverId: string,
): Promise<Pick<OperationRow, 'id' | 'kind' | 'step' | 'action_id' | 'payload_sealed'> | undefined> {
  return await tx.row(
    'select id, kind, step, action_id, payload_sealed from operations where server_id = $1',
    [serverId],
  );
}

/** Deletes an operation, also while it is leased. The caller holds the lock of its server. */
export async function deleteOperation(tx: Sql, id: string): Promise<void> {
  await tx.run('delete from operations where id = $1', [id]);
}

/** Whether the lease is still valid: checked right before an irreversible action. */
export async function holdsOperationLease(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'lease_id'>,
): Promise<boolean> {
  const found = await tx.row(
    `select from operations where id = $1 and lease_id = $2 and leased_until > clock_timestamp()`,
    [operation.id, operation.lease_id],
  );
  return found !== undefined;
}

/** Releases the lease of one server, whose operation may have been replaced meanwhile. */
export async function releaseServerLease(
  tx: Sql,
  lease: Pick<OperationRow, 'server_id' | 'lease_id'>,
): Promise<void> {
  await tx.run(
    `update operations set lease_id = null, leased_until = null where server_id = $1 and lease_id = $2`,
    [lease.server_id, lease.lease_id],
  );
}

const ADVANCE = `update operations
  set ${assignmentsFor('kind, step, attempts, tried_hosts, placed_at, last_fault, cause, action_id, due_at')},
      lease_id = null, leased_until = null
  where id = $id and lease_id = $lease_id`;

/** Does so together with the action, unless that is there already. */
const ADVANCE_BOTH = `with advanced as (${ADVANCE} returning action_id),
  shown as (
    update actions set ${SET_POSITION} from advanced
     where id = advanced.action_id and status = 'running' and cardinality(step_times) <> $begun)
  select from advanced`;

/**
 * Updates an operation and releases it, and moves its action to `position`, if any. Returns false when the
 * lease was lost, and with it the right to write.
 */
export async function advanceOperation(
  tx: Sql,
  operation: Omit<
    OperationRow,
    'server_id' | 'host' | 'generation' | 'never_started' | 'payload_sealed' | 'snapshot_id' | 'created_at'
  >,
  position: (ActionPosition & { readonly at: Date }) | null = null,
): Promise<boolean> {
  if (position === null) return (await tx.run(ADVANCE, operation)) === 1;
  return (await tx.row(ADVANCE_BOTH, { ...operation, ...position })) !== undefined;
}

export async function finishOperation(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'lease_id'>,
): Promise<boolean> {
  return (await tx.run(`delete from operations where id = $id and lease_id = $lease_id`, operation)) === 1;
}

/** Whether the server has an operation. The caller holds the server's lock. */
export async function hasOperation(tx: Sql, serverId: string): Promise<boolean> {
  return (await tx.row(`select from operations where server_id = $1`, [serverId])) !== undefined;
}

/**
 * Whether an operation is leased or due by `soon`, or checks a machine again within a minute. An operation
 * that has waited long for a host is scheduled, not in progress.
 */
export async function hasPendingOperations(tx: Sql, soon: Date): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    `select exists (select from operations where due_at <= $1 or leased_until > clock_timestamp()
                       or (due_at <= $1 + interval '1 minute'
                           and (step in ('observe', 'copy')
                                or step in ('wait_off', 'wait_on', 'wait_installed', 'wait_replaced',
                                            'go_back')
                                   and attempts < 6))
              ) as found`,
    [soon],
  );
  return row?.found ?? false;
}

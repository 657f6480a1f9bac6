/**
 * Approval by two: an owner lists operations, and an act of one waits until another person approves it. The
 * rules guard themselves: changing them, or who has access, waits as well. A command on the machine does not.
 */
import { Failure, fail } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339, HOUR_MS } from '../../kernel/time.ts';
import { mayPerform, type StaffOperation } from '../../spec/staff/operations.ts';
import { type ApprovalState, STAFF_LIMITS } from '../../spec/staff/roles.ts';
import { findStaffIdentity } from '../../store/staff/access.ts';
import {
  completeApproval,
  countOpenApprovals,
  decideApproval,
  findApproval,
  insertApproval,
  listApprovals as listRows,
  type NamedApprovalRow,
} from '../../store/staff/approvals.ts';
import type { Service } from '../context.ts';
import { decideInput, type HeldInput, openInput, storeInput, useGrant } from './approval-inputs.ts';
import type { StaffAct, StaffActor } from './context.ts';
import { mustWait, type WaitingAct } from './must-wait.ts';
import { refuseRole } from './perform.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock' | 'log'>;
type ReadDeps = Pick<Deps, 'db' | 'keys' | 'clock'>;

/** Their answer is for the person who asked, who performs them once after the approval, with equal input. */
const PERFORMED_BY_REQUESTER: readonly StaffOperation[] = [
  'customers.view',
  'customers.export',
  'servers.rescue',
  'servers.open_console',
  'hosts.invite',
  'staff.invite',
];

const DECIDED = 'This request was decided, or has expired.';

export interface ApprovalView {
  readonly object: 'approval';
  readonly id: string;
  readonly operation: string;
  readonly target: string | null;
  /** Null: the input was forgotten. */
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly reason: string | null;
  readonly requested_by: string;
  readonly state: ApprovalState | 'expired';
  readonly fault: string | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** An approved act, to be carried out as its requester. */
export interface ApprovedAct extends HeldInput {
  readonly actor: StaffActor;
  readonly act: StaffAct;
}

export type CarryOut = (approved: ApprovedAct) => Promise<object | undefined>;

/** Stores the act for a second person if a rule says so. Returns null if the person may act now. */
export async function holdForApproval(
  service: Deps,
  actor: StaffActor,
  act: StaffAct,
  input: Pick<ApprovedAct, 'body'> & {
    /** With the id of the target in place of another name. Null: there is no such resource. */
    readonly params: ApprovedAct['params'] | null;
  } & Pick<WaitingAct, 'amount' | 'entryId'>,
): Promise<ApprovalView | null> {
  const { amount, entryId } = input;
  const { operation: asked, target: about } = act;
  const waiting = { operation: asked, target: about, staffId: actor.staffId, amount, entryId };
  if (!(await mustWait(service.db, { ...waiting, now: service.clock.now() }))) return null;
  const { params } = input;
  if (params === null) fail('not_found', {}, 'There is no such resource.');
  if (PERFORMED_BY_REQUESTER.includes(act.operation)) {
    const { operation, target } = act;
    const { body } = input;
    const grant = { staffId: actor.staffId, operation, target, body, now: service.clock.now() };
    if (await useGrant(service, grant)) return null;
  }
  if ((await countOpenApprovals(service.db, actor.staffId)) >= STAFF_LIMITS.approvalsMax) {
    fail('limit_reached', {}, 'Too many of your requests wait for approval. Withdraw some of them first.');
  }
  const now = service.clock.now();
  const id = newId(now);
  const endsAt = new Date(now.getTime() + STAFF_LIMITS.approvalHours * HOUR_MS);
  await service.db.transaction(async (tx) => {
    await insertApproval(tx, {
      id,
      staff_id: actor.staffId,
      operation: act.operation,
      target: act.target,
      reason: act.reason?.trim() ?? null,
      created_at: now,
      expires_at: endsAt,
    });
    await storeInput(tx, service, { id, endsAt, input: { params, body: input.body } });
  });
  return await readApproval(service, formatId('approval', id));
}

/** Newest first, and whether there are more. */
export async function listApprovals(
  service: ReadDeps,
  query: { readonly state?: ApprovalState; readonly before?: string; readonly limit: number },
): Promise<{ readonly approvals: ApprovalView[]; readonly hasMore: boolean }> {
  const { state = null, before, limit } = query;
  const beforeId = before === undefined ? null : parseId('approval', before);
  if (beforeId === undefined) return { approvals: [], hasMore: false };
  const rows = await listRows(service.db, { state, beforeId, limit: limit + 1 });
  return { approvals: rows.slice(0, limit).map((row) => toView(service, row)), hasMore: rows.length > limit };
}

/** Fails with `not_found`. */
export async function readApproval(service: ReadDeps, name: string): Promise<ApprovalView> {
  return toView(service, await requireRow(service.db, name));
}

async function requireRow(db: Sql, name: string): Promise<NamedApprovalRow> {
  const id = parseId('approval', name);
  return (id && (await findApproval(db, id))) || fail('not_found', {}, 'No approval has this id.');
}

function toView(service: Omit<ReadDeps, 'db'>, row: NamedApprovalRow): ApprovalView {
  const now = service.clock.now();
  const input = openInput(service, row);
  return {
    object: 'approval',
    id: formatId('approval', row.id),
    operation: row.operation,
    target: row.target,
    details: input && withoutReason(input.body),
    reason: row.reason,
    requested_by: row.email,
    state: isPending(row) && row.expires_at <= now ? 'expired' : row.state,
    fault: row.fault,
    decided_by: row.decided_email,
    decided_at: row.decided_at && formatRfc3339(row.decided_at),
    created_at: formatRfc3339(row.created_at),
    expires_at: formatRfc3339(row.expires_at),
  };
}

function withoutReason({ reason: _, ...rest }: HeldInput['body']): HeldInput['body'] {
  return rest;
}

function isPending({ state }: NamedApprovalRow): boolean {
  return state === 'open' || state === 'approved';
}

/**
 * Approves an act, and carries it out as the person who asked for it, or lets that person perform it once.
 * `approver` null: a command on the machine.
 * Fails with `forbidden_scope`, `conflict_state`, or like the act.
 */
export async function approve(
  service: Deps,
  name: string,
  approver: StaffActor | null,
  carryOut: CarryOut,
): Promise<ApprovalView> {
  const row = await requireRow(service.db, name);
  const operation = row.operation as StaffOperation;
  if (approver?.staffId === row.staff_id) {
    fail('forbidden_scope', {}, 'Another person must approve your request.');
  }
  if (approver && !mayPerform(approver.role, operation)) refuseRole(operation, approver.role);
  const actor = await requireRequester(service.db, row);
  const input = openInput(service, row) ?? fail('conflict_state', {}, DECIDED);
  await decide(service, row, 'approved', approver);
  if (PERFORMED_BY_REQUESTER.includes(operation)) return await readApproval(service, name);
  const { target, reason } = row;
  const approved: ApprovedAct = {
    actor: { ...actor, surface: approver?.surface ?? 'command', requestId: approver?.requestId ?? '' },
    act: {
      operation,
      target,
      reason: reason ?? undefined,
      details: {
        ...withoutReason(input.body),
        approved_by: approver ? formatId('staff', approver.staffId) : 'command',
      },
      submission: null,
    },
    ...input,
  };
  await finish(service, row.id, () => carryOut(approved));
  return await readApproval(service, name);
}

/** The act runs with the role that the person has now. */
async function requireRequester(db: Sql, { staff_id: id, operation }: NamedApprovalRow) {
  const found = await findStaffIdentity(db, id);
  if (!found) fail('conflict_state', {}, 'The person who asked no longer has access.');
  if (!mayPerform(found.role, operation as StaffOperation))
    refuseRole(operation as StaffOperation, found.role);
  const { staff_id: staffId, email, name, role } = found;
  return { staffId, email, name, role, sessionId: null, tokenId: null };
}

async function finish(service: Deps, id: string, verb: () => Promise<unknown>): Promise<void> {
  try {
    await verb();
  } catch (error) {
    const isRefused = error instanceof Failure || error instanceof OperatorError;
    const fault = isRefused ? error.message : 'internal';
    await completeApproval(service.db, { id, state: 'failed', fault });
    throw error;
  }
  await completeApproval(service.db, { id, state: 'done', fault: null });
}

/** Refuses a request, or withdraws one's own. Fails with `forbidden_scope`, `conflict_state`. */
export async function refuseApproval(
  service: Deps,
  name: string,
  actor: StaffActor | null,
): Promise<ApprovalView> {
  const row = await requireRow(service.db, name);
  const operation = row.operation as StaffOperation;
  const isOwn = actor?.staffId === row.staff_id;
  if (actor && !isOwn && !mayPerform(actor.role, operation)) refuseRole(operation, actor.role);
  await decide(service, row, isOwn ? 'withdrawn' : 'refused', actor);
  return await readApproval(service, name);
}

async function decide(
  { db, clock }: Deps,
  { id }: NamedApprovalRow,
  state: 'approved' | 'refused' | 'withdrawn',
  actor: StaffActor | null,
): Promise<void> {
  const now = clock.now();
  const isOpen = await db.transaction(async (tx) => {
    const decidedBy = actor?.staffId ?? null;
    if (!(await decideApproval(tx, { id, state, decidedBy, now }))) return false;
    await decideInput(tx, id, now);
    return true;
  });
  if (!isOpen) fail('conflict_state', {}, DECIDED);
}

/**
 * Performs an act of staff: checks the role and the reason, and keeps the staff log. An entry is written
 * before the act begins, so that no act is without one, also after a crash.
 */
import { Failure, fail, invalidRequest } from '../../kernel/fail.ts';
import { formatId, newId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import {
  mayPerform,
  STAFF_OPERATIONS,
  type StaffAccountAct,
  type StaffOperation,
} from '../../spec/staff/operations.ts';
import { ROLE_NAMES, STAFF_LIMITS, type StaffRole } from '../../spec/staff/roles.ts';
import { completeStaffLog, insertStaffLog, type NewStaffLogEntry } from '../../store/staff/log.ts';
import type { Service } from '../context.ts';
import type { StaffAct, StaffActor } from './context.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'log'>;

/**
 * Runs `verb`. Fails with `forbidden_scope` for another role, `invalid_request` without a reason,
 * and `conflict_state` for a request that was made before. Reads are not logged.
 */
export async function performAct<Result>(
  service: Deps,
  actor: StaffActor,
  act: StaffAct,
  verb: () => Promise<Result>,
  /** Returns what to answer if the act must wait for another person. */
  hold?: (entryId: string) => Promise<Result | null>,
): Promise<Result> {
  const { changes, needsReason } = STAFF_OPERATIONS[act.operation];
  if (!mayPerform(actor.role, act.operation)) {
    if (changes) await insertStaffLog(service.db, logEntry(service, actor, act, 'denied'));
    refuseRole(act.operation, actor.role);
  }
  if (!changes) return await translate(verb);
  if (needsReason) requireReason(act.reason);
  const entry = logEntry(service, actor, act, 'started');
  if (!(await insertStaffLog(service.db, entry))) refuseRepeated();
  const held =
    hold && (await complete(service, entry.id, () => translate(() => hold(entry.id)), 'requested'));
  return held ?? (await complete(service, entry.id, () => translate(verb)));
}

/** Records what a person changed about their own account. */
export async function recordOwnAct<Result>(
  service: Deps,
  actor: StaffActor,
  operation: StaffAccountAct,
  verb: () => Promise<Result>,
): Promise<Result> {
  const now = service.clock.now();
  const id = newId(now);
  const target = formatId('staff', actor.staffId);
  const about = { id, staffId: actor.staffId, surface: actor.surface, operation, target, now };
  const none = { reason: null, details: null, submission: null };
  await insertStaffLog(service.db, { ...about, ...none, result: 'started', requestId: actor.requestId });
  return await complete(service, id, verb);
}

/** Records a command on the machine, where no one signs in. */
export async function recordCommand<Result>(
  service: Deps,
  { operation, target, reason = null }: Pick<StaffAct, 'operation' | 'target'> & { reason?: string | null },
  verb: () => Promise<Result>,
): Promise<Result> {
  const now = service.clock.now();
  const id = newId(now);
  const requestId = formatId('request', newId(now));
  const entry = { id, operation, target, reason, details: null, requestId, now } as const;
  const rest = { staffId: null, surface: 'command', submission: null, result: 'started' } as const;
  await insertStaffLog(service.db, { ...entry, ...rest });
  return await complete(service, id, verb);
}

/** Runs the act, and completes its entry. Failing to complete it does not undo the act. */
async function complete<Result>(
  service: Deps,
  id: string,
  verb: () => Promise<Result>,
  done: 'ok' | 'requested' = 'ok',
): Promise<Result> {
  const [outcome] = await Promise.allSettled([verb()]);
  const error: unknown = outcome.status === 'rejected' ? outcome.reason : null;
  const isRefused = error instanceof Failure || error instanceof OperatorError;
  const code = error instanceof Failure ? error.code : isRefused ? 'bad_request' : 'internal';
  const isNothing = outcome.status === 'fulfilled' && done === 'requested' && outcome.value === null;
  if (isNothing) return outcome.value;
  const result = outcome.status === 'fulfilled' ? done : 'error';
  const entry = { id, result, fault: result === 'error' ? code : null, mayRepeat: isRefused } as const;
  await completeStaffLog(service.db, entry).catch((failed: unknown) =>
    service.log.error({ err: failed, entry: formatId('staffLog', id) }, 'staff log entry not completed'),
  );
  if (outcome.status === 'rejected') throw error;
  return outcome.value;
}

function logEntry(
  { clock }: Pick<Deps, 'clock'>,
  actor: StaffActor,
  act: StaffAct,
  result: NewStaffLogEntry['result'],
): NewStaffLogEntry {
  const now = clock.now();
  return {
    id: newId(now),
    staffId: actor.staffId,
    surface: actor.surface,
    operation: act.operation,
    target: act.target,
    reason: act.reason?.trim().slice(0, STAFF_LIMITS.reasonMaxChars) || null,
    details: detailsOf(act),
    // A refused request may be sent again.
    submission: result === 'denied' ? null : act.submission,
    result,
    requestId: actor.requestId,
    now,
  };
}

const DETAILS_MAX_CHARS = 2_000;

/** Input of any length may be refused later. */
function detailsOf({ details }: StaffAct): object | null {
  const isKept = Object.keys(details).length > 0 && JSON.stringify(details).length <= DETAILS_MAX_CHARS;
  return isKept ? details : null;
}

/** Fails with `forbidden_scope`, and names the roles that may. */
export function refuseRole(operation: StaffOperation, role: StaffRole): never {
  const { roles, summary } = STAFF_OPERATIONS[operation];
  const names = roles.map((each) => ROLE_NAMES[each]).join(', ');
  fail('forbidden_scope', {}, `${summary}: your role is ${ROLE_NAMES[role]}. Required: ${names}.`);
}

function requireReason(reason: string | undefined): void {
  const text = reason?.trim() ?? '';
  if (text === '')
    invalidRequest([{ field: 'reason', issue: 'required' }], 'Give a reason for the staff log.');
  if (/\p{C}/u.test(text)) {
    invalidRequest([{ field: 'reason', issue: 'invalid_format' }], 'Enter the reason on one line.');
  }
  const max = STAFF_LIMITS.reasonMaxChars;
  if ([...text].length > max) invalidRequest([{ field: 'reason', issue: 'max_length', max }]);
}

function refuseRepeated(): never {
  const message = 'This request was already made. See the staff log for its result.';
  fail('conflict_state', { repeated: true }, message);
}

/** The verbs of the command line explain a problem in one line. */
async function translate<Result>(verb: () => Promise<Result>): Promise<Result> {
  try {
    return await verb();
  } catch (error) {
    if (error instanceof OperatorError) fail('bad_request', {}, toSentence(error.message));
    throw error;
  }
}

/** `no customer has this email address` → `No customer has this email address.` */
function toSentence(line: string): string {
  // An option of the command is a field here.
  const plain = line.replace(/--([a-z][a-z-]*)/g, (_, name: string) => name.replaceAll('-', ' '));
  const text = `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

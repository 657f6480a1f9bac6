/**
 * Operations that the operator closed: temporarily (maintenance, 503), with a switch (also 503), or by
 * order (policy, 451). Both APIs check this before anything else in a request. A session operation uses the
 * name of its REST counterpart.
 */
import { fail } from '../../kernel/fail.ts';
import { formatRfc3339, SECOND_MS } from '../../kernel/time.ts';
import { isOpenInRecovery, type Operation } from '../../spec/operations.ts';
import { SWITCHES, type SwitchName } from '../../spec/switches.ts';
import {
  type PolicyRow,
  type RulesRow,
  readRules,
  readRulesVersion,
  type WindowRow,
} from '../../store/service/rules.ts';
import type { Service } from '../context.ts';

/** The rules that a process caches until `version` differs from the database's. */
export type Rules = RulesRow;

export interface Maintenance {
  readonly reason: string | null;
  /** The operation is open again at this time. */
  readonly endsAt: Date;
}

/**
 * Returns the open window over an operation, or null. If several are open, returns the last to end. For a
 * path without an operation (null), only a window over all operations counts.
 */
export function findMaintenance(
  rules: Pick<Rules, 'windows'>,
  operation: Operation | null,
  now: Date,
): Maintenance | null {
  const covers = (window: WindowRow) => window.operation === null || window.operation === operation;
  const open = rules.windows.filter(
    (window) => covers(window) && window.starts_at <= now && now < window.ends_at,
  );
  const [last] = open.sort((a, b) => b.ends_at.getTime() - a.ends_at.getTime());
  return last ? { reason: last.reason, endsAt: last.ends_at } : null;
}

export interface PolicyRequest {
  readonly operation: Operation;
  /** The caller's ISO 3166-1 code, `XX` if unknown. */
  readonly country: string;
  /** The REST code of the region in the request; null if it names none. */
  readonly region: string | null;
}

/** Returns the oldest order that blocks a request, or null. */
export function findBlock(
  rules: Pick<Rules, 'policies'>,
  requested: PolicyRequest,
): { order: string } | null {
  const blocks = (policy: PolicyRow) =>
    policy.operation === requested.operation &&
    (policy.country === null || policy.country === requested.country) &&
    (policy.region_id === null || policy.region_id === requested.region);
  const policy = rules.policies.find(blocks);
  return policy ? { order: policy.order_text } : null;
}

/** The reason why an operation is closed, for customers. */
export interface OperationClosure {
  readonly message: string;
  /** When to try again. */
  readonly retryAfterS: number;
}

/** The end of a switch is not known in advance. */
const SWITCH_RETRY_S = 600;

/** Returns why a window, a switch, or a recovery closes the operation; null while it is open. */
export function findClosure(
  rules: Pick<Rules, 'windows' | 'switches' | 'recovering'>,
  operation: Operation | null,
  now: Date,
): OperationClosure | null {
  const window = findMaintenance(rules, operation, now);
  if (window) {
    const until = `${formatRfc3339(window.endsAt)}${parenthesize(window.reason)}`;
    return {
      message: `Closed for maintenance until ${until}. Try again then.`,
      retryAfterS: Math.ceil((window.endsAt.getTime() - now.getTime()) / SECOND_MS),
    };
  }
  if (rules.recovering && operation !== null && !isOpenInRecovery(operation)) {
    const message = 'We are restoring the service from a backup, so nothing can be changed. Try again later.';
    return { message, retryAfterS: SWITCH_RETRY_S };
  }
  const closes = (name: SwitchName): readonly (string | null)[] => SWITCHES[name].blockedOperations;
  const off = rules.switches.find(({ name, on_ }) => !on_ && closes(name).includes(operation));
  if (!off) return null;
  const message = `This is temporarily unavailable${parenthesize(off.reason)}. Try again later.`;
  return { message, retryAfterS: SWITCH_RETRY_S };
}

function parenthesize(reason: string | null): string {
  return reason === null ? '' : ` (${reason})`;
}

/** Fails with `maintenance` {retry_after_s} while the operation is closed. */
export function requireOpen(
  rules: Pick<Rules, 'windows' | 'switches' | 'recovering'>,
  operation: Operation | null,
  now: Date,
): void {
  const closed = findClosure(rules, operation, now);
  if (closed) fail('maintenance', { retry_after_s: closed.retryAfterS }, closed.message);
}

/** Fails with `jurisdictional_block`, naming the order, if a policy blocks the request. */
export function requireAllowed(rules: Pick<Rules, 'policies'>, requested: PolicyRequest): void {
  const block = findBlock(rules, requested);
  if (block) fail('jurisdictional_block', {}, `Refused for legal reasons: ${block.order}`);
}

/** Returns the current rules. */
export async function loadRules(service: Pick<Service, 'db'>): Promise<Rules> {
  return await readRules(service.db);
}

/** Returns the database's version of the rules, in a single read. */
export async function readCurrentRulesVersion(service: Pick<Service, 'db'>): Promise<bigint> {
  return await readRulesVersion(service.db);
}

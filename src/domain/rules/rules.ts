/**
 * What the operator closed: for a time (maintenance, 503), by a switch (503, too) or by order (policy, 451). Both surfaces ask before they
 * look at anything else of a request; a session operation asks under the name of the REST operation that does the same.
 */
import { fail } from '../../kernel/fail.ts';
import { formatRfc3339, SECOND_MS } from '../../kernel/time.ts';
import type { Operation } from '../../spec/operations.ts';
import { SWITCHES, type SwitchName } from '../../spec/switches.ts';
import {
  type PolicyRow,
  type RulesRow,
  readRules,
  readRulesVersion,
  type WindowRow,
} from '../../store/rules.ts';
import type { Service } from '../context.ts';

/** The rules as one process holds them, until `version` differs from the database's. */
export type Rules = RulesRow;

export interface Maintenance {
  readonly reason: string | null;
  /** Whoever comes back then finds it open. */
  readonly endsAt: Date;
}

/**
 * The window that is open over an operation, null when there is none; of several the one that ends last. Of a path that
 * is no operation (null) only a window over everything counts.
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
  /** ISO 3166-1 of the caller, `XX` when unknown. */
  readonly country: string;
  /** The region that the request names, by its REST code; null when it names none. */
  readonly region: string | null;
}

/** The order by which a request is refused, null when it is not; of several the oldest. */
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

/** What keeps an operation closed for now, in words for customers. */
export interface OperationClosure {
  readonly message: string;
  /** When to come back. */
  readonly retryAfterS: number;
}

/** Nobody knows when a switch is turned on again. */
const SWITCH_RETRY_S = 600;

/** Why the operation is closed, by a window or by a switch; null while it is open. */
export function findClosure(
  rules: Pick<Rules, 'windows' | 'switches'>,
  operation: Operation | null,
  now: Date,
): OperationClosure | null {
  const window = findMaintenance(rules, operation, now);
  if (window) {
    const until = `${formatRfc3339(window.endsAt)}${parenthesize(window.reason)}`;
    return {
      message: `Closed for maintenance until ${until}; try again then.`,
      retryAfterS: Math.ceil((window.endsAt.getTime() - now.getTime()) / SECOND_MS),
    };
  }
  const closes = (name: SwitchName): readonly (string | null)[] => SWITCHES[name].blockedOperations;
  const off = rules.switches.find(({ name, on_ }) => !on_ && closes(name).includes(operation));
  if (!off) return null;
  const message = `The operator has closed this for now${parenthesize(off.reason)}; try again later.`;
  return { message, retryAfterS: SWITCH_RETRY_S };
}

function parenthesize(reason: string | null): string {
  return reason === null ? '' : ` (${reason})`;
}

/** Refuses with `maintenance` {retry_after_s} while a window is open over the operation, or a switch closes it. */
export function requireOpen(
  rules: Pick<Rules, 'windows' | 'switches'>,
  operation: Operation | null,
  now: Date,
): void {
  const closed = findClosure(rules, operation, now);
  if (closed) fail('maintenance', { retry_after_s: closed.retryAfterS }, closed.message);
}

/** Refuses with `jurisdictional_block`, naming the order, when a policy forbids the request. */
export function requireAllowed(rules: Pick<Rules, 'policies'>, requested: PolicyRequest): void {
  const block = findBlock(rules, requested);
  if (block) fail('jurisdictional_block', {}, `Refused for legal reasons: ${block.order}`);
}

/** The rules as they are now. */
export async function loadRules(service: Pick<Service, 'db'>): Promise<Rules> {
  return await readRules(service.db);
}

/** Which version of them the database has: a single read, where that is all that is asked. */
export async function readCurrentRulesVersion(service: Pick<Service, 'db'>): Promise<bigint> {
  return await readRulesVersion(service.db);
}

/** Writes the audit row of a rejected change. No other file writes one. */
import type { Actor, Service } from '../domain/context.ts';
import { recordAudit } from '../domain/record.ts';
import { Failure } from '../kernel/fail.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Action } from '../spec/actions.ts';
import { FAILURES, type FailureCode, type V1Error } from '../spec/errors.ts';

/** 401 and 429 are not audited. */
const UNAUDITED_CODES: readonly FailureCode[] = ['auth_required', 'rate_limited'];
const DENIED_ERRORS: readonly V1Error[] = ['forbidden_scope', 'jurisdictional_block'];

export interface FailureAudit {
  readonly actor: Actor;
  /** null: the request changes nothing. */
  readonly action: Action | null;
  readonly error: unknown;
  readonly resource?: string | null;
}

/** Writes the row with `sql`, if this kind of failure is audited. */
export async function writeFailureAudit(
  sql: Sql,
  service: Service,
  failureAudit: FailureAudit,
): Promise<void> {
  const { actor, action, error, resource = null } = failureAudit;
  if (actor.customerId === null || action === null) return;
  const code: FailureCode = error instanceof Failure ? error.code : 'internal';
  if (UNAUDITED_CODES.includes(code)) return;
  const result = DENIED_ERRORS.includes(FAILURES[code].v1) ? 'denied' : 'error';
  await recordAudit(sql, { actor, action, resource, result }, service.clock.now());
}

/**
 * Records the rejection of an authenticated change, outside any transaction because the change was rolled
 * back. If the write fails, the caller still receives the original error.
 */
export async function recordFailureAudit(service: Service, failureAudit: FailureAudit): Promise<void> {
  try {
    await writeFailureAudit(service.db, service, failureAudit);
  } catch (fault) {
    const { requestId } = failureAudit.actor;
    service.log.warn({ err: fault, requestId }, 'auditing a rejected request failed');
  }
}

/** The resource of a rejected request: the last id in its path, if it is an id. */
export function resourceFromParams(params: unknown): string | null {
  const id = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof id === 'string' && /^[a-z]{1,10}_[a-z2-7]{26}$/.test(id) ? id : null;
}

/** Writes the audit row of a refused change. No other file writes one. */
import { recordAudit } from '../../domain/record.ts';
import { Failure } from '../../kernel/fail.ts';
import { runApart } from '../../kernel/faults/deadline.ts';
import { logFault } from '../../kernel/faults/fault-log.ts';
import type { Sql } from '../../kernel/sql.ts';
import { FAILURES, type FailureCode, type V1Error } from '../../spec/errors.ts';
import type { Admission } from './admission.ts';

/** 401 and 429 are not audited. */
const UNAUDITED_CODES: readonly FailureCode[] = ['auth_required', 'rate_limited'];
const AUDIT_TIMEOUT_MS = 1_000;
const DENIED_ERRORS: readonly V1Error[] = ['forbidden_scope', 'jurisdictional_block'];

/** A refused change: a request, or a part of it, such as one server of several. */
type Refused = Pick<Admission, 'edge' | 'caller' | 'action' | 'resource' | 'isRefusalAudited'>;

/** Writes the row with `sql`, if this kind of refusal is audited. */
export async function writeRefusalAudit(sql: Sql, refused: Refused, error: unknown): Promise<void> {
  const { edge, caller: actor, action, resource } = refused;
  if (!actor?.customerId || action === null) return;
  const code: FailureCode = error instanceof Failure ? error.code : 'internal';
  if (UNAUDITED_CODES.includes(code)) return;
  const result = DENIED_ERRORS.includes(FAILURES[code].v1) ? 'denied' : 'error';
  await recordAudit(sql, { actor, action, resource: resource(), result }, edge.service.clock.now());
  refused.isRefusalAudited = true;
}

/**
 * Records the refusal outside any transaction, because the change was rolled back, unless it is already
 * recorded. If the write fails, the caller still receives the original error.
 */
export async function auditRefusal(
  admission: Refused & { readonly request: Pick<Admission['request'], 'id'> },
  error: unknown,
): Promise<void> {
  if (admission.isRefusalAudited) return;
  const { service } = admission.edge;
  try {
    // The request's own time may be over.
    await runApart(AUDIT_TIMEOUT_MS, () => writeRefusalAudit(service.db, admission, error));
  } catch (fault) {
    const line = { err: fault, requestId: admission.request.id };
    logFault(service.log, 'warn', 'auditing a rejected request failed', line);
  }
}

/** The resource of a request: the last id in its path, if it is an id. */
export function resourceFromParams(params: unknown): string | null {
  const id = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof id === 'string' && /^[a-z]{1,10}_[a-z2-7]{26}$/.test(id) ? id : null;
}

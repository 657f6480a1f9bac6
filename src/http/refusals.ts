/** The audit row of a change that was asked for and refused: the one place that writes it. */
import type { Actor, Service } from '../domain/context.ts';
import { recordAudit } from '../domain/record.ts';
import { Failure } from '../kernel/fail.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Action } from '../spec/actions.ts';
import { FAILURES, type FailureCode, type V1Error } from '../spec/errors.ts';

/** 401 and 429 are not audited. */
const UNAUDITED: readonly FailureCode[] = ['auth_required', 'rate_limited'];
const DENIED: readonly V1Error[] = ['forbidden_scope', 'jurisdictional_block'];

export interface Refusal {
  readonly actor: Actor;
  /** null: the request changes nothing. */
  readonly action: Action | null;
  readonly error: unknown;
  readonly resource?: string | null;
}

/** Writes it with `sql`, where it is of a kind that is audited. */
export async function writeRefusal(sql: Sql, service: Service, refusal: Refusal): Promise<void> {
  const { actor, action, error, resource = null } = refusal;
  if (actor.customerId === null || action === null) return;
  const code: FailureCode = error instanceof Failure ? error.code : 'internal';
  if (UNAUDITED.includes(code)) return;
  const result = DENIED.includes(FAILURES[code].v1) ? 'denied' : 'error';
  await recordAudit(sql, { actor, action, resource, result }, service.clock.now());
}

/**
 * Records the refusal of an authenticated change. It has no transaction to stand in: the change was rolled back. When it
 * cannot be written, the caller still hears the refusal.
 */
export async function recordRefusal(service: Service, refusal: Refusal): Promise<void> {
  try {
    await writeRefusal(service.db, service, refusal);
  } catch (fault) {
    const { requestId } = refusal.actor;
    service.log.warn({ err: fault, requestId }, 'a refusal could not be audited');
  }
}

/** What a refused request was about: the last id in its path, when it is one. */
export function resourceIn(params: unknown): string | null {
  const id = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof id === 'string' && /^[a-z]{1,10}_[a-z2-7]{26}$/.test(id) ? id : null;
}

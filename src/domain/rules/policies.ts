/** Policies: legal orders that block an operation for everyone, or for one country or region. */
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { OperatorError, requireLine } from '../../kernel/operator-error.ts';
import { isCountryCode, UNKNOWN_COUNTRY } from '../../spec/countries.ts';
import { type Operation, REGIONAL_OPERATIONS } from '../../spec/operations.ts';
import {
  deletePolicy,
  incrementRulesVersion,
  insertPolicy,
  type PolicyRow,
  readRules,
} from '../../store/service/rules.ts';
import type { Service } from '../context.ts';
import { requireRegion } from '../inventory/names.ts';
import { recordAudit, systemActor } from '../record.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export interface NewPolicy {
  readonly operation: Operation;
  /** The caller's ISO 3166-1 alpha-2 code, `XX` if unknown; null: any country. */
  readonly country: string | null;
  /** The REST code of the region in the request; null: any or none. */
  readonly region: string | null;
  /** Names the order. Shown to blocked customers. */
  readonly order: string;
}

/** Blocks an operation from now on and returns the policy's public id. */
export async function blockByPolicy(service: Deps, wanted: NewPolicy): Promise<string> {
  const order = requireLine('order', wanted.order);
  if (wanted.country !== null && wanted.country !== UNKNOWN_COUNTRY && !isCountryCode(wanted.country)) {
    throw new OperatorError(
      'the country must be an ISO 3166-1 code of two uppercase letters, such as DE, or XX for unknown',
    );
  }
  if (wanted.region !== null && !(REGIONAL_OPERATIONS as readonly string[]).includes(wanted.operation)) {
    throw new OperatorError(
      `--region does not apply to ${wanted.operation}: use it with ${REGIONAL_OPERATIONS.join(' or ')}`,
    );
  }
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    if (wanted.region !== null) await requireRegion(tx, wanted.region);
    const policy: PolicyRow = {
      id: newId(now),
      operation: wanted.operation,
      country: wanted.country,
      region_id: wanted.region,
      order_text: order,
      created_at: now,
    };
    await insertPolicy(tx, policy);
    const resource = formatId('policy', policy.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'policy.block', resource }, now);
    return resource;
  });
}

/** Removes a policy by its public id. */
export async function unblockByPolicy(service: Deps, shownId: string): Promise<void> {
  const id = parseId('policy', shownId);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    if (id === undefined || !(await deletePolicy(tx, id))) {
      throw new OperatorError('policy not found: `skerryd policy list` shows the ids');
    }
    await recordAudit(tx, { actor: systemActor(now), action: 'policy.unblock', resource: shownId }, now);
  });
}

/** Returns the policies in force, oldest first. */
export async function listPolicies(service: Deps): Promise<readonly PolicyRow[]> {
  return (await readRules(service.db)).policies;
}

/** The quotas of a customer: those of the service, and those that the operator set for this account. */
import { invalidRequest } from '../../kernel/fail.ts';
import type { Quotas } from '../../kernel/settings/lists.ts';
import type { Sql } from '../../kernel/sql.ts';
import { OWN_LIMIT_MAX, OWN_LIMITS, type OwnLimitName } from '../../spec/limits.ts';
import { readOwnLimits, writeOwnLimits } from '../../store/customers/own-limits.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './operator.ts';

/** Returns the quotas that apply to the customer. */
export async function readQuotas(
  { settings }: Pick<Service, 'settings'>,
  sql: Sql,
  customerId: string,
): Promise<Quotas> {
  const own = await readOwnLimits(sql, customerId);
  return own === null ? settings.quotas : { ...settings.quotas, ...own };
}

export interface OwnLimit {
  readonly object: 'customer_limit';
  readonly name: OwnLimitName;
  readonly title: string;
  /** Applies to the customer. */
  readonly limit: number;
  /** Of this account only; null: the service's applies. */
  readonly own: number | null;
  readonly service: number;
}

export async function readLimitsForOperator(
  { db, settings }: Pick<Service, 'db' | 'settings'>,
  name: string,
): Promise<readonly OwnLimit[]> {
  const { id } = await requireCustomer(db, name);
  const own = (await readOwnLimits(db, id)) ?? {};
  return OWN_LIMITS.map(({ name: shown, title, quota }) => {
    const service = settings.quotas[quota];
    const mine = own[quota] ?? null;
    return { object: 'customer_limit', name: shown, title, limit: mine ?? service, own: mine, service };
  });
}

/**
 * Replaces all own limits of a customer. Those of the service apply where none is given. A limit below what
 * is in use refuses more and deletes nothing.
 */
export async function setLimitsByOperator(
  service: Pick<Service, 'db' | 'clock'>,
  name: string,
  limits: Readonly<Partial<Record<OwnLimitName, number>>>,
): Promise<void> {
  const own: Record<string, number> = {};
  for (const [shown, value] of Object.entries(limits)) {
    const row = OWN_LIMITS.find((each) => each.name === shown);
    if (!row) invalidRequest([{ field: shown, issue: 'invalid_value' }]);
    if (!Number.isInteger(value) || value < 0 || value > OWN_LIMIT_MAX) {
      invalidRequest([{ field: shown, issue: 'invalid_value', min: 0, max: OWN_LIMIT_MAX }]);
    }
    own[row.quota] = value;
  }
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, name);
    await lockBalance(tx, customerId);
    await writeOwnLimits(tx, customerId, Object.keys(own).length === 0 ? null : own);
    const entry = { actor: systemActor(now), action: 'customer.set_limits', resource: null } as const;
    await recordAudit(tx, { ...entry, customerId }, now);
  });
}

/** A token in the REST shape, and the records of its revocation. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { formatLabelSelector } from '../../spec/label-filters.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import type { TokenRow } from '../../store/customers/tokens.ts';
import type { CustomerActor } from '../context.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { openNetworks } from './limits/active.ts';

interface TokenView {
  readonly now: Date;
  /** Opens the networks. Missing in events, which are stored as they are. */
  readonly keys?: KeyRing;
}

/** Returns a token in the REST shape, without its plaintext. */
export function tokenObject(row: TokenRow, view: TokenView): ApiToken {
  const limits = limitsObject(row, view);
  return {
    id: formatId('token', row.id),
    object: 'api_token',
    name: row.name,
    scope: row.scope,
    last_used_at: row.last_used_at && formatRfc3339(row.last_used_at),
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    created_by_token: row.created_by_token && formatId('token', row.created_by_token),
    limits,
    spent_usd: limits && centsToUsd(spentCents(row, view.now)),
    created_at: formatRfc3339(row.created_at),
  };
}

function limitsObject(row: TokenRow, { keys }: TokenView): ApiToken['limits'] {
  const own = row.limits?.at(-1);
  if (!own) return null;
  const { operations, resources, labels, regions } = own;
  const networks = keys && (openNetworks(keys, row.id, row.ip_cidrs_sealed)?.at(-1) ?? null);
  return {
    ...(networks === undefined ? {} : { ip_cidrs: networks && [...networks] }),
    operations: operations ? [...operations] : null,
    resources: resources ? [...resources] : null,
    label_selector: labels ? formatLabelSelector(labels) : null,
    regions: regions ? [...regions] : null,
    spend_usd: row.spend_limit_cents === null ? null : centsToUsd(row.spend_limit_cents),
    spend_period: row.spend_period,
    max_servers: row.servers_limit,
  };
}

function spentCents({ spend_period, spent_month, spent_cents }: TokenRow, now: Date): bigint {
  const isOver = spend_period === 'month' && spent_month?.slice(0, 7) !== now.toISOString().slice(0, 7);
  return isOver ? 0n : spent_cents;
}

/** Records each revocation in the audit log and as an event. */
export async function recordRevocations(
  tx: Sql,
  actor: CustomerActor,
  revoked: readonly TokenRow[],
  now: Date,
): Promise<void> {
  const { customerId } = actor;
  for (const row of revoked) {
    const token = tokenObject(row, { now });
    await recordAudit(tx, { actor, action: 'token.revoke', resource: token.id }, now);
    await recordEvent(tx, { customerId, type: 'token.revoked', object: token }, now);
  }
}

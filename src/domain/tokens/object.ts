/** A token in the REST shape, and the records of its revocation. */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import type { TokenRow } from '../../store/customers/tokens.ts';
import type { CustomerActor } from '../context.ts';
import { recordAudit, recordEvent } from '../record.ts';

/** Returns a token in the REST shape, without its plaintext. */
export function tokenObject(row: TokenRow): ApiToken {
  return {
    id: formatId('token', row.id),
    object: 'api_token',
    name: row.name,
    scope: row.scope,
    last_used_at: row.last_used_at && formatRfc3339(row.last_used_at),
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    created_by_token: row.created_by_token && formatId('token', row.created_by_token),
    created_at: formatRfc3339(row.created_at),
  };
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
    const token = tokenObject(row);
    await recordAudit(tx, { actor, action: 'token.revoke', resource: token.id }, now);
    await recordEvent(tx, { customerId, type: 'token.revoked', object: token }, now);
  }
}

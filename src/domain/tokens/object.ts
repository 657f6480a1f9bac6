import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import type { TokenRow } from '../../store/customers/tokens.ts';

/** Returns a token in the REST shape, without its plaintext. */
export function tokenObject(row: TokenRow): ApiToken {
  return {
    id: formatId('token', row.id),
    object: 'api_token',
    name: row.name,
    scope: row.scope,
    last_used_at: row.last_used_at && formatRfc3339(row.last_used_at),
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    created_at: formatRfc3339(row.created_at),
  };
}

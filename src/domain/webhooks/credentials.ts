import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { credentialsExist } from '../../store/customers/sessions.ts';
import type { CustomerActor } from '../context.ts';

/**
 * Fails with `auth_required` if the caller's token or session was revoked after the request was admitted. The
 * caller holds a lock that customers/access.ts takes too: a request in flight must not leave behind what the
 * customer just revoked.
 */
export async function requireCredentials(tx: Sql, actor: CustomerActor): Promise<void> {
  if (!(await credentialsExist(tx, actor))) fail('auth_required');
}

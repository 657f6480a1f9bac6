import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { deleteToken } from '../../store/customers/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { tokenObject } from './object.ts';

/** Revokes a token at once. Unknown, malformed, and another customer's ids are `not_found`. */
export async function revokeToken(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('token', shownId) ?? notFound('token');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const row = (await deleteToken(tx, actor.customerId, id)) ?? notFound('token');
    await recordAudit(tx, { actor, action: 'token.revoke', resource: tokenObject(row).id }, now);
    await recordEvent(
      tx,
      { customerId: actor.customerId, type: 'token.revoked', object: tokenObject(row) },
      now,
    );
  });
}

import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { countMailsSince } from '../../store/customers/mail-links.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import type { OpenedSession } from './open.ts';

/** Mails the customer about a new session, in its transaction. Capped per hour. */
export async function notifySignIn(
  tx: Sql,
  service: Service,
  session: OpenedSession & { readonly customerId: string },
  now: Date,
): Promise<void> {
  const { customerId, sessionId, country } = session;
  const limit = LIMITS.signInMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  if ((await countMailsSince(tx, { customerId, kind: 'new_sign_in', since }, limit)) >= limit) return;
  const data = { signedInAt: now, country };
  const cause = `session:${sessionId}`;
  await enqueueMail(tx, { customerId, kind: 'new_sign_in', cause, data }, now, service.keys);
}

import { formatId } from '../../kernel/ids.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { listSessions as listRows } from '../../store/customers/sessions.ts';
import type { CustomerActor, Service } from '../context.ts';
import { sessionCutoffs } from './identify.ts';

/** A session as its customer sees it. Times have the format of the session API. */
export interface SessionView {
  readonly id: string;
  readonly created_at: string;
  /** Refreshed at most once a minute. */
  readonly last_seen_at: string;
  /** Whether it is the session of this request. */
  readonly current: boolean;
}

/** Returns the customer's active sessions, newest first. */
export async function listSessions(service: Service, actor: CustomerActor): Promise<SessionView[]> {
  const rows = await listRows(service.db, actor.customerId, sessionCutoffs(service.clock.now()));
  return rows.map((row) => ({
    id: formatId('session', row.id),
    created_at: formatSessionTime(row.created_at),
    last_seen_at: formatSessionTime(row.seen_at),
    current: row.id === actor.sessionId,
  }));
}

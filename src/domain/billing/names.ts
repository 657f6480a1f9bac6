import { readId, showId } from '../../kernel/ids.ts';
import { serverNames } from '../../store/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';

/** What the servers among these shown ids are called, by their ids; one that is gone, or is none, is left out. */
export async function namesOfServers(
  service: Service,
  actor: CustomerActor,
  shownIds: Iterable<string | null>,
): Promise<ReadonlyMap<string, string>> {
  const stored = [...new Set(shownIds)].flatMap((id) => (id !== null && readId('server', id)) || []);
  if (stored.length === 0) return new Map();
  const rows = await serverNames(service.db, actor.customerId, stored);
  return new Map(rows.map(({ id, name }) => [showId('server', id), name]));
}

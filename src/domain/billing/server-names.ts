import { formatId, parseId } from '../../kernel/ids.ts';
import { listServerNames } from '../../store/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';

/** What the servers among these shown ids are called, by their ids; one that is gone, or is none, is left out. */
export async function findServerNames(
  service: Service,
  actor: CustomerActor,
  shownIds: Iterable<string | null>,
): Promise<ReadonlyMap<string, string>> {
  const stored = [...new Set(shownIds)].flatMap((id) => (id !== null && parseId('server', id)) || []);
  if (stored.length === 0) return new Map();
  const rows = await listServerNames(service.db, actor.customerId, stored);
  return new Map(rows.map(({ id, name }) => [formatId('server', id), name]));
}

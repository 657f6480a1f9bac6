import { formatId, parseId } from '../../kernel/ids.ts';
import { listServerNames } from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns server names by shown id. Ids that are deleted or not servers are left out. */
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

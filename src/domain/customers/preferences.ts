/** A customer's preferences in the panel: saved filters of the server list, and keyboard shortcuts. */
import { fail, notFound } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import { LIMITS } from '../../spec/limits.ts';
import { lockCustomer, setShortcutsOff } from '../../store/customers/customers.ts';
import {
  deleteSavedFilter as deleteRow,
  listSavedFilters as listRows,
  upsertSavedFilter,
} from '../../store/customers/saved-filters.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

export interface SavedFilter {
  readonly id: string;
  readonly name: string;
  /** The query of the list's URL: `status=running&sort=name`. */
  readonly query: string;
}

export async function listSavedFilters(service: Service, actor: CustomerActor): Promise<SavedFilter[]> {
  const rows = await listRows(service.db, actor.customerId);
  return rows.map(({ id, name, query }) => ({ id: formatId('savedFilter', id), name, query }));
}

/**
 * Saves a filter. One with the same name is replaced. Fails with `bad_name`, `bad_request` for a query that
 * is empty or too long, or `limit_reached`.
 */
export async function saveFilter(
  service: Service,
  actor: CustomerActor,
  filter: Pick<SavedFilter, 'name' | 'query'>,
): Promise<SavedFilter> {
  const name = parseDisplayName(filter.name.trim()) ?? fail('bad_name', { field: 'name' });
  const { query } = filter;
  if (query === '' || query.length > LIMITS.savedFilterMaxChars)
    fail('bad_request', { field: 'name' }, 'Choose a filter or a sort order first, then save it.');
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    const others = (await listRows(tx, actor.customerId)).filter((row) => row.name !== name);
    const limit = LIMITS.savedFiltersMax;
    if (others.length >= limit)
      fail(
        'limit_reached',
        { limit },
        `An account can have at most ${limit} saved filters; delete one first.`,
      );
    const row = { id: newId(now), customer_id: actor.customerId, name, query, created_at: now };
    const id = formatId('savedFilter', await upsertSavedFilter(tx, row));
    await recordAudit(tx, { actor, action: 'saved_filter.save', resource: id }, now);
    const saved = { id, name, query };
    await actor.saveResponse?.(tx, saved);
    return saved;
  });
}

/** Fails with `not_found`. */
export async function deleteFilter(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('savedFilter', shownId) ?? notFound('savedFilter');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await deleteRow(tx, actor.customerId, id))) notFound('savedFilter');
    await recordAudit(tx, { actor, action: 'saved_filter.delete', resource: shownId }, now);
    await actor.saveResponse?.(tx, {});
  });
}

/** Turns shortcuts of one character on or off (WCAG 2.1.4), for all browsers. */
export async function setShortcuts(
  service: Service,
  actor: CustomerActor,
  { on }: { readonly on: boolean },
): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    await setShortcutsOff(tx, actor.customerId, on ? null : now);
    await recordAudit(tx, { actor, action: 'customer.set_shortcuts', resource: null }, now);
    await actor.saveResponse?.(tx, {});
  });
}

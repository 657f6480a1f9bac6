/** Reads the URL of the server list: filters, sort order, page, and the servers that are selected. */
import { BULK_BOX, type ListState } from '../../../panel/servers/bulk.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { type Form, field } from '../../form.ts';
import { ROUTES } from '../../v1/routes.ts';
import { checkedIds } from '../field-readers.ts';

const PAGE_KEYS = ['sort', 'size', 'cursor'];

/** Keeps the members that the list reads. It ignores values that it does not accept. */
export function readListState(query: Form): ListState {
  const filters = ROUTES.find(({ id }) => id === 'servers.list')?.list?.filters ?? {};
  const names = [...Object.keys(filters), ...PAGE_KEYS];
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, field(query, name)]] : [])));
}

/** At most as many as a page of the list has. */
export function readSelection(form: Form): readonly string[] {
  const ids = checkedIds(form, BULK_BOX) as readonly string[];
  return ids.slice(0, LIMITS.pageSizeMax);
}

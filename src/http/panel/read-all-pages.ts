/** Reads a whole list, for a form's choices or for the resources that a page shows. */
import { LIMITS } from '../../spec/limits.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { ListPage } from '../v1/route.ts';

/** At most a thousand items. Quotas can be higher, but a longer list needs a page with filters. */
const PAGES_MAX = 10;

/** Returns every item in the requested order. */
export async function readAllPages<Item>(
  query: Pick<PageRequest, 'sort'> & Partial<Pick<PageRequest, 'descending' | 'filter'>>,
  read: (page: PageRequest) => Promise<ListPage<Item>>,
): Promise<readonly Item[]> {
  const collected: Item[] = [];
  let after: PagePosition | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next }: ListPage<Item> = await read({
      ...{ filter: {}, descending: false, ...query },
      ...{ after, size: LIMITS.pageSizeMax },
    });
    collected.push(...items);
    if (next === null) break;
    after = next;
  }
  return collected;
}

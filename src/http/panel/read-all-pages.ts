/** A list read whole: what a form offers to choose from, what belongs to the thing that a page shows. */
import { LIMITS } from '../../spec/limits.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { ListPage } from '../v1/route.ts';

/**
 * So a thousand items at most. The quotas are settings and may be larger; a list as long as that is no longer read through
 * on one page, but filtered on its own.
 */
const PAGES_MAX = 10;

/** Every item, in the order that is asked for. */
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

/** What forms offer to choose from. */
import { listRegions } from '../../domain/catalogue/regions.ts';
import { listServers } from '../../domain/servers/list.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Region } from '../../spec/schemas/region.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { Look } from './page.ts';

/** Far above any quota. */
const PAGES_MAX = 10;
const FIRST_PAGE: PageRequest = {
  filter: {},
  sort: 'name',
  descending: false,
  after: null,
  size: LIMITS.pageSizeMax,
};

/** Every server of the customer, by name; those that `filter` lets through, as the list of servers takes it. */
export async function ownServers(
  look: Look,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly Server[]> {
  const servers: Server[] = [];
  let after: PagePosition | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next }: Awaited<ReturnType<typeof listServers>> = await listServers(
      look.service,
      look.customer(),
      { ...FIRST_PAGE, filter, after },
    );
    servers.push(...items);
    if (next === null) break;
    after = next;
  }
  return servers;
}

export async function allRegions(look: Look): Promise<readonly Region[]> {
  return (await listRegions(look.service, { ...FIRST_PAGE, sort: 'id' })).items;
}
